"""A paper through what deploy/ ships: Dagster and ledger in PostgreSQL, artifacts in an object store, the
code location in a container, each launch in a container of its own by Dagster's DockerRunLauncher, the
experiments in containers beside it.

The image is the smallest one of this distribution, which sees this checkout and its environment.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from repro_pipeline.ledger.chain import verify_chain
from repro_pipeline.scoring.model import Scores
from repro_pipeline.stage_names import STAGES
from repro_pipeline.stages import latest, output_of
from resources.docker_engine import connect
from resources.opening import open_project
from tests.bundles import make_bundle
from tests.conftest import ROOT
from tests.docker_engine import Engine, running_engine
from tests.e2e.test_ui import Server, launch
from tests.unit.ledger.conftest import Postgres, postgres  # noqa: F401 (a fixture)
from tests.unit.store.test_s3 import server as s3  # noqa: F401 (a fixture)

pytestmark = pytest.mark.timeout(1200)
DEPLOY = ROOT / "deploy"


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    pytest.importorskip("dagster_docker", reason="dagster-docker is not installed")
    with running_engine() as engine:
        yield engine


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture
def deployed(
    project: Path,
    engine: Engine,
    postgres: Postgres,  # noqa: F811
    s3: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Server]:
    """The services of the compose file, on loopback; the configuration is the one that ships."""
    given = {
        "PGHOST": "127.0.0.1",
        "PGPASSWORD": "none-is-asked-for",
        "AWS_ENDPOINT_URL": s3,
        "AWS_ACCESS_KEY_ID": "someone",
        "AWS_SECRET_ACCESS_KEY": "unchecked",
        "AWS_DEFAULT_REGION": "us-east-1",
        "OPENAI_API_KEY": "",
        "REPRO_PROJECT": str(project),
        "TMPDIR": str(project / ".repro" / "tmp"),
        "DOCKER_HOST": engine.host,
        "DAGSTER_HOME": str(project / ".repro" / "dagster"),
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    (project / ".repro" / "tmp").mkdir()
    configure(project, engine, postgres)
    make_bundle(project / "papers" / "tiny")
    client = connect(engine.host)
    port, page = free_port(), free_port()
    command = ["dagster", "api", "grpc", "-m", "repro_pipeline.code_location"]
    code = client.containers.run(
        engine.image,
        [*command, "-h", "127.0.0.1", "-p", str(port)],
        detach=True,
        environment={**given, **inside(), "DAGSTER_CURRENT_IMAGE": engine.image},
        network_mode="host",
        volumes=volumes(project),
        working_dir=str(project),
        init=True,
    )
    workspace = project / "workspace.yaml"
    location = {"host": "127.0.0.1", "port": port, "location_name": "repro_pipeline"}
    workspace.write_text(yaml.safe_dump({"load_from": [{"grpc_server": location}]}))
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", *words, "-w", str(workspace)],
            stdout=(project / f"{words[0]}.log").open("w"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        for words in (
            ["dagster_webserver", "-h", "127.0.0.1", "-p", str(page)],
            ["dagster._daemon", "run"],
        )
    ]
    try:
        running = Server(f"http://127.0.0.1:{page}")
        wait_until_loaded(running, processes, code, project)
        yield running
    finally:
        for process in processes:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)
        code.remove(force=True)
        for left in client.containers.list(all=True, filters={"label": "dagster/run_id"}):
            left.remove(force=True)
        client.close()


def inside() -> dict[str, str]:
    """Where a container finds the programs."""
    return {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin:/usr/sbin:/sbin"}


def volumes(project: Path) -> list[str]:
    read_only = {
        ROOT,
        Path(sys.prefix),
        Path(sys.base_prefix),
        Path(sys.executable).resolve().parents[1],
    }
    return [*(f"{path}:{path}:ro" for path in sorted(read_only)), f"{project}:{project}"]


def configure(project: Path, engine: Engine, database: Postgres) -> None:
    """The instance that ships, with this test's places in it; ledger and store as docs/deploy.md says."""
    shipped = yaml.safe_load((DEPLOY / "dagster.yaml").read_text())
    shipped["storage"]["postgres"]["postgres_db"] |= {
        "port": database.port,
        "username": "ledger",
        "db_name": "postgres",
    }
    launcher = shipped["run_launcher"]["config"]
    launcher["network"] = "host"
    launcher["env_vars"] += [f"{name}={value}" for name, value in inside().items()]
    socket_file = engine.host.removeprefix("unix://")
    launcher["env_vars"] += ["DOCKER_HOST"]
    launcher["container_kwargs"]["volumes"] = [
        *volumes(project),
        f"{socket_file}:{socket_file}",
    ]
    launcher["container_kwargs"]["working_dir"] = str(project)
    (project / ".repro" / "dagster" / "dagster.yaml").write_text(yaml.safe_dump(shipped))
    text = (project / "repro.yaml").read_text()
    for before, after in (
        (
            "ledger: sqlite:///.repro/ledger.sqlite",
            f"ledger: postgresql+psycopg://ledger@127.0.0.1:{database.port}/postgres",
        ),
        ("store: .repro/store ", "store: s3://repro/store "),
        ("runner: bubblewrap ", f"docker: {{base: '{engine.image}'}}\nrunner: docker "),
    ):
        assert before in text
        text = text.replace(before, after)
    (project / "repro.yaml").write_text(text)
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    s3fs.S3FileSystem().makedirs("repro", exist_ok=True)


def wait_until_loaded(server: Server, processes: list, code, project: Path) -> None:
    query = "{ repositoriesOrError { ... on RepositoryConnection { nodes { name } } } }"
    until = time.monotonic() + 300
    while True:
        code.reload()
        logs = [path.read_text()[-3000:] for path in project.glob("*.log")]
        alive = code.status == "running" and all(p.poll() is None for p in processes)
        assert alive and time.monotonic() < until, [code.logs().decode()[-3000:], *logs]
        try:
            if server.ask(query)["repositoriesOrError"].get("nodes"):
                return
        except OSError:
            pass
        time.sleep(1)


def test_a_paper_is_reproduced_by_launches_in_containers(deployed: Server, project: Path):
    from assets.watch import register_papers
    from repro_pipeline.commands.opening import instance_of

    opened = open_project(project)
    register_papers(instance_of(opened), opened)
    assert launch(deployed, "reproduce_paper", "tiny") == "SUCCESS", logs(project)
    scores = output_of(opened, latest(opened, "tiny", "scores"), Scores)
    ends = [latest(opened, "tiny", stage) for stage in STAGES]
    assert scores.headline.startswith("2 of 2"), [row.reason for row in ends if row.reason]
    assert verify_chain("tiny", list(opened.ledger.stored("tiny"))) == ()
    assert not (project / ".repro" / "ledger.sqlite").exists()
    assert not (project / ".repro" / "store").exists()
    ended = [e.content for e in opened.ledger.events("tiny", kinds={"attempt_finished"})]
    assert {event.attempt.runner for event in ended} == {"docker"}
    client = connect(os.environ["DOCKER_HOST"])
    try:
        until = time.monotonic() + 120
        while client.containers.list(all=True, filters={"label": "dagster/run_id"}):
            assert time.monotonic() < until, "a launch's container was left"
            time.sleep(0.5)
    finally:
        client.close()


def logs(project: Path) -> str:
    return "\n".join(path.read_text()[-4000:] for path in project.glob("*.log"))
