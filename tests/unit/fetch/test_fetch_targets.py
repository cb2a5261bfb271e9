"""What `repro add TEXT` asks for, and what a server's bytes are."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import TEX, tar_gz

from repro_pipeline.bundle.folder import PAPER_ID
from repro_pipeline.errors import FetchError
from repro_pipeline.paper import fetch
from repro_pipeline.paper.fetch import ArxivPaper, PaperUrl, file_name, parse_target

LATEST = ArxivPaper(id="2505.20662")
SECOND = ArxivPaper(id="2505.20662", version="v2")


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("arxiv:2505.20662", LATEST),
        ("arXiv: 2505.20662v2", SECOND),
        ("10.48550/arXiv.2505.20662", LATEST),
        ("doi:10.48550/arxiv.2505.20662", LATEST),
        ("https://doi.org/10.48550/arXiv.2505.20662", LATEST),
        ("https://arxiv.org/abs/2505.20662v2", SECOND),
        ("http://www.arxiv.org/pdf/2505.20662v2.pdf", SECOND),
        ("https://export.arxiv.org/e-print/2505.20662", LATEST),
        ("https://arxiv.org/abs/hep-th/9901001", ArxivPaper(id="hep-th/9901001")),
        ("arxiv:math.GT/0309136v1", ArxivPaper(id="math.GT/0309136", version="v1")),
        (
            "https://example.org/a/My%20Paper.PDF",
            PaperUrl(url="https://example.org/a/My%20Paper.PDF"),
        ),
        ("my-paper", None),
        ("../papers/2505.20662", None),
        ("2505.20662", None),
    ],
)
def test_ids_dois_and_addresses(text, target):
    assert parse_target(text) == target


@pytest.mark.parametrize(
    ("target", "paper"),
    [
        (LATEST, "2505.20662"),
        (SECOND, "2505.20662v2"),
        (ArxivPaper(id="math.GT/0309136", version="v1"), "math.gt-0309136v1"),
        (PaperUrl(url="https://example.org/a/My%20Paper.PDF?x=1"), "my-paper"),
        (PaperUrl(url="https://example.org/"), "paper"),
        (PaperUrl(url="https://example.org/src/x.tar.gz"), "x"),
    ],
)
def test_the_paper_is_named_after_what_was_asked_for(target, paper):
    assert target.paper_id == paper


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("arxiv:25.1", "'25.1' is no arXiv id"),
        ("arxiv:2505.20662v0", "is no arXiv id"),
        ("10.1145/3292500.3330701", "is a publisher's DOI"),
        ("https://doi.org/10.1145/3292500.3330701", "is a publisher's DOI"),
        ("ftp://example.org/paper.pdf", "only http and https"),
        ("file:///etc/passwd", "only http and https"),
        ("https://", "only http and https"),
        ("https://me:secret@example.org/paper.pdf", "holds a user name or a password"),
    ],
)
def test_what_is_not_fetched_is_said(text, sentence):
    with pytest.raises(FetchError, match=sentence) as caught:
        parse_target(text)
    assert caught.value.hint or "password" in sentence
    assert "secret" not in str(caught.value)


@given(st.text(max_size=60) | st.from_regex(r"(arxiv:|https://|10\.)[!-~]{0,40}", fullmatch=True))
def test_any_text_is_a_target_a_path_or_an_error(text):
    try:
        target = parse_target(text)
    except (FetchError, ValueError) as error:
        assert isinstance(error, FetchError)
        return
    if target is not None:
        assert PAPER_ID.fullmatch(target.paper_id)


PDF = b"%PDF-1.7\n" + b"x" * 9000 + b"\nstartxref\n9\n%%EOF\n"


def named(tmp_path: Path, content: bytes) -> str | None:
    path = tmp_path / "file"
    path.write_bytes(content)
    return file_name(path, where="https://example.org/it")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (tar_gz(main__tex=TEX), "paper.tar.gz"),
        (gzip.decompress(tar_gz(main__tex=TEX)), "paper.tar"),
        (gzip.compress(TEX), "paper.gz"),
        (TEX, "paper.tex"),
        (b"% a comment first\n" + TEX, "paper.tex"),
        (PDF, "paper.pdf"),
        (gzip.compress(b"%auto-ignore\nThis paper was withdrawn."), None),
    ],
)
def test_a_file_is_named_by_its_content(tmp_path, content, name):
    assert named(tmp_path, content) == name


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (tar_gz(main__tex=TEX)[:-20], "truncated"),
        (tar_gz(main__tex=TEX)[:-12] + b"\xff" * 12, "damaged|truncated"),
        (PDF[:5000], "truncated"),
        (b"<!DOCTYPE html><html><body>Access denied</body></html>", "a web page"),
        (b"\n <html><title>Error</title>", "a web page"),
        (gzip.compress(b"<html></html>"), "a web page"),
        (b"%!PS-Adobe-2.0\n", "PostScript"),
        (b"\x00\x01\x02 nothing", "neither LaTeX nor a PDF"),
    ],
)
def test_what_is_no_paper_is_said(tmp_path, content, sentence):
    with pytest.raises(FetchError, match=sentence) as caught:
        named(tmp_path, content)
    assert "https://example.org/it" in str(caught.value)


def test_a_bomb_is_not_unpacked_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "LARGEST_UNPACKED", 1 << 20)
    with pytest.raises(FetchError, match="unpacks to more"):
        named(tmp_path, gzip.compress(b"%" + b"a" * (8 << 20)))
