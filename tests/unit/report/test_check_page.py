"""The page for checking tables: the marks stand where the cells are, every command leads to its cell."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import re
import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PIL import Image

from repro_pipeline.bundle.folder import Bundle, open_bundle
from repro_pipeline.errors import PaperError
from repro_pipeline.ledger.chain import link, start
from repro_pipeline.paper.model import Paper
from repro_pipeline.paper.originals import originals
from repro_pipeline.paper.read import read_paper
from repro_pipeline.reading.corrections import (
    correction,
    source_digest,
    standing,
    with_corrections,
)
from repro_pipeline.report.check_page import check_page
from tests.conftest import ROOT

EXAMPLE = ROOT / "examples/random-forests-2001"


def bundle(folder: Path, name: str, content: bytes) -> tuple[Paper, Bundle]:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)
    return read_paper(folder / name), open_bundle(folder, paper="p")


@pytest.fixture
def pdf(tmp_path: Path) -> tuple[Paper, Bundle]:
    return bundle(tmp_path / "p", "paper.pdf", (EXAMPLE / "paper.pdf").read_bytes())


@pytest.fixture
def page(pdf, tmp_path: Path) -> str:
    return check_page(*pdf, tmp_path / "p")


def attributes(page: str, name: str) -> list[str]:
    return [html.unescape(value) for value in re.findall(rf'{name}="([^"]*)"', page)]


def test_it_needs_no_network_and_allows_its_own_script_only(page):
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in html.unescape(page)
    assert "default-src 'none'" in html.unescape(page)
    assert not re.search(r'(?:src|href)="(?!data:image/png;base64,|#)', page)


def test_the_picture_is_the_part_of_the_page_that_holds_the_table(pdf, tmp_path):
    paper, opened = pdf
    (original,) = originals(paper, tmp_path / "p", opened.sources)
    (picture,) = original.pictures
    image = Image.open(io.BytesIO(base64.b64decode(picture.png)))
    left, top, right, bottom = picture.box
    assert image.size == (round(2 * right) - round(2 * left), round(2 * bottom) - round(2 * top))
    for row in paper.tables[0].grid:  # each cell's box holds ink, and a strip left of it none
        for cell in row:
            x0, y0, x1, y1 = (2 * side for side in cell.provenance.box)
            at = (x0 - 2 * left, y0 - 2 * top, x1 - 2 * left, y1 - 2 * top)
            ink = image.convert("L").crop(tuple(map(round, at)))
            assert ink.getextrema()[0] < 100
            beside = (at[0] - 14, at[1], at[0] - 4, at[3])
            assert image.convert("L").crop(tuple(map(round, beside))).getextrema()[0] > 200


def test_each_cell_has_its_mark(page, pdf):
    cells = re.findall(r'<td [^>]*id="(t\d+r\d+c\d+)"', page)
    assert len(cells) == 25
    assert sorted(attributes(page, "data-of")) == sorted(cells)


@pytest.mark.parametrize("source", ["paper.pdf", "paper.tex"])
def test_every_command_corrects_the_cell_that_it_stands_at(tmp_path, source, monkeypatch):
    """Each command is run as a shell would: it must change that cell, and no other."""
    from repro_pipeline.cli import _parser
    from repro_pipeline.commands.check import _place

    paper, opened = bundle(tmp_path / "p", source, (EXAMPLE / source).read_bytes())
    made = check_page(paper, opened, tmp_path / "p")
    ids, commands = re.findall(r'<td [^>]*id="([^"]+)"', made), attributes(made, "data-command")
    assert len(ids) == len(commands) == 25
    for id_, command in zip(ids, commands, strict=True):
        words = shlex.split(f"{command} --value=1 --reason=x")
        options = _parser().parse_args(words[1:])
        table, row, column = map(int, re.fullmatch(r"t(\d+)r(\d+)c(\d+)", id_).groups())
        assert _place(paper, options) == (table, row, column)


def test_a_source_of_text_shows_its_lines(tmp_path):
    paper, opened = bundle(tmp_path / "p", "paper.tex", (EXAMPLE / "paper.tex").read_bytes())
    (original,) = originals(paper, tmp_path / "p", opened.sources)
    by_number = {line.number: line.text for line in original.lines}
    for row in paper.tables[0].grid:
        for cell in row:
            assert cell.text in by_number[cell.provenance.line]
    page = check_page(paper, opened, tmp_path / "p")
    assert set(attributes(page, "data-at")) <= set(attributes(page, "data-line"))


MARKDOWN = """# A paper

Table 1: Errors <script>alert(1)</script>.

| Model | "A" & b | c |
|---|---|---|
| it's <img src=x onerror=alert(1)> | 1.5 | ? |
| x | 2.5 | 3.x5 |
| y | 2.5 | 3.5 |
| y | 2.5 | 3.5 |
"""


JATS = """<article xmlns:x="urn:x"><front/><body><p>See below.</p>
<table-wrap id="a"><label>Table 1</label><table><thead><tr><th>Model</th><th>Acc</th></tr></thead>
<tfoot><tr><td>Mean</td><td>7.5</td></tr></tfoot><tbody><tr><td>One</td><td>1.5</td></tr></tbody>
</table></table-wrap><table-wrap id="b"><label>Table 2</label><table><tr><th>Model</th><th>Loss</th>
</tr><tr><td>Two</td><td>2.5</td></tr></table></table-wrap></body></article>""".replace("\n", " ")


def test_markup_on_one_line_shows_each_tables_own_rows(tmp_path):
    paper, opened = bundle(tmp_path / "p", "paper.xml", JATS.encode())
    shown = originals(paper, tmp_path / "p", opened.sources)
    assert [[line.text for line in original.lines] for original in shown] == [
        [
            "<tr><th>Model</th><th>Acc</th></tr>",
            "<tr><td>One</td><td>1.5</td></tr>",
            "<tr><td>Mean</td><td>7.5</td></tr>",
        ],
        ["<tr><th>Model</th><th>Loss</th> </tr>", "<tr><td>Two</td><td>2.5</td></tr>"],
    ]
    page = check_page(paper, opened, tmp_path / "p")
    lines = attributes(page, "data-line")
    assert len(set(lines)) == len(lines) == 5
    assert attributes(page, "data-at") == [line for line in lines for _ in range(2)]


def test_hostile_texts_stay_texts(tmp_path):
    paper, opened = bundle(tmp_path / "p", "paper.md", MARKDOWN.encode())
    page = check_page(paper, opened, tmp_path / "p")
    assert page.count("<script") == 1
    assert "<img src=x" not in page
    rows = {word for command in attributes(page, "data-command") for word in shlex.split(command)}
    assert any(word.startswith("--row=it's") for word in rows)


def test_doubtful_and_corrected_cells_are_marked(tmp_path):
    paper, opened = bundle(tmp_path / "p", "paper.md", MARKDOWN.encode())
    made = correction(
        paper, (1, 1, 1), "1.7", reason="seen", source=source_digest(opened), standing=()
    )
    events = [link(start("p"), made, at=datetime.now(UTC), actor="human:ada")]
    corrected = with_corrections(paper, standing(events), source_digest(opened))
    page = check_page(corrected, opened, tmp_path / "p")
    assert re.search(r'class="cell number corrected"[^>]*data-was="1\.5" data-by="human:ada"', page)
    assert len(re.findall(r'class="cell[^"]* doubtful"', page)) == 1
    assert "1 doubtful, 1 corrected" in page


def test_a_table_of_which_nothing_is_known_says_so(tmp_path):
    paper, opened = bundle(tmp_path / "p", "paper.md", MARKDOWN.encode())
    lost = paper.tables[0].model_copy(update={"provenance": None})
    page = check_page(paper.model_copy(update={"tables": (lost,)}), opened, tmp_path / "p")
    assert "did not note where the table stands" in page


def test_a_source_that_broke_since_is_said(pdf, tmp_path):
    paper, opened = pdf
    (tmp_path / "p" / "paper.pdf").write_bytes(b"%PDF-1.4 nothing")
    with pytest.raises(PaperError):
        check_page(paper, opened, tmp_path / "p")
