"""Real JATS and TEI files: values read by eye, citations, GROBID's broken tables, mutated trees."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.address import CellAddress
from repro_pipeline.paper.jats import read_jats
from repro_pipeline.paper.resolve import resolve_cell
from repro_pipeline.paper.tables import DOUBTED
from repro_pipeline.paper.tei import BROKEN, read_tei

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))


@pytest.mark.parametrize(
    ("file", "table", "row", "column", "value", "uncertainty"),
    [  # Read by eye in the sources.
        ("pone.0234687", "Table 2", "DM intake, kg d^{-1}", "Lactation > TMR", 18.7, None),
        ("pone.0234687", "Table 2", "Ground corn", "Weighted average > TMR50", 153, None),
        ("PMC6398430", "Table 4", "Food > Vegetarian", "Estimate ± SE", 0.423, 0.024),
        ("PMC6398430", "Table 4", "Transect Time > Afternoon", "Pr(>|z|)", 0.001, None),
        ("pubmedparser_1471-2180-11-174", "Table 1", "IN61", "MLT (min)", 45.7, None),
        ("pubmedparser_pone.0046493", "Table 2", "LipC", "Activity on pNPC4 (U/mg)", 0.12, 0.02),
        ("elife-56337", "Table 1", "Chr13.2", "# of KRAB-ZFPs*", 26, None),
    ],
)
def test_values_read_by_eye(corpus, file, table, row, column, value, uncertainty):
    rows, columns = tuple(row.split(" > ")), tuple(column.split(" > "))
    address = CellAddress(table=table, row=rows, column=columns)
    number = resolve_cell(read_jats(corpus / f"jats/{file}.nxml"), address)[4]
    assert (number.value, number.uncertainty) == (value, uncertainty)


def test_every_reference_of_every_article_is_cited(corpus):
    for path in sorted(corpus.glob("jats/*.nxml")):
        paper = read_jats(path)
        assert len(paper.references) > 50
        assert all(reference.title for reference in paper.references)
        assert all(reference.contexts for reference in paper.references), path.name
        assert all("\ue000" not in section.text for section in paper.sections)


def test_prose_and_references_of_grobid(corpus):
    paper = read_tei(corpus / "tei/acl2020.207_SPECTER.tei.xml")
    assert paper.title.startswith("SPECTER: Document-level")
    assert (len(paper.references), paper.sections[0].title) == (57, "1 Introduction")
    assert sum(bool(reference.contexts) for reference in paper.references) >= 40


def test_the_tables_that_grobid_broke_are_recognised(corpus):
    """All 264 of them came as text without cells."""
    tables = [t for path in corpus.glob("tei/nlp-tdms/*.xml") for t in read_tei(path).tables]
    assert len(tables) == 264
    assert all(table.confidence == BROKEN and table.doubts for table in tables)


def test_mutated_trees_are_read_or_refused(corpus, tmp_path):
    """No crash; what GROBID gives is never sure of itself."""
    from fuzz_reading import mutated_tree

    chance = random.Random(7)
    sources = [
        *corpus.glob("jats/*1471*.nxml"),
        *corpus.glob("tei/N18*.xml"),
        *corpus.glob("tei/acl*"),
    ]
    ends = {"read": 0, "refused": 0}
    for path in sorted(sources) * 4:
        read = read_jats if "jats" in path.parts else read_tei
        changed = tmp_path / "paper.xml"
        changed.write_bytes(mutated_tree(path.read_bytes(), chance))
        try:
            paper = read(changed)
        except PaperError as error:
            assert error.what.endswith(".")
            ends["refused"] += 1
            continue
        ends["read"] += 1
        if read is read_tei:
            assert all(table.confidence <= DOUBTED for table in paper.tables)
    assert ends["read"] > ends["refused"]
