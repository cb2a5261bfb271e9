"""Nothing is sent anywhere: no telemetry, no look for updates, by this project or by a library of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.bundles import make_bundle

WATCHED = """
import sys
def watch(event, arguments):
    if event == "socket.getaddrinfo":
        print("LOOKED UP", arguments[0], file=sys.stderr)
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        print("CONNECTED", arguments[1], file=sys.stderr)
sys.addaudithook(watch)
"""
RUN = "from repro_pipeline.cli import main\nmain(['run', 'tiny'])\nmain(['doctor'])\n"
LIBRARIES = """
import os
from repro_pipeline.config import Roles
from resources.chat_litellm import LiteLlmChat
from repro_pipeline.config import Role
LiteLlmChat(Roles(coder=Role(model="openai/gpt-4.1"))).info("coder")
import litellm, dagster_webserver, dagster_postgres, dagster_docker, uv, fsspec, matplotlib.pyplot
"""


def told(program: str) -> str:
    """What a program says that is watched; telemetry is not switched off by its environment."""
    plain = {k: v for k, v in os.environ.items() if "TELEMETRY" not in k and "LITELLM" not in k}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED + program],
        env=plain,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_a_run_and_a_check_of_the_machine_connect_to_nobody(project: Path):
    make_bundle(project / "papers" / "tiny")
    said = told(RUN)
    assert "CONNECTED" not in said and "LOOKED UP" not in said, said


def test_the_libraries_connect_to_nobody_when_they_are_loaded(project: Path):
    said = told(LIBRARIES)
    assert "CONNECTED" not in said and "LOOKED UP" not in said, said


def test_the_watch_sees_a_connection():
    said = told(
        "import socket\nfor try_ in [1]:\n"
        "    s = socket.socket(); s.settimeout(1)\n"
        "    try: s.connect(('127.0.0.1', 9))\n"
        "    except OSError: pass\n"
    )
    assert "CONNECTED" in said
