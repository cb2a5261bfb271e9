"""Papers on their way into the project: fetched, read with a service, corrected by a person."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from repro_pipeline.cli import main
from repro_pipeline.ledger.projections import corrections, warnings
from repro_pipeline.paper.model import Paper
from repro_pipeline.stages import latest, output_of
from tests.bundles import make_bundle
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "tests/unit/fetch"))
import loopback

EXAMPLE = ROOT / "examples/random-forests-2001"
PDF = (EXAMPLE / "paper.pdf").read_bytes()
TEX = (EXAMPLE / "paper.tex").read_bytes()


@pytest.fixture
def server(tmp_path, monkeypatch) -> Iterator[loopback.Server]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with loopback.serving() as server:
        yield server


def configure(project: Path, text: str) -> None:
    """Put keys into the project's configuration, over those that stand there."""
    file = project / "repro.yaml"
    file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), **yaml.safe_load(text)}))


def parsed(opened, paper: str) -> Paper:
    return output_of(opened, latest(opened, paper, "parsed_paper"), Paper)


def read(paper: str) -> int:
    return main(["run", paper, "--stage", "parsed_paper"])


def warned(opened, paper: str) -> list[str]:
    found = warnings(opened.ledger.events(paper))
    return [warning.sentence for warning in found if warning.stage == "parsed_paper"]


def on_arxiv(server: loopback.Server, project: Path, *, tex: bytes = TEX) -> None:
    configure(project, f"fetch: {{arxiv: '{server.url}', interval: 0.01}}")
    server.on("/e-print/2505.20662", loopback.Answer(loopback.tar_gz(ms__tex=tex)))
    server.on("/pdf/2505.20662", loopback.Answer(PDF))


def test_a_paper_of_arxiv_is_added_and_read(project, opened, server, capsys):
    on_arxiv(server, project)
    assert main(["add", "https://arxiv.org/abs/2505.20662"]) == 0
    said = capsys.readouterr().out
    assert "Fetched paper.tar.gz" in said and "Added 2505.20662" in said
    assert read("2505.20662") == 0
    paper = parsed(opened, "2505.20662")
    assert paper.source.file == "paper.tar.gz" and paper.tables[0].grid[1][1].text == "17.8"
    assert warned(opened, "2505.20662") == []


def test_numbers_that_its_pdf_does_not_print_are_warnings(project, opened, server):
    on_arxiv(server, project, tex=TEX.replace(b"17.8", b"18.7"))
    assert main(["add", "arxiv:2505.20662", "--id", "forests"]) == 0
    assert read("forests") == 0
    found = warned(opened, "forests")
    assert any("'AdaBoost' is 18.7, which is nowhere in paper.pdf" in text for text in found)
    assert any(text.startswith("1 of the numbers") for text in found)


def test_two_sources_that_were_not_fetched_together_must_agree(project, opened):
    folder = project / "papers" / "mine"
    folder.mkdir()
    (folder / "paper.tex").write_bytes(TEX.replace(b"17.8", b"18.7"))
    (folder / "paper.pdf").write_bytes(PDF)
    read("mine")
    assert "disagree" in latest(opened, "mine", "parsed_paper").reason.sentence


@pytest.mark.parametrize("spoil", ["nothing there", "no server", "pdf fails", "a DOI"])
def test_what_cannot_be_fetched_leaves_nothing(project, server, capsys, spoil):
    on_arxiv(server, project)
    asked = "arxiv:2505.20662"
    if spoil == "nothing there":
        server.answers.clear()
    elif spoil == "no server":
        shutil.copy(ROOT / "repro_pipeline/templates/repro.yaml", project / "repro.yaml")
        configure(project, "fetch: {arxiv: 'http://127.0.0.1:9', interval: 0.01}")
    elif spoil == "pdf fails":
        server.on("/pdf/2505.20662", loopback.Answer(b"<html>busy</html>"))
    else:
        asked = "10.1145/3292500.3330701"
    assert main(["add", asked]) == 2
    assert "yourself, and `repro add FOLDER`" in capsys.readouterr().err
    assert list((project / "papers").iterdir()) == []


def test_a_paper_of_that_id_is_not_fetched_over(project, server, capsys):
    on_arxiv(server, project)
    (project / "papers" / "2505.20662").mkdir()
    assert main(["add", "arxiv:2505.20662"]) == 2
    assert "already" in capsys.readouterr().err
    assert server.asked == []


def with_pdf(project: Path) -> None:
    folder = project / "papers" / "forests"
    folder.mkdir()
    (folder / "paper.pdf").write_bytes(PDF)


def test_a_service_that_is_named_and_away_fails_the_stage(project, opened, server):
    pytest.importorskip("grobid_client", reason="grobid-client-python is not installed")
    configure(project, "grobid: {url: 'http://127.0.0.1:9'}")
    with_pdf(project)
    read("forests")
    row = latest(opened, "forests", "parsed_paper")
    assert (row.status, row.output, row.reason.code) == ("failed", None, "service_failed")
    assert "GROBID does not answer (connection refused)" in row.reason.sentence


def test_a_service_reads_the_prose_and_is_not_asked_twice(project, opened, server):
    pytest.importorskip("grobid_client", reason="grobid-client-python is not installed")
    configure(project, f"grobid: {{url: '{server.url}'}}")
    tei = b"""<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt>
    <title type="main">By the fake server</title></titleStmt></fileDesc></teiHeader>
    <text><body><div><head>One</head><p>Some prose.</p></div></body></text></TEI>"""
    for path, body in (
        ("isalive", b"true"),
        ("version", b"0.9.1"),
        ("processFulltextDocument", tei),
    ):
        server.on(f"/api/{path}", loopback.Answer(body))
    with_pdf(project)
    assert read("forests") == 0
    paper = parsed(opened, "forests")
    assert paper.title == "By the fake server"
    assert paper.tables[0].grid[1][1].text == "17.8"
    assert opened.store.get(paper.also[0].sha256) == tei
    asked = len(server.asked)
    correct("forests", "--table", "1", "--row", "Waveform", "--column", "AdaBoost", value="17.9")
    assert read("forests") == 0
    assert len(server.asked) == asked


# Corrections


def correct(paper: str, *address: str, value: str, reason: str = "read on the page") -> int:
    return main(["paper", "correct", paper, *address, f"--value={value}", f"--reason={reason}"])


NOISY_PLAIN = ("--table", "Table 1", "--row", "Noisy", "--column", "Plain")


@pytest.fixture
def tiny(project, opened) -> Path:
    folder = make_bundle(project / "papers" / "tiny")
    assert read("tiny") == 0
    return folder


def test_a_correction_reaches_the_claim_and_nothing_is_read_twice(project, opened, tiny, capsys):
    assert correct("tiny", *NOISY_PLAIN, value="10.5") == 0
    assert "'10.5' by human:" in capsys.readouterr().out
    assert main(["run", "tiny", "--stage", "reported_claims"]) == 0
    cell = parsed(opened, "tiny").tables[0].grid[1][1]
    assert (cell.text, cell.numbers[0].value, cell.corrected.before) == ("10.5", 10.5, "10.0")
    claims = opened.store.get(latest(opened, "tiny", "reported_claims").output)
    assert b'"value":10.5' in claims
    before = latest(opened, "tiny", "parsed_paper")
    assert read("tiny") == 0
    assert latest(opened, "tiny", "parsed_paper") == before  # the correction is no news any more


def test_it_survives_a_change_beside_the_source(project, opened, tiny):
    correct("tiny", *NOISY_PLAIN, value="10.5")
    (tiny / "task.yaml").write_text((tiny / "task.yaml").read_text() + "title: Another\n")
    (tiny / "notes.txt").write_text("x")
    assert read("tiny") == 0
    assert parsed(opened, "tiny").tables[0].grid[1][1].text == "10.5"
    assert warned(opened, "tiny") == []


def test_a_changed_source_takes_none_and_says_so(project, opened, tiny, capsys):
    correct("tiny", *NOISY_PLAIN, value="10.5")
    source = tiny / "paper.md"
    source.write_text(source.read_text().replace("10.0", "10.1"))
    assert correct("tiny", *NOISY_PLAIN, value="10.6") == 2
    assert "source was changed since it was read" in capsys.readouterr().err
    assert read("tiny") == 0
    assert parsed(opened, "tiny").tables[0].grid[1][1].text == "10.1"
    assert "another version of the source" in warned(opened, "tiny")[0]


def test_show_and_the_page_tell_who_corrected_what(project, opened, tiny, capsys):
    main(["paper", "correct", "tiny", *NOISY_PLAIN, "--value=10.5", "--reason=p. 3", "--by=ada"])
    read("tiny")
    capsys.readouterr()
    assert main(["paper", "show", "tiny"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "'10.5' by human:ada; '10.0' was read. p. 3" in said


def test_the_page_for_checking_has_what_was_corrected_since(project, opened, tiny, capsys):
    correct("tiny", *NOISY_PLAIN, value="10.5")
    assert main(["paper", "check", "tiny"]) == 0
    page = project / "reports/tiny/check.html"
    assert capsys.readouterr().out.endswith(f"{page}\n")
    assert 'data-was="10.0" data-by="human:' in page.read_text()
    assert main(["paper", "check", "tiny", "--out", "elsewhere/page.html"]) == 0
    assert (project / "elsewhere/page.html").read_text() == page.read_text()
    assert main(["paper", "check", "tiny", "--out", str(tiny / "paper.md" / "x.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert main(["paper", "check", "nobody"]) == 2


def test_a_file_is_no_paper_and_it_is_said(project, tiny, capsys):
    assert main(["add", str(tiny / "paper.md"), "--id", "other"]) == 2
    assert "is a file, and a paper is a folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("address", "value", "sentence"),
    [
        (("--table", "Table 9", "--row", "Noisy", "--column", "Plain"), "1", "no 'Table 9'"),
        (("--table", "Table 1", "--row", "Nosy", "--column", "Plain"), "1", "no row 'Nosy'"),
        (NOISY_PLAIN, "10.0", "reads '10.0' already"),
        (("--table", "Table 1"), "1", "which cell?"),
        (("--at", "1,2"), "1", "is no place"),
        (("--at", "1,99,1"), "1", "no such place"),
        (("--at", "0,1,1"), "1", "is no place"),
    ],
)
def test_a_correction_of_nothing_is_refused(
    project, opened, tiny, capsys, address, value, sentence
):
    assert correct("tiny", *address, value=value) == 2
    assert sentence in capsys.readouterr().err
    assert corrections(opened.ledger.events("tiny")) == ()


def test_a_cell_is_named_by_place(project, opened, tiny):
    assert correct("tiny", "--at", "1,3,3", value="0.7") == 0
    read("tiny")
    assert parsed(opened, "tiny").tables[0].grid[2][2].text == "0.7"


def test_a_bare_number_of_arxiv_is_told_how_it_is_written(project, capsys):
    assert main(["add", "2505.20662v2"]) == 2
    assert "`repro add arxiv:2505.20662v2`" in capsys.readouterr().err
