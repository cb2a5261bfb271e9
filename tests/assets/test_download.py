"""A paper whose data are downloaded by its own code: allowed, recorded, checked."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import http.server
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
import yaml

from repro_pipeline.cli import main
from repro_pipeline.environment import download as environment_download
from repro_pipeline.environment.model import DataManifest
from repro_pipeline.project import Project
from repro_pipeline.stages import latest, output_of
from resources import egress_proxy
from tests.bundles import make_bundle

DATA = b"x,y\n1,2\n3,4\n"
FETCH = """
import pathlib, sys, urllib.error, urllib.request
target = pathlib.Path(sys.argv[1], "data", "points.csv")
target.parent.mkdir()
target.write_bytes(urllib.request.urlopen("http://data.test/points.csv").read())
pathlib.Path(sys.argv[1], "task.yaml").write_text("schema: 1")
try:
    urllib.request.urlopen("http://elsewhere.test/?stolen")
except urllib.error.HTTPError as error:
    print("elsewhere:", error.code)
"""


class Site(http.server.BaseHTTPRequestHandler):
    """The data."""

    asked: ClassVar[list[str]] = []

    def do_GET(self):
        self.asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", str(len(DATA)))
        self.end_headers()
        self.wfile.write(DATA)

    def log_message(self, *_):
        return


@pytest.fixture(autouse=True)
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A site on loopback that every name leads to, in this test's resolver alone."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    proxy = functools.partial(
        egress_proxy.EgressProxy,
        look_up=lambda host, port: [("127.0.0.1", server.server_port)],
        reachable=lambda address: address == "127.0.0.1",
    )
    monkeypatch.setattr(egress_proxy, "EgressProxy", proxy)
    yield
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def asked() -> list[str]:
    """The paths that the site is asked for in this test."""
    Site.asked.clear()
    return Site.asked


@pytest.fixture
def paper(project: Path) -> Path:
    """A bundle that lacks its data."""
    folder = project / "papers" / "tiny"
    make_bundle(folder)
    (folder / "code" / "fetch.py").write_text(FETCH)
    change(folder)
    assert main(["run", "tiny", "--stage", "parsed_paper"]) == 0
    return folder


def change(folder: Path, **download) -> None:
    """Give the task a download."""
    task = yaml.safe_load((folder / "task.yaml").read_text())
    task["data"] = [{"name": "points", "path": "data/points.csv"}]
    if sha256 := download.pop("sha256", None):
        task["data"][0]["sha256"] = sha256
    base = {"command": ["python", "fetch.py", "{out}"], "allow": [{"host": "data.test"}]}
    task["download"] = {**base, **download}
    (folder / "task.yaml").write_text(yaml.safe_dump(task))


def test_data_come_by_the_codes_own_command(paper: Path, opened: Project, capsys):
    before = (paper / "task.yaml").read_text()
    assert main(["run", "tiny", "--stage", "data_manifest"]) != 0
    assert "`repro download`" in capsys.readouterr().out
    assert main(["download", "tiny"]) == 0
    assert (paper / "data" / "points.csv").read_bytes() == DATA
    assert (paper / "task.yaml").read_text() == before, "only named data files are taken"
    asked = [event.content for event in opened.ledger.events("tiny", kinds={"egress_asked"})]
    assert [(one.request.host, one.request.allowed) for one in asked] == [
        ("data.test", True),
        ("elsewhere.test", False),
    ]
    (ended,) = (e.content for e in opened.ledger.events("tiny", kinds={"download_finished"}))
    sha256 = hashlib.sha256(DATA).hexdigest()
    assert ended.files == {"data/points.csv": sha256} and ended.requests == 2
    assert ended.limits["network"] == "hard"
    assert b"elsewhere: 403" in opened.store.get(ended.log)
    assert main(["run", "tiny", "--stage", "data_manifest"]) == 0
    row = latest(opened, "tiny", "data_manifest")
    assert output_of(opened, row, DataManifest).entries[0].sha256 == sha256
    assert main(["download", "tiny"]) == 0
    assert "nothing was asked" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"sha256": "0" * 64}, "and the task says 000"),
        ({"command": ["python", "-c", "pass"]}, "It left no file 'data/points.csv'"),
        ({"command": ["python", "-c", "raise SystemExit(3)"]}, "exit status 3"),
        ({"limit": 40}, "limit of 40 bytes"),
    ],
)
def test_a_download_that_fails_leaves_nothing(paper: Path, opened: Project, capsys, how, said):
    change(paper, **how)
    assert main(["download", "tiny"]) == 2
    assert said in capsys.readouterr().err
    assert not (paper / "data").exists()
    (ended,) = (e.content for e in opened.ledger.events("tiny", kinds={"download_finished"}))
    assert ended.files == {} and said in ended.reason.sentence


def name_data(folder: Path, *paths: str) -> None:
    """Let the task name further data, and the command leave all of them."""
    task = yaml.safe_load((folder / "task.yaml").read_text())
    task["data"] += [{"name": f"more-{n}", "path": path} for n, path in enumerate(paths)]
    leave = (
        "import pathlib, sys\nout = pathlib.Path(sys.argv[1])\n"
        "for name in sys.argv[2:]:\n"
        "    (out / name).parent.mkdir(parents=True, exist_ok=True)\n"
        "    (out / name).write_text(name)\n"
    )
    (folder / "code" / "leave.py").write_text(leave)
    names = [one["path"] for one in task["data"]]
    task["download"]["command"] = ["python", "leave.py", "{out}", *names]
    (folder / "task.yaml").write_text(yaml.safe_dump(task))


@pytest.mark.parametrize("path", ["../outside.csv", "/elsewhere/outside.csv", "data/../../x.csv"])
def test_data_outside_of_the_paper_are_refused_before_anything_runs(
    paper: Path, opened: Project, capsys, path: str
):
    name_data(paper, path)
    assert main(["download", "tiny"]) == 2
    assert "outside the bundle" in capsys.readouterr().err
    assert not (paper / "data").exists()
    assert not list(opened.ledger.events("tiny", kinds={"download_finished"}))


def seal(folder: Path, **more: object) -> None:
    """Let the task's data have sealed labels."""
    task = yaml.safe_load((folder / "task.yaml").read_text())
    task["data"][0] |= {"sealed_labels": "labels.csv", **more}
    (folder / "task.yaml").write_text(yaml.safe_dump(task))


@pytest.mark.parametrize(
    ("more", "there", "refused"),
    [
        ({}, ["labels.csv"], "data/points.csv"),
        ({"sha256": hashlib.sha256(DATA).hexdigest()}, [], "labels.csv"),
        (
            {"sha256": hashlib.sha256(DATA).hexdigest(), "roles": {"test": "test.idx"}},
            ["labels.csv"],
            "test.idx",
        ),
    ],
)
def test_the_code_brings_nothing_that_could_hold_sealed_labels(
    paper: Path, asked, capsys, more, there: list[str], refused: str
):
    seal(paper, **more)
    for name in there:
        (paper / name).write_text("row_id,label\n0,1\n")
    assert main(["download", "tiny"]) == 2
    assert f"{refused}: is not taken from the code" in capsys.readouterr().err
    assert asked == [] and not (paper / "data").exists()


def test_data_beside_sealed_labels_are_brought_by_their_digest(paper: Path):
    seal(paper, sha256=hashlib.sha256(DATA).hexdigest())
    (paper / "labels.csv").write_text("row_id,label\n0,1\n")
    assert main(["download", "tiny"]) == 0
    assert (paper / "data" / "points.csv").read_bytes() == DATA


def test_a_file_that_cannot_be_placed_leaves_none_of_the_others(
    paper: Path, opened: Project, capsys
):
    (paper / "in-the-way").write_text("a file")
    name_data(paper, "in-the-way/x.csv")
    assert main(["download", "tiny"]) == 2
    assert "'in-the-way/x.csv' cannot be put into the paper's folder" in capsys.readouterr().err
    assert list((paper / "data").iterdir()) == [], "no file, and no part of one"
    (ended,) = (e.content for e in opened.ledger.events("tiny", kinds={"download_finished"}))
    assert ended.files == {} and ended.reason.code == "download_failed"


def test_a_path_may_be_written_in_more_than_one_way(paper: Path):
    name_data(paper, "./more.csv", "data//again.csv")
    assert main(["download", "tiny"]) == 0
    assert (paper / "more.csv").read_text() and (paper / "data" / "again.csv").read_text()


@pytest.mark.parametrize(
    ("left", "why"),
    [
        ("os.symlink('/etc/passwd', target)", "it is no regular file"),
        ("os.mkfifo(target)", "it is no regular file"),
        ("open(out + '/one', 'w').close(); os.link(out + '/one', target)", "it has a second name"),
        ("os.mkdir(target)", None),
        ("os.rmdir(out + '/data'); os.symlink('/work', out + '/data')", None),
    ],
)
def test_what_is_no_plain_file_is_not_taken_and_is_named(paper: Path, capsys, left: str, why):
    begin = "import os, sys\nout = sys.argv[1]\ntarget = out + '/data/points.csv'\n"
    (paper / "code" / "points.csv").write_text("of the code")
    (paper / "code" / "fetch.py").write_text(f"{begin}os.mkdir(out + '/data')\n{left}\n")
    assert main(["download", "tiny"]) == 2
    said = f" that can be taken: {why}." if why else "."
    assert f"It left no file 'data/points.csv'{said}" in capsys.readouterr().err
    assert not (paper / "data").exists()


def test_every_request_of_many_at_once_is_recorded_once(paper: Path, opened: Project, asked):
    many = (
        "import concurrent.futures, pathlib, sys, urllib.error, urllib.request\n"
        "def ask(n):\n"
        "    host = 'data.test' if n % 2 else 'elsewhere.test'\n"
        "    try: urllib.request.urlopen(f'http://{host}/{n}').read()\n"
        "    except urllib.error.HTTPError: pass\n"
        "list(concurrent.futures.ThreadPoolExecutor(24).map(ask, range(48)))\n"
    )
    (paper / "code" / "fetch.py").write_text(many + FETCH)
    assert main(["download", "tiny"]) == 0
    told = [e.content.request for e in opened.ledger.events("tiny", kinds={"egress_asked"})]
    (ended,) = (e.content for e in opened.ledger.events("tiny", kinds={"download_finished"}))
    assert sorted(one.number for one in told) == list(range(1, ended.requests + 1))
    assert sorted(one.path for one in told if one.allowed) == sorted(asked) and len(asked) == 25


def test_a_step_that_asks_too_often_is_said_to(paper: Path, opened: Project, capsys, monkeypatch):
    for module in (egress_proxy, environment_download):
        monkeypatch.setattr(module, "MOST_REQUESTS", 3)
    (paper / "code" / "fetch.py").write_text(
        f"{FETCH}for _ in range(30):\n"
        "    try: urllib.request.urlopen('http://data.test/points.csv').read()\n"
        "    except urllib.error.HTTPError as error: last = error\n"
        "print(last.read().decode())\n"
    )
    assert main(["download", "tiny"]) == 2
    assert "asked 32 times, and may do so 3 times" in capsys.readouterr().err
    (ended,) = (e.content for e in opened.ledger.events("tiny", kinds={"download_finished"}))
    assert b"there were 3 requests" in opened.store.get(ended.log) and ended.files == {}
    recorded = list(opened.ledger.events("tiny", kinds={"egress_asked"}))
    assert ended.requests == 32 and len(recorded) == 3 + 16, "the record is bounded"


def test_without_a_sandbox_nothing_is_downloaded(paper: Path, project: Path, capsys):
    with (project / "repro.yaml").open("a") as config:
        config.write("runner: unsafe_local\n")
    text = (project / "repro.yaml").read_text().replace("runner: bubblewrap", "# ", 1)
    (project / "repro.yaml").write_text(text)
    assert main(["download", "tiny"]) == 3
    assert "network hard" in capsys.readouterr().err
    assert not (paper / "data").exists()


def test_a_paper_that_was_not_read_is_not_downloaded_for(project: Path, capsys):
    folder = project / "papers" / "tiny"
    make_bundle(folder)
    change(folder)
    assert main(["download", "tiny"]) == 2
    assert "was not read yet" in capsys.readouterr().err


def test_a_killed_download_leaves_nothing(paper: Path, project: Path, capsys):
    change(paper, command=["python", "-c", "print('here'); import time; time.sleep(61)"])
    start = [sys.executable, "-m", "repro_pipeline.cli", "download", "tiny"]
    with subprocess.Popen(start, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as command:
        assert b"here" in command.stdout.readline()
        assert running("time.sleep(61)") > 1
        command.kill()
    end = time.monotonic() + 20
    while running("time.sleep(61)") and time.monotonic() < end:
        time.sleep(0.1)
    assert running("time.sleep(61)") == 0
    change(paper)
    assert main(["download", "tiny"]) == 0
    assert not list((project / ".repro" / "scratch" / "tiny").glob("download-*"))
    pattern = f"repro-egress-{command.pid}-*"
    assert not list(Path(tempfile.gettempdir()).glob(pattern))


def running(word: str) -> int:
    """How many processes bear a word in their command line."""
    found = 0
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found += word.encode() in file.read_bytes()
    return found
