"""Papers from a server that behaves as arXiv does on good and on bad days."""

from __future__ import annotations

import fcntl
import gzip
import json
import multiprocessing
import socket
import threading
import time
from pathlib import Path

import pytest
from loopback import TEX, Answer, Server, tar_gz

from repro_pipeline.bundle.folder import open_bundle
from repro_pipeline.config import Fetch
from repro_pipeline.errors import FetchError
from repro_pipeline.paper.fetch import ArxivPaper, FetchRecord, PaperUrl
from repro_pipeline.reading.sources import came_together
from resources import http_download
from resources.paper_source import HttpPaperSource
from resources.user_cache import cache_folder

PAPER = ArxivPaper(id="2505.20662")
SOURCE, PDF_PATH = "/e-print/2505.20662", "/pdf/2505.20662"
PDF = b"%PDF-1.7\n" + b"x" * 5000 + b"\n%%EOF\n"
TAR = tar_gz(main__tex=TEX)
AS_ARXIV = {"Content-Type": "application/x-eprint-tar", "Content-Encoding": "x-gzip"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "bundle"
    made.mkdir()
    return made


class Fetching:
    """Fetches with quick settings; notes how long it would have slept."""

    def __init__(self, server: Server, **settings) -> None:
        self.slept: list[float] = []
        quick = {"arxiv": server.url, "interval": 0.001, "timeout": 20}
        self.source = HttpPaperSource(Fetch(**{**quick, **settings}), sleep=self.slept.append)

    def __call__(self, folder: Path, target=PAPER) -> FetchRecord:
        return self.source.fetch(target, folder, asked="arxiv:2505.20662")


def good(server: Server) -> Server:
    server.on(SOURCE, Answer(TAR, headers=AS_ARXIV))
    return server.on(PDF_PATH, Answer(PDF, headers={"Content-Type": "application/pdf"}))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_source_and_pdf_make_a_bundle_that_says_where_it_is_from(server, folder):
    record = Fetching(good(server))(folder)
    assert names(folder) == ["paper.pdf", "paper.tar.gz", "source.json"]
    assert (folder / "paper.tar.gz").read_bytes() == TAR  # not unpacked on the way
    bundle = open_bundle(folder, paper="x")
    assert bundle.sources == ("paper.tar.gz", "paper.pdf")
    assert {file.file: file.sha256 for file in record.files} == {
        name: bundle.files[name] for name in bundle.sources
    }
    assert [file.url for file in record.files] == [server.url + SOURCE, server.url + PDF_PATH]
    assert json.loads((folder / "source.json").read_text())["asked"] == "arxiv:2505.20662"
    assert came_together(bundle, folder)
    assert server.headers[0]["User-Agent"].startswith("repro-pipeline/")


def test_a_file_that_was_changed_did_not_come_together(server, folder):
    Fetching(good(server))(folder)
    (folder / "paper.pdf").write_bytes(PDF + b"\n")
    assert not came_together(open_bundle(folder, paper="x"), folder)
    (folder / "source.json").write_text('{"any": "thing"}')
    assert not came_together(open_bundle(folder, paper="x"), folder)


@pytest.mark.parametrize(
    ("answer", "files"),
    [
        (Answer(gzip.compress(TEX), headers=AS_ARXIV), ["paper.gz", "paper.pdf", "source.json"]),
        (Answer(TEX), ["paper.pdf", "paper.tex", "source.json"]),
    ],
)
def test_a_paper_of_one_file(server, folder, answer, files):
    good(server).on(SOURCE, answer)
    Fetching(server)(folder)
    assert names(folder) == files


def test_a_paper_that_is_a_pdf_only_is_asked_for_once(server, folder):
    good(server).on(SOURCE, Answer(PDF, headers={"Content-Type": "application/pdf"}))
    record = Fetching(server)(folder)
    assert names(folder) == ["paper.pdf", "source.json"]
    assert server.asked == [SOURCE]
    assert record.absent == ("arXiv has no LaTeX source of 2505.20662, but its PDF.",)


@pytest.mark.parametrize(
    "answer", [Answer(status=404), Answer(gzip.compress(b"%auto-ignore\nwithdrawn"))]
)
def test_without_a_source_the_pdf_is_taken_and_it_is_said(server, folder, answer):
    good(server).on(SOURCE, answer)
    record = Fetching(server)(folder)
    assert names(folder) == ["paper.pdf", "source.json"]
    assert record.absent == ("arXiv has no LaTeX source of 2505.20662.",)


def test_a_paper_that_is_not_there(server, folder):
    with pytest.raises(FetchError, match="neither its source nor its PDF"):
        Fetching(server)(folder)
    assert server.asked == [SOURCE, PDF_PATH]  # no second try: it will not be there then either


def test_a_version_is_asked_for(server, folder):
    server.on(f"{SOURCE}v2", Answer(TAR)).on(f"{PDF_PATH}v2", Answer(PDF))
    Fetching(server)(folder, ArxivPaper(id="2505.20662", version="v2"))
    assert server.asked == [f"{SOURCE}v2", f"{PDF_PATH}v2"]


def test_what_was_fetched_today_is_not_asked_for_again(server, folder, tmp_path):
    Fetching(good(server))(folder)
    (tmp_path / "again").mkdir()
    again = Fetching(server)(tmp_path / "again")
    assert len(server.asked) == 2
    assert (tmp_path / "again" / "paper.tar.gz").read_bytes() == TAR
    assert len(again.files) == 2


def test_an_altered_cache_is_asked_anew(server, folder, tmp_path):
    Fetching(good(server))(folder)
    for path in (cache_folder() / "papers").iterdir():
        if not path.suffix:
            path.write_bytes(b"altered")
    (tmp_path / "again").mkdir()
    Fetching(server)(tmp_path / "again")
    assert (tmp_path / "again" / "paper.tar.gz").read_bytes() == TAR
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    ("bad", "slept"),
    [
        (Answer(status=429, headers={"Retry-After": "7"}), [7]),
        (Answer(status=503, headers={"Retry-After": "0"}), [1]),
        (Answer(status=500), [1]),
        (Answer(status=429, headers={"Retry-After": "Mon, 01 Jan 2001 00:00:00 GMT"}), [1]),
        (Answer(status=429, headers={"Retry-After": "soon"}), [1]),
        (Answer(status=0), [1]),
        (Answer(TAR[:100], length=len(TAR)), [1]),
        (Answer(TAR, wait=3), [1]),
    ],
    ids=["429", "503", "500", "date", "nonsense", "closed", "truncated", "slow"],
)
def test_a_failure_that_passes_is_waited_out(server, folder, bad, slept):
    good(server).on(SOURCE, bad, Answer(TAR))
    fetching = Fetching(server, interval=1, timeout=1 if bad.wait else 20)
    fetching(folder)
    between_requests = 2  # the pace, here a second before the second file, and after a wait of none
    assert [wait for wait in fetching.slept if wait == slept[0] or wait == 1][:1] == slept
    assert server.asked.count(SOURCE) == 2
    assert len(fetching.slept) <= len(slept) + between_requests
    assert names(folder) == ["paper.pdf", "paper.tar.gz", "source.json"]


@pytest.mark.parametrize(
    ("answer", "sentence", "tries"),
    [
        (Answer(status=500), "the server answers 500", 4),
        (Answer(status=429, headers={"Retry-After": "3600"}), "asks to wait for 3600 s", 1),
        (Answer(status=403), "the server refuses: 403", 1),
        (Answer(status=204), "the server refuses: 204", 1),
        (Answer(b""), "is empty", 1),
        (Answer(TAR[:-30], length=None), "truncated", 1),
        (Answer(TAR[:100], length=len(TAR)), "broke off after 100 bytes", 4),
        (Answer(status=0), "broke the connection off", 4),
        (Answer(b"<!DOCTYPE html><p>Access denied"), "a web page", 1),
        (Answer(endless=True), "larger than 1 MiB", 1),
        (Answer(b"x", length=10 << 20), "larger than 1 MiB", 1),
        (Answer(status=302, headers={"Location": "//[bad"}), "cannot be asked for", 1),
        (Answer(status=302, headers={"Location": "//a:99999999/"}), "what is no address", 1),
    ],
)
def test_a_failure_that_stays_is_said_and_leaves_nothing(server, folder, answer, sentence, tries):
    good(server).on(SOURCE, answer)
    with pytest.raises(FetchError, match=sentence) as caught:
        Fetching(server, largest=1 << 20)(folder)
    assert server.asked.count(SOURCE) == tries
    assert "repro add FOLDER" in caught.value.hint or "Try again later" in caught.value.hint
    assert names(folder) == []


def test_a_body_that_drips_meets_the_clock(server, folder):
    good(server).on(SOURCE, Answer(endless=True))
    fetching = Fetching(server)
    fetching.source._bounds = http_download.Bounds(20, 0.2, 1 << 40, tries=1)
    with pytest.raises(FetchError, match=r"did not end within 0\.2 seconds"):
        fetching(folder)


def test_where_no_network_is_it_is_said_at_once(folder, server):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and not listening: refused
        nowhere = f"http://127.0.0.1:{taken.getsockname()[1]}"
        fetching = Fetching(server, arxiv=nowhere)
        with pytest.raises(FetchError, match=r"the network does not reach 127\.0\.0\.1") as caught:
            fetching(folder)
    assert "repro add FOLDER" in str(caught.value)
    assert fetching.slept == []
    with pytest.raises(FetchError, match=r"does not reach nowhere\.invalid"):
        Fetching(server, arxiv="https://nowhere.invalid")(folder)


def test_redirects_on_the_same_server_are_followed(server, folder):
    good(server).on(SOURCE, Answer(status=302, headers={"Location": "/src/2505.20662"}))
    server.on("/src/2505.20662", Answer(TAR))
    Fetching(server)(folder)
    assert (folder / "paper.tar.gz").read_bytes() == TAR


@pytest.mark.parametrize(
    ("location", "sentence"),
    [
        ("http://localhost:9/secret", "an address of a private network"),
        ("http://169.254.169.254/latest/meta-data", "an address of a private network"),
        ("http://10.0.0.1/", "an address of a private network"),
        ("http://[::1]:9/", "an address of a private network"),
        ("http://[::ffff:127.0.0.1]/", "an address of a private network"),
        ("file:///etc/passwd", "redirects to file, not to http"),
        (SOURCE, "redirects more than 5 times"),
    ],
)
def test_a_redirect_leads_into_no_private_network(server, folder, location, sentence):
    good(server).on(SOURCE, Answer(status=302, headers={"Location": location}))
    with pytest.raises(FetchError, match=sentence):
        Fetching(server)(folder)


def test_a_redirect_to_another_port_of_this_machine_is_one_into_a_private_network(server, folder):
    port = server.url.rpartition(":")[2]
    other = f"http://127.0.0.1:{int(port) ^ 1}/x"
    good(server).on(SOURCE, Answer(status=302, headers={"Location": other}))
    with pytest.raises(FetchError, match="private network"):
        Fetching(server)(folder)


def test_an_address_of_a_pdf_is_fetched(server, folder):
    server.on("/files/study.pdf", Answer(PDF))
    Fetching(server)(folder, PaperUrl(url=f"{server.url}/files/study.pdf"))
    assert names(folder) == ["paper.pdf", "source.json"]


def _hold(path: str, held, done) -> None:
    with Path(path).open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        held.set()
        done.wait(30)


def test_requests_are_paced_over_all_processes(server, folder):
    """A second process waits for the first, and then for the interval since its request."""
    context = multiprocessing.get_context("spawn")
    good(server)
    host = server.url.removeprefix("http://").replace(":", "-")
    lock = cache_folder() / "hosts" / f"{host}.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text(repr(time.time()))
    held, done = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(str(lock), held, done))
    other.start()
    held.wait(30)
    fetching = Fetching(server, interval=60)
    fetched = threading.Thread(target=fetching, args=(folder,))
    fetched.start()
    fetched.join(0.3)
    assert fetched.is_alive() and server.asked == []  # no request while another process has one
    done.set()
    fetched.join(30)
    other.join(30)
    assert len(server.asked) == 2
    first, second = fetching.slept
    assert 0 < first <= 60 and 0 < second <= 60
