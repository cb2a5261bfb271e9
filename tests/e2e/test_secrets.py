"""Keys that are planted in the environment, looked for in everything that a project leaves."""

from __future__ import annotations

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.bundles import make_bundle

KEYS = {
    "OPENAI_API_KEY": "sk-planted0123456789abcdefghij",
    "SOME_SERVICE_TOKEN": "plantedwithoutanyform99",  # nothing but its name tells
}
PROGRAM = "import os\nprint(dict(os.environ))\nopen('/proc/1/environ').read()\n"


class Tells(BaseHTTPRequestHandler):
    """A model's server that refuses, and tells the key that it was given, as some do."""

    asked: list[str] = []

    def do_POST(self) -> None:
        given = self.headers["Authorization"].removeprefix("Bearer ")
        self.asked.append(given)
        said = f"Incorrect API key provided: {given}, not {KEYS['SOME_SERVICE_TOKEN']}"
        body = json.dumps({"error": {"message": said, "code": "invalid_api_key"}}).encode()
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        return


@pytest.fixture
def model() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Tells)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


def repro(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "repro_pipeline.cli", *arguments],
        env={**os.environ, **KEYS},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=500,
    )
    return done.stdout


def leaks(root: Path, words: list[str]) -> list[str]:
    """The files below a folder, compressed ones too, that hold one of the words."""
    found = []
    for path in root.rglob("*"):
        if path.is_file() and "environments" not in path.parts:
            content = path.read_bytes()
            if path.suffix == ".gz":
                content = gzip.decompress(content)
            found += [f"{path}: {word}" for word in words if word.encode() in content]
    return found


def test_planted_keys_are_nowhere_in_what_a_project_leaves(project: Path, model: str):
    given = make_bundle(project / "papers" / "tiny")
    code = given / "code" / "experiment.py"
    code.write_text(PROGRAM.replace("/proc/1/environ", "/dev/null") + code.read_text())
    (make_bundle(project / "papers" / "written") / "code" / "experiment.py").unlink()
    with (project / "repro.yaml").open("a") as config:
        config.write(f"models:\n  coder: {{model: openai/test, api_base: '{model}'}}\n")
    said = repro("run", "tiny")
    said += repro("run", "tiny", "--agent")
    said += repro("doctor", "--ask-models")
    assert KEYS["OPENAI_API_KEY"] in Tells.asked, "the model was asked with the key"
    words = list(KEYS.values())
    assert [word for word in words if word in said] == []
    assert leaks(project, words) == []
    # The search finds what is there.
    assert leaks(project, ["noisy-plain"]) != []
    (project / "reports" / "planted").write_text(words[0])
    assert len(leaks(project, words)) == 1


def test_the_read_only_page_lets_nothing_be_launched(project: Path, repro):
    make_bundle(project / "papers" / "tiny")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = repro("ui", "--read-only", "--port", str(port))

    def ask(query: str) -> dict:
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/graphql",
            json.dumps({"query": query}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["data"]

    while True:
        assert process.poll() is None, process.stdout.read()
        try:
            ask("{ version }")
            break
        except OSError:
            time.sleep(0.5)
    permissions = ask("{ permissions { permission value } }")["permissions"]
    granted = {one["permission"] for one in permissions if one["value"]}
    assert permissions and granted == set()
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
