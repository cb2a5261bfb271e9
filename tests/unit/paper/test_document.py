"""What other tools are given: the JSON of a paper, its schema, and the command that prints it."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from repro_pipeline.cli import main
from repro_pipeline.frozen import canonical_json
from repro_pipeline.ledger.events import StageFinished
from repro_pipeline.paper.document import document_of, spans
from repro_pipeline.paper.markdown import read_markdown
from repro_pipeline.paper.tables import RawCell, make_table
from repro_pipeline.schemas import json_schema
from repro_pipeline.status import Status
from resources.opening import open_project

PAPER = """# A title

## Results

Table 1: Accuracy.

<table><thead><tr><th rowspan="2">Method</th><th colspan="2">Digits</th></tr>
<tr><th>Acc.</th><th>R@1/R@5</th></tr></thead>
<tbody><tr><td>Ours</td><td><b>93.2 ± 0.4 %</b></td><td>71.1/87.1</td></tr>
<tr><td>Theirs</td><td>n/a</td><td>70/8 7.0x</td></tr></tbody></table>

Table 2: Sizes.

| Name | Size |
|------|------|
| A    | 12   |
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "paper.md"
    path.write_text(PAPER)
    return path


def run(capsys, *arguments):
    code = main(list(arguments))
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_cells_have_place_number_and_headers(capsys, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # no project here
    code, printed, _ = run(capsys, "paper", "read", str(file), "--json")
    document = json.loads(printed)
    assert code == 0
    Draft202012Validator(json_schema("paper")).validate(document)
    table = document["tables"][0]
    assert (table["number"], table["confidence"]) == ("Table 1", 1.0)
    assert table["grid"][0] == ["Method", "Digits", "Digits"]
    cells = {(cell["row"], cell["column"]): cell for cell in table["cells"]}
    assert list(cells) == sorted(cells)
    assert (cells[0, 0]["row_span"], cells[0, 0]["column_span"]) == (2, 1)
    assert (cells[0, 1]["row_span"], cells[0, 1]["column_span"]) == (1, 2)
    assert all(cells[place]["header"] for place in [(0, 0), (0, 1), (1, 1), (2, 0)])
    best = cells[2, 1]
    assert (best["value"], best["unit"], best["uncertainty"]) == (93.2, "percent", 0.4)
    assert best["uncertainty_kind"] == "unstated" and best["bold"] and not best["header"]
    assert (best["row_headers"], best["column_headers"]) == (["Ours"], ["Digits", "Acc."])
    assert best["provenance"]["line"] == 9
    two = cells[2, 2]
    assert (two["value"], [n["value"] for n in two["further"]]) == (71.1, [87.1])
    assert cells[3, 1]["value"] is None


def test_one_table_of_a_file(capsys, file):
    code, printed, _ = run(capsys, "paper", "read", str(file), "--table", "2", "--json")
    assert [table["number"] for table in json.loads(printed)["tables"]] == ["Table 2"]
    code, _, error = run(capsys, "paper", "read", str(file), "--table", "5")
    assert code == 2
    assert "'5'" in error and "Table 1 (Accuracy.)" in error


def test_the_print_says_how_sure_the_reader_is(capsys, file):
    code, printed, _ = run(capsys, "paper", "read", str(file))
    assert code == 0
    assert "1 sections, 2 tables" in printed
    assert "93.2 ± 0.4 %" in printed and "confidence 1" in printed
    assert "70/8 7.0x ?" in printed and "n/a ?" not in printed
    assert printed.count("Digits") == 1


def test_a_file_that_is_no_paper(capsys, tmp_path):
    path = tmp_path / "paper.pdf"
    path.write_bytes(b"%PDF-1.4 broken")
    code, _, error = run(capsys, "paper", "read", str(path))
    assert code == 2
    assert error.startswith("error: paper.pdf: ")


def test_show_prints_what_the_stage_stored(capsys, project, file):
    code, _, error = run(capsys, "paper", "show", "mine")
    assert code == 2 and "no paper 'mine'" in error
    (project / "papers" / "mine").mkdir(parents=True)
    code, _, error = run(capsys, "paper", "show", "mine")
    assert code == 2 and "repro run mine --stage parsed_paper" in error
    opened = open_project(project)
    paper = read_markdown(file).model_copy(update={"title": "As stored"})
    row = StageFinished(
        stage="parsed_paper",
        inputs="0" * 64,
        status=Status.OK,
        reason=None,
        output=opened.store.put(canonical_json(paper.model_dump(mode="json"))),
        code_version="1",
        launch="l",
        seconds=0.1,
    )
    opened.ledger.append("mine", row, actor="code:test/1")
    code, printed, _ = run(capsys, "paper", "show", "mine", "--json")
    assert code == 0
    assert json.loads(printed) == json.loads(document_of(paper).model_dump_json(by_alias=True))


def test_a_paper_folder_of_a_project_is_read_by_its_source(capsys, file):
    (file.parent / "task.yaml").write_text("schema: 1\n")
    code, printed, _ = run(capsys, "paper", "read", str(file.parent))
    assert code == 0 and "read as markdown" in printed


def test_spans_cover_the_grid_once():
    rows = [
        [RawCell("a", rows=2), RawCell("a", columns=2)],
        [RawCell(""), RawCell("", rows=2)],
        [RawCell("b"), RawCell("")],
    ]
    table = make_table(1, rows)
    found = list(spans(table))
    places = [
        (row + down, column + right)
        for row, column, height, width in found
        for down in range(height)
        for right in range(width)
    ]
    assert sorted(places) == [(row, column) for row in range(3) for column in range(3)]
    assert found[:2] == [(0, 0, 2, 1), (0, 1, 1, 2)]
    assert (1, 2, 2, 1) in found
