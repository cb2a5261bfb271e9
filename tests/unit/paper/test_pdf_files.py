"""Files that cannot be read, or only in part, say so in a sentence that names what is wrong."""

from __future__ import annotations

from pathlib import Path

import drawn
import pytest

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.pdf import read_pdf

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/random-forests-2001/paper.pdf"
PROSE = (
    "We compare the methods on all of the data sets and report the mean over five runs of each. "
    "The learning rate is chosen on the development set and the test set is used only once. "
)


def lines_of(text: str, top: float = 700.0) -> list[drawn.Text]:
    words = text.split()
    rows = [words[start : start + 12] for start in range(0, len(words), 12)]
    return [(72, top - 14 * place, 10, " ".join(row)) for place, row in enumerate(rows)]


ENCRYPTED = b"""%%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]>>endobj
4 0 obj<</Filter/Standard/V 1/R 2/O<%s>/U<%s>/P -4>>endobj
trailer<</Root 1 0 R/Encrypt 4 0 R/ID[<00><00>]/Size 5>>
%%%%EOF
""" % (b"41" * 32, b"42" * 32)
NO_PAGES = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj
trailer<</Root 1 0 R/Size 3>>
%%EOF
"""


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "empty"),
        (b"<html>404 not found</html>", "not a PDF"),
        (ENCRYPTED, "encrypted"),
        (NO_PAGES, "no pages"),
        (EXAMPLE.read_bytes()[:40000], "truncated"),
        (EXAMPLE.read_bytes()[:-100], "truncated"),
        (b"%PDF-1.4\n" + b"\x00\xff" * 5000 + b"%%EOF", "malformed"),
    ],
)
def test_an_unreadable_file_is_named(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "paper.pdf"
    path.write_bytes(content)
    with pytest.raises(PaperError, match=sentence) as found:
        read_pdf(path)
    assert found.value.where == "paper.pdf"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PaperError, match="no such file"):
        read_pdf(tmp_path / "paper.pdf")


def test_too_many_pages_are_refused(tmp_path: Path) -> None:
    path = drawn.draw(tmp_path / "paper.pdf", [[]] * 1001)
    with pytest.raises(PaperError, match="1001 pages"):
        read_pdf(path)


def test_a_scan_is_named(tmp_path: Path) -> None:
    path = drawn.draw(tmp_path / "paper.pdf", [[], []], pictures=[0, 1])
    with pytest.raises(PaperError, match="scan"):
        read_pdf(path)


def test_blank_pages_are_no_scan(tmp_path: Path) -> None:
    path = drawn.draw(tmp_path / "paper.pdf", [[], []])
    with pytest.raises(PaperError, match="no text and no images"):
        read_pdf(path)


def test_single_pages_without_text_are_named(tmp_path: Path) -> None:
    text = lines_of(PROSE * 3)
    path = drawn.draw(tmp_path / "paper.pdf", [text, [], text, []], pictures=[1])
    paper = read_pdf(path)
    assert paper.warnings == ("Page 2 is an image without text.", "Page 4 has no text.")
    assert "development set" in paper.sections[0].text


def test_recognised_text_under_a_scan_is_not_trusted(tmp_path: Path) -> None:
    path = drawn.draw(tmp_path / "paper.pdf", [lines_of(PROSE * 3)], pictures=[0], mode=3)
    assert read_pdf(path).warnings == (
        "Page 1 is a scan with recognised text; its numbers may be wrong.",
    )


def test_fonts_with_wrong_characters_are_noticed(tmp_path: Path) -> None:
    shifted = "".join(chr(ord(c) - 1) if c.isalnum() else c for c in PROSE * 8)
    path = drawn.draw(tmp_path / "paper.pdf", [lines_of(shifted)])
    with pytest.raises(PaperError, match="which characters"):
        read_pdf(path)


def test_one_page_with_wrong_characters_is_a_warning(tmp_path: Path) -> None:
    shifted = "".join(chr(ord(c) - 1) if c.isalnum() else c for c in PROSE * 8)
    pages = [lines_of(PROSE * 8), lines_of(PROSE * 8), lines_of(shifted)]
    paper = read_pdf(drawn.draw(tmp_path / "paper.pdf", pages))
    assert paper.warnings == ("Page 3 has fonts that give wrong characters.",)


def test_a_page_with_more_glyphs_than_text_has_is_left_out(tmp_path: Path) -> None:
    crowd = [(10, 10 + 4 * line, 2, "1.5 " * 250) for line in range(45)]
    path = drawn.draw(tmp_path / "paper.pdf", [lines_of(PROSE * 3), crowd])
    assert read_pdf(path).warnings == ("Page 2 holds too much text to be read.",)
