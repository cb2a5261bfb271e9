"""GROBID's client against a fake server: what is asked, and what each kind of failure says.

No GROBID runs here. The fake answers as the service's documentation says that GROBID does.
"""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from loopback import Answer, Server

from repro_pipeline.config import Grobid
from repro_pipeline.errors import PaperError, ServiceError
from repro_pipeline.paper.model import Paper, SourceFormat
from repro_pipeline.paper.read import read_paper
from repro_pipeline.paper.tables import DOUBTED
from repro_pipeline.reading.tei_and_pdf import read_with_service
from resources.artifact_store import FsspecArtifactStore
from resources.grobid import GrobidService

pytest.importorskip("grobid_client", reason="grobid-client-python is not installed")

PROCESS = "/api/processFulltextDocument"
EXAMPLE = Path(__file__).resolve().parents[3] / "examples/random-forests-2001/paper.pdf"
TEI = b"""<?xml version="1.0" encoding="UTF-8"?>
<TEI xmlns="http://www.tei-c.org/ns/1.0">
<teiHeader><fileDesc><titleStmt><title level="a" type="main">Forests, as the fake read them</title>
</titleStmt><publicationStmt><publisher/></publicationStmt><sourceDesc><biblStruct><analytic>
<author><persName><forename type="first">Ada</forename><surname>Writer</surname></persName></author>
</analytic><monogr><imprint><date type="published" when="2001"/></imprint></monogr></biblStruct>
</sourceDesc></fileDesc><profileDesc><abstract><p>We grow trees.</p></abstract></profileDesc>
</teiHeader><text><body><div><head n="1">Results</head>
<p>Trees are averaged as before <ref type="bibr" target="#b0">[1]</ref>.</p></div>
<figure type="table" xml:id="tab_0"><head>Table 1 .</head><label>1</label>
<figDesc>Test set error (%)</figDesc><table><row><cell>Waveform 17.8 17.2</cell></row></table></figure>
<figure type="table" xml:id="tab_1"><head>Table 7 .</head><label>7</label>
<figDesc>Only here</figDesc><table><row><cell>Name</cell><cell>Size</cell></row>
<row><cell>Ours</cell><cell>5.5</cell></row></table></figure>
</body><back><div type="references"><listBibl><biblStruct xml:id="b0"><analytic>
<title level="a" type="main">Averages of trees</title></analytic><monogr><imprint>
<date type="published" when="1999"/></imprint></monogr></biblStruct></listBibl></div></back></text>
</TEI>
"""


@pytest.fixture
def grobid(server: Server) -> Server:
    """A fake that is up and gives one TEI to every PDF."""
    server.on("/api/isalive", Answer(b"true")).on(
        "/api/version", Answer(b'{"version":"0.9.1","revision":"0.9.1-0-gabc"}')
    )
    return server.on(PROCESS, Answer(TEI, headers={"Content-Type": "application/xml"}))


def service(server: Server, **settings) -> GrobidService:
    return GrobidService(
        Grobid(**{"url": server.url, "timeout": 20, "pause": 0.001, **settings}),
        sleep=lambda seconds: None,
    )


def test_a_pdf_is_sent_as_it_is_and_the_answer_is_that_of_the_server(grobid):
    content, made_by = service(grobid).tei_of(EXAMPLE)
    assert (content, made_by) == (TEI, "GROBID 0.9.1")
    sent = grobid.bodies[-1]
    assert EXAMPLE.read_bytes() in sent
    for name in (b"consolidateHeader", b"consolidateCitations"):  # the server asks no third party
        assert name + b'"\r\n\r\n0\r\n' in sent


def test_an_answer_is_kept_for_the_pdf_and_the_server(grobid, tmp_path):
    first = service(grobid).tei_of(EXAMPLE)
    asked = len(grobid.asked)
    assert service(grobid).tei_of(EXAMPLE) == first
    assert len(grobid.asked) == asked
    other = tmp_path / "other.pdf"
    other.write_bytes(EXAMPLE.read_bytes() + b"\n")
    service(grobid).tei_of(other)
    assert grobid.asked.count(PROCESS) == 2


def test_a_busy_server_is_asked_again(grobid):
    grobid.on(PROCESS, Answer(status=503), Answer(status=503), Answer(TEI))
    assert service(grobid).tei_of(EXAMPLE)[0] == TEI
    assert EXAMPLE.read_bytes() in grobid.bodies[-1]  # whole each time


@pytest.mark.parametrize(
    ("path", "answer", "sentence"),
    [
        ("/api/isalive", Answer(status=503), "GROBID is not up in it"),
        ("/api/isalive", Answer(b"false"), "GROBID is not up in it"),
        ("/api/isalive", Answer(b"<html>some other server</html>"), "GROBID is not up in it"),
        ("/api/version", Answer(b"unknown"), "tells no version"),
        (PROCESS, Answer(status=503), r"busy \(503\) after 3 tries"),
        (PROCESS, Answer(b"[NO_BLOCKS] no text", 500), r"500, \[NO_BLOCKS\] no text"),
        (PROCESS, Answer(status=204), "found nothing"),
        (PROCESS, Answer(b""), "found nothing"),
        (PROCESS, Answer(TEI, wait=1.5), r"did not answer to paper.pdf within 0\.5 seconds"),
        (PROCESS, Answer(TEI[:900]), "no whole TEI"),
        (PROCESS, Answer(TEI[:900], length=len(TEI)), "broke off over paper.pdf"),
        (PROCESS, Answer(status=0), "broke off over paper.pdf"),
        (PROCESS, Answer(b"<html></html>"), "no whole TEI"),
    ],
)
def test_a_failure_is_said(grobid, path, answer, sentence):
    grobid.on(path, answer)
    with pytest.raises(ServiceError, match=sentence) as caught:
        service(grobid, tries=3, timeout=0.5 if "within" in sentence else 20).tei_of(EXAMPLE)
    assert caught.value.hint and grobid.url in str(caught.value)
    assert "<" not in caught.value.what  # no object of the client's
    assert grobid.asked.count(PROCESS) == (3 if "tries" in sentence else int(path == PROCESS))


def test_a_server_that_is_not_there_is_said(server):
    away = GrobidService(Grobid(url="http://127.0.0.1:9"))
    with pytest.raises(ServiceError, match=r"does not answer \(connection refused") as caught:
        away.tei_of(EXAMPLE)
    assert "docker run" in caught.value.hint


def test_only_so_many_pdfs_are_under_way(grobid, tmp_path):
    grobid.on(PROCESS, Answer(TEI, wait=0.1))
    papers = [tmp_path / f"{number}.pdf" for number in range(5)]
    for number, path in enumerate(papers):
        path.write_bytes(EXAMPLE.read_bytes() + b"\n" * number)
    threads = [
        threading.Thread(target=service(grobid, concurrency=2).tei_of, args=(path,))
        for path in papers
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert grobid.asked.count(PROCESS) == 5
    assert grobid.most_open <= 2


def read(server: Server, tmp_path: Path) -> tuple[Paper, FsspecArtifactStore]:
    store = FsspecArtifactStore(str(tmp_path / "store"))
    return read_with_service(EXAMPLE, service(server), store), store


def test_prose_is_from_tei_and_tables_are_from_the_pdf(grobid, tmp_path):
    paper, store = read(grobid, tmp_path)
    alone = read_paper(EXAMPLE)
    assert paper.title == "Forests, as the fake read them"
    assert paper.abstract == "We grow trees."
    assert paper.sections[0].title.endswith("Results")
    assert paper.references[0].title == "Averages of trees"
    assert [context.section for context in paper.references[0].contexts] != []
    assert paper.tables[0] == alone.tables[0]
    assert paper.tables[0].provenance.file == "paper.pdf"
    assert paper.source == alone.source
    (answer,) = paper.also
    assert answer.format is SourceFormat.TEI and answer.reader.startswith("GROBID 0.9.1, ")
    assert store.get(answer.sha256) == TEI


def test_a_table_that_only_tei_has_is_doubted(grobid, tmp_path):
    paper, _ = read(grobid, tmp_path)
    only = paper.tables[-1]
    assert (only.number, only.index) == ("Table 7", len(paper.tables))
    assert only.provenance is None or only.provenance.file == "paper.tei.xml"
    assert only.confidence <= DOUBTED and "Only the TEI has" in only.doubts[-1]
    assert [table.number for table in paper.tables].count("Table 1") == 1


def test_tei_that_cannot_be_read_fails_and_leaves_nothing_to_the_pdf_reader(grobid, tmp_path):
    grobid.on(PROCESS, Answer(b"<TEI xmlns='http://www.tei-c.org/ns/1.0'><text><p></TEI>"))
    with pytest.raises(ServiceError, match=r"the answer of GROBID 0\.9\.1 cannot be read"):
        read(grobid, tmp_path)


def test_what_tei_lacks_is_from_the_pdf_and_said(grobid, tmp_path):
    body = b"<teiHeader/><text><body><p>Only this.</p></body></text>"
    bare = b"<TEI xmlns='http://www.tei-c.org/ns/1.0'>" + body + b"</TEI>"
    grobid.on(PROCESS, Answer(bare))
    paper, _ = read(grobid, tmp_path)
    assert paper.references == read_paper(EXAMPLE).references
    assert any("has no references" in warning for warning in paper.warnings)


@pytest.mark.parametrize(
    ("tei", "pdf"),
    [
        ("N18-3011.tei.xml", "N18-3011_semantic-scholar-KG.pdf"),
        ("acl2020.207_SPECTER.tei.xml", "acl2020.207_SPECTER.pdf"),
    ],
)
def test_real_answers_of_grobid(grobid, tmp_path, corpus, tei, pdf):
    """Replayed: TEI that GROBID 0.6.1 made of real papers, beside their PDFs."""
    content = (corpus / "tei" / tei).read_bytes()
    grobid.on(PROCESS, Answer(content))
    store = FsspecArtifactStore(str(tmp_path / "store"))
    paper = read_with_service(corpus / "pdf" / pdf, service(grobid), store)
    alone = read_paper(corpus / "pdf" / pdf)
    assert store.get(paper.also[0].sha256) == content
    assert paper.tables[: len(alone.tables)] == alone.tables
    assert len(paper.references) >= 25
    assert sum(bool(reference.contexts) for reference in paper.references) >= 15
    numbers = [table.number for table in paper.tables if table.number]
    assert len(numbers) == len(set(numbers))


def test_without_the_client_it_is_said(grobid, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "grobid_client.grobid_client", None)
    with pytest.raises(ServiceError, match="GROBID's client is not installed") as caught:
        service(grobid).tei_of(EXAMPLE)
    assert "repro-pipeline[grobid]" in caught.value.hint
    assert not isinstance(caught.value, PaperError)
