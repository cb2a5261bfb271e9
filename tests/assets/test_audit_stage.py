"""The audit of a paper's packages: a warning in ledger and doctor, or a stop where the project says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repro_pipeline.cli import main
from repro_pipeline.environment.model import BuiltEnvironment
from repro_pipeline.project import Project
from repro_pipeline.stages import latest, output_of
from tests.bundles import make_bundle


@pytest.fixture
def withdrawn(project: Path) -> Path:
    """A paper that wants a version which its authors withdrew."""
    folder = make_bundle(project / "papers" / "tiny")
    (folder / "code" / "requirements.txt").write_text("attrs==21.1.0\n")
    return project


def test_findings_are_warnings(withdrawn: Path, opened: Project, capsys):
    if main(["run", "tiny", "--stage", "environment"]) != 0:
        row = latest(opened, "tiny", "environment")
        if row and row.reason and "cannot be reached" in row.reason.sentence:
            pytest.skip(f"no package index: {row.reason.sentence}")
        pytest.fail(str(row))
    built = output_of(opened, latest(opened, "tiny", "environment"), BuiltEnvironment)
    assert [(one.kind, one.package) for one in built.findings] == [("yanked", "attrs")]
    told = [e.content for e in opened.ledger.events("tiny", kinds={"warning_recorded"})]
    assert [one.code for one in told if one.stage == "environment"] == ["audit_yanked"]
    capsys.readouterr()
    main(["doctor", "--json"])
    found = {one["subject"]: one for one in map(json.loads, capsys.readouterr().out.splitlines())}
    assert found["packages of tiny"]["state"] == "warning"
    assert "attrs 21.1.0 was withdrawn" in found["packages of tiny"]["sentence"]
    assert "20 advisories of 20" in found["advisories"]["sentence"]


def test_a_project_can_block_them(withdrawn: Path, opened: Project):
    with (withdrawn / "repro.yaml").open("a") as config:
        config.write("audit: {block: [yanked]}\n")
    assert main(["run", "tiny", "--stage", "environment"]) != 0
    row = latest(opened, "tiny", "environment")
    assert row.reason.code == "environment_failed"
    assert "attrs 21.1.0 was withdrawn" in row.reason.sentence
