"""Hostile files of every kind end in a sentence or a document, within limits of time and memory.

What is refused by one reader alone is tested beside that reader.
"""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

import drawn
import pytest

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.latex import tree
from repro_pipeline.paper.limits import Limits
from repro_pipeline.paper.read import read_paper

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/random-forests-2001/paper.pdf"
BOUNDS = Limits(seconds=60, memory=2 << 30)
"""Far below the defaults, and far above what a reader may need for these files."""

HEADS = {
    "paper.pdf": b"%PDF-1.5\n",
    "paper.tex": b"\\documentclass{article}\\begin{document}Text.",
    "paper.md": b"# Title\n\nText.\n",
    "paper.nxml": b"<!DOCTYPE article><article>",
    "paper.tei.xml": b'<TEI xmlns="http://www.tei-c.org/ns/1.0">',
    "paper.tar.gz": b"\x1f\x8b\x08\x00",
}


@pytest.mark.parametrize("name", HEADS)
def test_a_file_of_300_megabytes_is_refused(tmp_path, name):
    path = tmp_path / name
    with path.open("wb") as file:
        file.write(HEADS[name])
        file.truncate(300 << 20)  # the rest is a hole
    with pytest.raises(PaperError) as raised:
        read_paper(path, BOUNDS)
    assert raised.value.what.endswith(".")


DEEP = {
    "paper.md": ("# T\n\n", "<table><tr><td>", "x"),
    "paper.nxml": ("<article><body>", "<sec>", "</body></article>"),
    "paper.tei.xml": ("<TEI><text><body>", "<div>", "</body></text></TEI>"),
    "paper.tex": ("\\documentclass{article}\\begin{document}", "\\textbf{", "\\end{document}"),
    "quotes.md": ("# T\n\n", "> - [", "x"),
    "pipes.md": ("# T\n\n", "| $ ` ", "x\n|--|\n"),
    "stars.md": ("# T\n\n", "*a **b _c ", "x"),
    "keys.md": ("# T\n\n[", "@abc def; ", "x"),
    "pictures.md": ("# T\n\n", "![a ", "x"),
    "formulas.md": ("# T\n\n", "$a \\(b ", "x"),
    "links.md": ("# T\n\n", "[a](b(", "x"),
    "cites.md": ("# T\n\n", "Smith et al, ", "(2019)\n\n# References\n\n[1] Smith. T. 2019.\n"),
    "numbers.md": ("# T\n\n|a|b|\n|-|-|\n|x|", "1.5 ± ", "|\n"),
}


@pytest.mark.parametrize("name", DEEP)
def test_nesting_and_repetition_without_end_are_bounded(tmp_path, name):
    start, piece, end = DEEP[name]
    path = tmp_path / name
    path.write_text(start + piece * 20_000 + end)
    try:
        assert read_paper(path, BOUNDS).source.file == name
    except PaperError as error:
        assert "not read within" not in str(error)
        assert "reader failed" not in str(error)


def test_a_picture_of_billions_of_points_is_not_opened(tmp_path):
    text = [
        (72, 700 - 14 * line, 10, "We compare the methods on all data sets.") for line in range(20)
    ]
    path = drawn.draw(tmp_path / "paper.pdf", [text, text], pictures=[1])
    data = path.read_bytes()
    huge = re.sub(rb"/(Width|Height) 10\b", rb"/\1 90000", data)
    assert huge != data
    path.write_bytes(huge)
    paper = read_paper(path, BOUNDS)
    assert "compare the methods" in paper.sections[0].text


def test_a_pdf_with_a_wrong_table_of_places_is_read_all_the_same(tmp_path):
    path = tmp_path / "paper.pdf"
    path.write_bytes(re.sub(rb"startxref\s+\d+", b"startxref\n9", EXAMPLE.read_bytes()))
    paper, whole = read_paper(path, BOUNDS), read_paper(EXAMPLE, BOUNDS)
    assert (paper.title, paper.tables) == (whole.title, whole.tables)


def test_entities_that_multiply_are_refused_within_the_limits(tmp_path):
    lines = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 20))
    path = tmp_path / "paper.xml"
    path.write_text(
        f'<!DOCTYPE article [<!ENTITY l0 "ha">{lines}]><article a="&l19;">&l19;</article>'
    )
    with pytest.raises(PaperError, match="entit"):
        read_paper(path, BOUNDS)


def test_an_archive_of_devices_or_of_many_files_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(tree, "MOST_FILES", 100)
    for name, members in (
        ("devices", [(tarfile.FIFOTYPE, "main.tex"), (tarfile.CHRTYPE, "a.tex")]),
        ("many", [(tarfile.REGTYPE, f"f{number}.png") for number in range(200)]),
    ):
        path = tmp_path / f"{name}.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            for kind, file in members:
                member = tarfile.TarInfo(file)
                member.type = kind
                archive.addfile(member)
        with pytest.raises(
            PaperError, match={"devices": "no LaTeX", "many": "more than 100"}[name]
        ):
            tree.open_tree(path)


@pytest.mark.slow
def test_a_thousand_pages_are_read(tmp_path):
    text = [
        (72, 700 - 14 * line, 10, "We compare the methods on all data sets.") for line in range(30)
    ]
    path = drawn.draw(tmp_path / "paper.pdf", [text] * 1000)
    assert read_paper(path).sections
