"""Files are known by name and content, and read within limits."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest

from repro_pipeline.errors import PaperError
from repro_pipeline.paper import read
from repro_pipeline.paper.limits import Limits, run_limited
from repro_pipeline.paper.model import SourceFormat
from repro_pipeline.paper.read import detect, find_sources, read_paper

TEX = b"\\documentclass{article}\\title{T}\\begin{document}Text.\\end{document}"
TEI = b'<?xml version="1.0"?><TEI xmlns="http://www.tei-c.org/ns/1.0"></TEI>'
JATS = b'<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//NLM//DTD JATS"><article></article>'
PDF = b"%PDF-1.5\n..."
GZIP = b"\x1f\x8b\x08" + b"0" * 20


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("paper.tex", TEX, SourceFormat.LATEX),
        ("Paper.TEX", TEX, SourceFormat.LATEX),
        ("paper.tar.gz", GZIP, SourceFormat.LATEX),
        ("2001.01234.zip", b"PK\x03\x04", SourceFormat.LATEX),
        ("paper.tei.xml", TEI, SourceFormat.TEI),
        ("paper.xml", TEI, SourceFormat.TEI),
        ("paper.xml", JATS, SourceFormat.JATS),
        ("paper.nxml", JATS, SourceFormat.JATS),
        ("paper.md", b"# T", SourceFormat.MARKDOWN),
        ("paper.pdf", b"junk" + PDF, SourceFormat.PDF),
    ],
)
def test_a_format_by_name_and_content(tmp_path, name, content, kind):
    path = tmp_path / name
    path.write_bytes(content)
    assert detect(path) is kind


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("paper.tex", PDF, "holds a PDF"),
        ("paper.pdf", TEX, "holds something else"),
        ("paper.tei.xml", JATS, "holds JATS"),
        ("paper.xml", b"<?xml version='1.0'?><html/>", "something else"),
        ("paper.md", GZIP, "an archive"),
        ("paper.tar.gz", TEX, "LaTeX"),
        ("paper.md", TEX, "holds LaTeX"),
        ("paper.tex", b"a\0b", "something else"),
        ("paper.docx", b"PK\x03\x04", "no known format"),
        ("paper.pdf", b"  ", "is empty"),
    ],
)
def test_a_name_that_lies_is_refused(tmp_path, name, content, says):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(PaperError, match=says):
        read_paper(path)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("absent.pdf", "no such file"),
        ("a" * 5000 + ".pdf", "cannot be read"),
        ("a\0b.pdf", "no name of a file"),
        ("pipe.tex", "neither a file nor a folder"),
        ("https:/example.org/a.pdf", "repro add"),
    ],
)
def test_what_is_no_file_is_said_at_once(tmp_path, name, says):
    os.mkfifo(tmp_path / "pipe.tex")
    place = Path(name) if name.startswith("https") else tmp_path / name
    with pytest.raises(PaperError) as raised:
        read_paper(place)
    assert says in str(raised.value)


def test_sources_stand_in_order_of_exactness(tmp_path):
    for name, content in [
        ("paper.pdf", PDF),
        ("paper.md", b"# T"),
        ("paper.xml", JATS),
        ("paper.tei.xml", TEI),
        ("paper.tex", TEX),
        ("task.yaml", b""),
        ("other.pdf", PDF),
    ]:
        (tmp_path / name).write_bytes(content)
    (tmp_path / "code").mkdir()
    names = [path.name for path in find_sources(tmp_path)]
    assert names == ["paper.tex", "paper.xml", "paper.tei.xml", "paper.md", "paper.pdf"]
    (tmp_path / "paper").mkdir()
    assert find_sources(tmp_path)[0].name == "paper"
    assert find_sources(tmp_path / "code") == ()


def test_a_paper_is_read_in_a_process_of_its_own(tmp_path):
    path = tmp_path / "paper.tex"
    path.write_bytes(TEX)
    paper = read_paper(path)
    assert (paper.title, paper.source.format) == ("T", SourceFormat.LATEX)
    assert read_paper(tmp_path).title == "T"


def test_a_readers_error_keeps_its_place(tmp_path):
    path = tmp_path / "paper.tex"
    path.write_text("\\documentclass{article}\n\\begin{document}\n\\begin{table}\\end{document}")
    with pytest.raises(PaperError) as raised:
        read_paper(path)
    assert raised.value.where == "paper.tex:3"


def test_a_missing_reader_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(read.READERS, SourceFormat.MARKDOWN, ("repro_pipeline.paper.none", "f"))
    with pytest.raises(PaperError, match="Markdown is not supported"):
        read._load(SourceFormat.MARKDOWN)


@pytest.mark.parametrize(
    ("code", "limits", "says"),
    [
        ("import time; time.sleep(60)", Limits(seconds=1), "not read within 1 seconds"),
        ("x = bytearray(1 << 30)", Limits(memory=300 << 20), "needs more than 300 MiB"),
        ("raise RuntimeError('boom')", Limits(), "reader failed .*boom"),
        ("import os; os.abort()", Limits(), "SIGABRT"),
        ("pass", Limits(), "reader failed"),
        ("open(sys.argv[-1], 'w').write('{')", Limits(), "broke off"),
        (
            "open(sys.argv[-1], 'w').write('x' * 10**6)",
            Limits(result=10**5),
            "failed|large|SIGXFSZ",
        ),
        (
            "import subprocess; subprocess.Popen(['sleep', '60']); import time; time.sleep(60)",
            Limits(seconds=1),
            "not read within",
        ),
    ],
)
def test_what_a_reader_may_do_is_bounded(tmp_path, monkeypatch, code, limits, says):
    (tmp_path / "hostile.py").write_text(textwrap.dedent(f"import sys\n{code}\n"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(PaperError, match=says) as raised:
        run_limited("hostile", [], limits, what="paper.x")
    assert raised.value.where == "paper.x"
