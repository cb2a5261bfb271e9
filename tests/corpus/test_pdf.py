"""Real PDFs: values read by eye, tables against their LaTeX source, text in reading order."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.address import CellAddress
from repro_pipeline.paper.latex import read_latex
from repro_pipeline.paper.model import Paper, Table
from repro_pipeline.paper.pdf import read_pdf
from repro_pipeline.paper.resolve import resolve_cell
from repro_pipeline.paper.tables import DOUBTED, column_path, normalise, row_path

AISCIENTIST = (
    "adaptive_dual_scale_denoising",
    "data_augmentation_grokking",
    "dual_expert_denoiser",
    "gan_diffusion",
    "rl_lr_adaptation",
    "weight_initialization_grokking",
)
_READ: dict[Path, Paper] = {}


def paper(corpus: Path, name: str) -> Paper:
    path = corpus / "pdf" / name
    if path not in _READ:
        _READ[path] = read_pdf(path)
    return _READ[path]


def cells(table: Table) -> dict[tuple[str, str], list[tuple]]:
    """Values, uncertainties and emphasis of the body's numbers, by joined header paths."""
    found: dict[tuple[str, str], list[tuple]] = defaultdict(list)
    for row in range(table.header_rows, len(table.grid)):
        for column in range(table.header_columns, len(table.grid[row])):
            cell = table.grid[row][column]
            if cell.numbers and not cell.spanned:
                names = (row_path(table, row), column_path(table, row, column))
                key = tuple("".join(normalise(text) for text in path) for path in names)
                values = [(number.value, number.uncertainty) for number in cell.numbers]
                found[key].append((*values, cell.bold))
    return dict(found)


@pytest.mark.parametrize("name", AISCIENTIST)
def test_tables_are_those_of_the_source(corpus: Path, name: str) -> None:
    source = read_latex(corpus / "tex/aiscientist" / name / "latex")
    tables = paper(corpus, f"aiscientist_{name}.pdf").tables
    assert [table.number for table in tables] == [table.number for table in source.tables]
    for table, truth in zip(tables, source.tables, strict=True):
        assert cells(table) == cells(truth)
        assert table.confidence == 1


@pytest.mark.parametrize(
    ("name", "table", "row", "column", "value", "uncertainty"),
    [  # Read by eye on the pages.
        ("acl2020.447_S2ORC", "Table 4", "Linked bib. entries", "LATEX", 6.8, None),
        ("acl2020.447_S2ORC", "Table 5", "BC5CDR", "S2ORC-SCIBERT", 90.41, 0.06),
        ("acl2020.447_S2ORC", "Table 5", "ACL-ARC", "SCIBERT", 70.98, None),
        ("acl2020.447_S2ORC", "Table 6", "Bib. linking (LATEX)", "Authors", 0.92, None),
        ("acl2020.207_SPECTER", "Table 1", "SPECTER (Ours)", "Avg.", 80.0, None),
        ("acl2020.207_SPECTER", "Table 2", "− abstract", "CITE", 73.6, None),
        ("acl2020.207_SPECTER", "Table 3", "SciBERT fine-tune on co-citation", "CLS", 82.9, None),
        ("acl2020.207_SPECTER", "Table 3", "SPECTER", "All", 80.0, None),
        ("N18-3011_semantic-scholar-KG", "Table 1", "bibliography years", "Recall", 98.0, None),
        ("N18-3011_semantic-scholar-KG", "Table 4", "Neural", "Bio", 85.8, None),
    ],
)
def test_values_read_by_eye(
    corpus: Path, name: str, table: str, row: str, column: str, value: float, uncertainty: float
) -> None:
    address = CellAddress(table=table, row=(row,), column=(column,))
    *_, number = resolve_cell(paper(corpus, f"{name}.pdf"), address)
    assert (number.value, number.uncertainty) == (value, uncertainty)


def test_headers_over_headers(corpus: Path) -> None:
    table = next(
        t for t in paper(corpus, "acl2020.207_SPECTER.pdf").tables if t.number == "Table 1"
    )
    paths = [table.column_headers(column) for column in range(1, 14)]
    assert paths[2] == ("User activity prediction", "Co-View", "MAP")
    assert paths[5] == ("User activity prediction", "Co-Read", "nDCG")
    assert paths[8] == ("Citation prediction", "Co-Cite", "MAP")
    assert table.confidence <= DOUBTED  # 'Recomm.' stands over two columns by its place alone


def test_two_columns_with_tables_sideways_between_them(corpus: Path) -> None:
    found = paper(corpus, "olmocr_pdftotext_two_column_issue.pdf")
    titles = [section.title for section in found.sections]
    wanted = [
        "Background", "Pubertal development in TS", "Sex steroid replacement in TS", "Bone health",
        "Pregnancy and fertility", "Cardiovascular health", "Other health and psychosocial issues",
        "An approach for provision of coordinated care", "Conclusion",
    ]  # fmt: skip
    assert [title for title in titles if title in wanted] == wanted
    # A sentence from the foot of one page's right column to the head of a later page's left one.
    text = " ".join(section.text for section in found.sections)
    assert "remains a controversial issue. The timing of introduction of oestrogen" in text
    assert [reference.key for reference in found.references] == [str(n) for n in range(1, 65)]
    assert all(reference.contexts for reference in found.references)
    assert [t.number for t in found.tables[-3:]] == ["Table 3", "Table 4", "Table 5"]


@pytest.mark.parametrize(
    ("name", "title", "references"),
    [
        ("acl2020.447_S2ORC", "S2ORC: The Semantic Scholar Open Research Corpus", 55),
        (
            "acl2020.207_SPECTER",
            "SPECTER: Document-level Representation Learning using Citation-informed Transformers",
            57,
        ),
        (
            "N18-3011_semantic-scholar-KG",
            "Construction of the Literature Graph in Semantic Scholar",
            27,
        ),
    ],
)
def test_prose_of_two_columns(corpus: Path, name: str, title: str, references: int) -> None:
    found = paper(corpus, f"{name}.pdf")
    assert found.title == title
    assert len(found.abstract) > 500
    assert found.warnings == ()
    assert abs(len(found.references) - references) <= 1
    cited = sum(bool(reference.contexts) for reference in found.references)
    assert cited >= 0.9 * len(found.references)
    assert all(re.search("[a-z]{3}", section.title, re.I) for section in found.sections)


def test_a_page_with_scrambled_fonts_is_refused(corpus: Path) -> None:
    with pytest.raises(PaperError, match="which characters"):
        read_pdf(corpus / "pdf/olmocr_olmo-page-1.pdf")
