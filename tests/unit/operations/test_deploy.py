"""The files in deploy/: read by Dagster itself and by Docker's own parser, and agreeing with one another."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT

DEPLOY = ROOT / "deploy"
GIVEN = {"POSTGRES_PASSWORD": "p", "STORE_KEY_ID": "i", "STORE_KEY": "k"}


def compose() -> dict:
    return yaml.safe_load((DEPLOY / "docker-compose.yaml").read_text())


def test_dagster_takes_both_instances(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from dagster._core.instance.config import dagster_instance_config

    for source in (DEPLOY / "dagster.yaml", ROOT / "repro_pipeline/templates/dagster.yaml"):
        shutil.copyfile(source, tmp_path / "dagster.yaml")
        config, _ = dagster_instance_config(str(tmp_path))
        assert config["telemetry"] == {"enabled": False}
        assert config["run_monitoring"]["max_resume_run_attempts"] == 0


def test_the_launcher_takes_its_configuration():
    from dagster._config import validate_config
    from dagster_docker import DockerRunLauncher

    launcher = yaml.safe_load((DEPLOY / "dagster.yaml").read_text())["run_launcher"]
    assert (launcher["module"], launcher["class"]) == ("dagster_docker", "DockerRunLauncher")
    result = validate_config(DockerRunLauncher.config_type(), launcher["config"])
    assert result.success, result.errors


def test_both_instances_queue_and_watch_in_the_same_way():
    shipped = yaml.safe_load((DEPLOY / "dagster.yaml").read_text())
    local = yaml.safe_load((ROOT / "repro_pipeline/templates/dagster.yaml").read_text())
    for part in ("telemetry", "nux", "compute_logs", "concurrency", "run_monitoring", "retention"):
        assert shipped[part] == local[part], part


def test_what_a_launch_is_given_is_there_to_give():
    """The launcher passes variables on by name: one that the daemon lacks would stop every launch."""
    text = (DEPLOY / "dagster.yaml").read_text()
    launcher = yaml.safe_load(text)["run_launcher"]["config"]
    wanted = {*launcher["env_vars"], *re.findall(r"env: (\w+)", text)}
    assert wanted <= set(compose()["services"]["daemon"]["environment"])


def test_a_launch_sees_the_project_where_the_host_has_it():
    launcher = yaml.safe_load((DEPLOY / "dagster.yaml").read_text())["run_launcher"]["config"]
    daemon = compose()["services"]["daemon"]
    project = daemon["environment"]["REPRO_PROJECT"]
    kwargs = launcher["container_kwargs"]
    for volumes in (kwargs["volumes"], daemon["volumes"]):
        assert f"{project}:{project}" in volumes
    assert kwargs["group_add"] == daemon["group_add"]
    assert "{env" not in str(kwargs), "Dagster fills in no variable there"


def test_the_image_runs_whole_commands():
    """Dagster's launchers, and its Helm chart, give `dagster api …`: an entry point would swallow it."""
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert not any(line.startswith("ENTRYPOINT") for line in lines)
    services = compose()["services"]
    for name in ("code", "webserver", "daemon"):
        assert services[name]["command"][0].startswith("dagster"), name
        assert "entrypoint" not in services[name]


def test_what_the_image_copies_reaches_the_engine():
    """.dockerignore lets in what the Dockerfile copies, and nothing else."""
    copied = re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    let_in = {line[1:] for line in ignored if line.startswith("!")}
    assert let_in == set(" ".join(copied).split())
    assert all((ROOT / name).exists() for name in let_in)


def test_commands_and_services_have_one_instance():
    """`repro` keeps its instance in the project: what it registers must be what the daemon sees."""
    for name in ("code", "webserver", "daemon"):
        given = compose()["services"][name]["environment"]
        assert given["DAGSTER_HOME"] == f"{given['REPRO_PROJECT']}/.repro/dagster"
        assert given["TMPDIR"].startswith(given["REPRO_PROJECT"])


def test_only_the_webserver_is_reached_and_from_this_machine_alone():
    ports = {name: one.get("ports", []) for name, one in compose()["services"].items()}
    assert ports.pop("webserver") == ["127.0.0.1:3000:3000"]
    assert not any(ports.values())
    sockets = [
        name
        for name, one in compose()["services"].items()
        if any("docker.sock" in str(volume) for volume in one.get("volumes", []))
    ]
    assert sockets == ["daemon"]


def test_no_value_of_a_secret_stands_in_a_file():
    for path in DEPLOY.rglob("*.yaml"):
        for line in path.read_text().splitlines():
            if re.search(r"(?i)(password|secret|_key)\w*:\s*\S", line) and "#" not in line[:4]:
                assert re.search(r"\$\{|\{env:|secretKeyRef|secretName|Secret", line), (path, line)


def test_docker_compose_reads_the_file():
    program = next(
        (
            [*words]
            for words in (("docker", "compose"), ("docker-compose",))
            if shutil.which(words[0])
            and subprocess.run([*words, "version"], capture_output=True, check=False).returncode
            == 0
        ),
        None,
    )
    if program is None:
        pytest.skip("no docker compose (Debian: apt-get install docker-compose)")
    done = subprocess.run(
        [*program, "-f", str(DEPLOY / "docker-compose.yaml"), "config"],
        env={**os.environ, **GIVEN},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    services = yaml.safe_load(done.stdout)["services"]
    assert set(services) >= {"code", "webserver", "daemon", "postgres", "store"}
    without = subprocess.run(
        [*program, "-f", str(DEPLOY / "docker-compose.yaml"), "config"],
        env={key: value for key, value in os.environ.items() if key not in GIVEN},
        capture_output=True,
        text=True,
        check=False,
    )
    assert without.returncode != 0 and "secrets.env" in without.stderr
