"""A ledger in each kind of database that it can live in."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import uuid
from pathlib import Path

import pytest

from resources.ledger_sql import SqlLedger


class Postgres:
    """A real server of its own, on a loopback port, run by an unprivileged user."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        self._user = self._unprivileged() if os.geteuid() == 0 else None
        # A socket's path must be short, and the folder open to that user.
        self.folder = Path(tempfile.mkdtemp(prefix="pg"))
        if self._user:
            shutil.chown(self.folder, self._user)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._run("initdb", "-D", "data", "-U", "ledger", "-A", "trust", "-E", "UTF8", "-N")
        self.start()

    @staticmethod
    def _unprivileged() -> str:
        names = {user.pw_name for user in pwd.getpwall()}
        return "postgres" if "postgres" in names else "nobody"

    def start(self) -> None:
        # No power is lost here, only processes: what the server gave to the kernel is kept.
        options = f"-c listen_addresses=127.0.0.1 -p {self.port} -k {self.folder} -c fsync=off"
        self._run("pg_ctl", "-D", "data", "-l", "log", "-w", "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", "data", "-m", "immediate", "-w", "stop")

    def place(self) -> str:
        """The URL of a new, empty schema: cheaper than a database, and as much apart."""
        name = f"ledger_{uuid.uuid4().hex}"
        server = ("-h", "127.0.0.1", "-p", str(self.port), "-U", "ledger")
        self._run("psql", *server, "-d", "postgres", "-c", f"CREATE SCHEMA {name}")
        path = f"ledger@127.0.0.1:{self.port}/postgres"
        return f"postgresql://{path}?options=-csearch_path%3D{name}"

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self._programs / program), *arguments],
            cwd=self.folder,
            user=self._user,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(self.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stdout


def _programs() -> Path | None:
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((p for p in places if (p / "pg_ctl").exists() and (p / "psql").exists()), None)


@pytest.fixture(scope="session")
def postgres():
    pytest.importorskip("psycopg", reason="psycopg is not installed: no ledger in PostgreSQL")
    programs = _programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed (initdb, pg_ctl, psql)")
    server = Postgres(programs)
    yield server
    server.stop()
    shutil.rmtree(server.folder)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path) -> str:
    """The URL of a ledger that is not there yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    return request.getfixturevalue("postgres").place()


@pytest.fixture
def ledger(url):
    made = SqlLedger(url)
    yield made
    made.close()
