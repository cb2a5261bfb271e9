"""What `repro doctor` says beyond the sandboxes."""

from __future__ import annotations

import json

import pytest

from repro_pipeline.cli import main
from repro_pipeline.commands import doctor


def findings(capsys: pytest.CaptureFixture, *arguments: str) -> dict[str, dict]:
    main(["doctor", "--json", *arguments])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {line["subject"]: line for line in lines if "subject" in line}


@pytest.fixture(autouse=True)
def no_runners(monkeypatch):
    monkeypatch.setattr(doctor, "_runners", lambda config: iter(()))


def test_a_healthy_project(project, capsys):
    found = findings(capsys)
    assert found["versions"]["state"] == found["Dagster"]["state"] == "ok"
    assert "telemetry off" in found["Dagster"]["sentence"]


def test_packages_of_dagster_that_do_not_pair_are_a_fault(project, capsys, monkeypatch):
    real = doctor.version
    monkeypatch.setattr(
        doctor, "version", lambda name: "0.11.14" if name == "dagster-docker" else real(name)
    )
    found = findings(capsys)["versions"]
    assert found["state"] == "fault" and "dagster-docker 0.11.14" in found["sentence"]


def test_an_instance_that_cannot_be_read_is_a_fault_with_its_mending(project, capsys):
    folder = project / ".repro" / "dagster" / "history"
    folder.mkdir(parents=True)
    (folder / "runs.db").write_bytes(b"no database at all, whatever its name says" * 100)
    found = findings(capsys)["Dagster"]
    assert found["state"] == "fault" and "instance migrate" in found["sentence"]


def test_a_model_without_a_key_is_a_fault_when_asked(project, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with (project / "repro.yaml").open("a") as config:
        config.write("models:\n  coder: {model: openai/x, api_base: 'http://127.0.0.1:9/v1'}\n")
    assert findings(capsys)["model coder"]["state"] == "ok"
    assert findings(capsys, "--ask-models")["model coder"]["state"] == "fault"
