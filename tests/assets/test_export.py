"""Exports run again what they say, pass the official validator, and hold nothing that is private."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pandas as pd
import pytest
from uv import find_uv_bin

from repro_pipeline.cli import main
from repro_pipeline.errors import BundleError, UserError
from repro_pipeline.report.export.capsule import write_capsule
from repro_pipeline.report.export.material import gather
from repro_pipeline.report.export.paperbench import write_paperbench
from repro_pipeline.report.export.ro_crate import METADATA, write_ro_crate
from resources.opening import open_project
from tests.bundles import make_bundle
from tests.conftest import ROOT

VALIDATOR = ("roc-validator==0.13.0", "rocrate==0.16.0")
SECRET, HIDDEN = "Erika-Mustermann", "ward-seven"
"""A word of a private row, and one of the name of its file."""
LEAKY = f'''"""Reads private rows, prints them, leaves them, and quotes one when it fails."""
import argparse, json, pathlib

parser = argparse.ArgumentParser()
for name in ("--config", "--seed", "--out"):
    parser.add_argument(name, required=True)
options = parser.parse_args()
rows = pathlib.Path(json.loads(pathlib.Path(options.config).read_text())["data"]["patients"]).read_text()
out = pathlib.Path(options.out)
print(rows)
(out / "artifacts").mkdir()
(out / "artifacts" / "model.txt").write_text(rows)
if options.seed == "2":
    raise ValueError("cannot read the row of {SECRET[:5]}" + rows.split()[1][5:])
metrics = [{{"claim": "noisy-plain", "value": 10.0}}, {{"claim": "noisy-shrunk", "value": 20.0}}]
(out / "metrics.json").write_text(json.dumps({{"metrics": metrics, "notes": rows}}))
'''


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, environments: Path) -> Iterator[Path]:
    """A project with three papers that were run: one well, one with failures, one on private data."""
    root = tmp_path_factory.mktemp("exports") / "project"
    with pytest.MonkeyPatch.context() as patch, dg.DagsterInstance.ephemeral() as instance:
        assert main(["init", str(root)]) == 0
        (root / ".repro" / "environments").symlink_to(environments)
        patch.setenv("REPRO_PROJECT", str(root))
        patch.setattr("repro_pipeline.commands.opening.instance_of", lambda _: instance)
        make_bundle(root / "papers" / "tiny", seeds=[1, 2])
        make_bundle(root / "papers" / "half", behaviour="half", seeds=[1, 2])
        data = {"name": "patients", "path": f"data/{HIDDEN}.csv", "private": True}
        private = make_bundle(root / "papers" / "private", data=[data], seeds=[1, 2])
        (private / "data").mkdir()
        for copy in (private / "data" / f"{HIDDEN}.csv", private / "code" / "copy.csv"):
            copy.write_text(f"name\n{SECRET}\n")
        (private / "code" / "link.csv").symlink_to("copy.csv")
        (private / "code" / "experiment.py").write_text(LEAKY)
        main(["run", "--all"])
        yield root


@pytest.fixture
def ready(finished: Path, monkeypatch: pytest.MonkeyPatch):
    """The project of the finished papers, as this folder's."""
    monkeypatch.setenv("REPRO_PROJECT", str(finished))
    return open_project(finished)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """An empty folder; beside it lies the project that the suite makes for every test."""
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


def called(command: list, **how: object) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, check=False, **how)


def rerun(folder: Path, *seeds: str) -> subprocess.CompletedProcess:
    return called([sys.executable, "reproduce.py", *seeds], cwd=folder)


def test_a_capsule_runs_again_and_gives_the_same_bits(ready, place: Path, capsys):
    out = place / "capsule"
    given = place / "x" / ".." / "capsule"
    assert main(["export", "tiny", "--format", "capsule", "--out", str(given)]) == 0
    said = capsys.readouterr().out
    assert "The paper's own text is not in here." in said and said.splitlines()[-1] == str(out)
    assert {p.name for p in out.iterdir() if p.is_dir()} == {
        *("code", "data", "environment", "results")
    }
    path = f"{Path(find_uv_bin()).parent}{os.pathsep}{os.environ['PATH']}"
    done = called(["./reproduce.sh"], cwd=out, env={**os.environ, "PATH": path})
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("as recorded") == 4
    metrics = json.loads((out / "results/noisy/2/metrics.json").read_text())["metrics"]
    changed = out / "code" / "config.json"
    changed.write_text("{}")  # the plan holds the configuration that was run
    plan = json.loads((out / "environment/runs.json").read_text())
    plan["experiments"][0]["config"]["scale"] = 2
    (out / "environment/runs.json").write_text(json.dumps(plan))
    other = rerun(out, "2")
    assert f"recorded {metrics[0]['value']!r}" in other.stdout and "as recorded" not in other.stdout


def test_a_run_that_fails_again_is_told_and_shown_in_the_exit_status(ready, place: Path):
    write_capsule(gather(ready, "half"), place)
    done = rerun(place)
    assert done.returncode == 1
    assert done.stdout.count("noisy-shrunk: FAILED, no value") == 2
    assert "2 runs FAILED." in done.stdout
    assert rerun(place, "x").returncode == 2


def test_the_script_beside_the_report_stops_at_other_code(ready, finished: Path, place: Path):
    script = (finished / "reports/tiny/reproduce.sh").read_text()
    bin_ = place / "bin"
    bin_.mkdir()
    (bin_ / "repro").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m repro_pipeline.cli "$@"\n')
    (bin_ / "repro").chmod(0o755)
    variables = {"PATH": f"{bin_}:/usr/bin:/bin", "REPRO_PROJECT": str(finished), "HOME": "/tmp"}

    def started(text: str, name: str) -> subprocess.CompletedProcess:
        (place / name).write_text(text)
        command = ["sh", str(place / name), str(place / f"{name}-out"), "1"]
        return called(command, cwd=ROOT, env=variables)

    good = started(script, "good")
    assert good.returncode == 0 and good.stdout.count("as recorded") == 2, good.stderr
    code = gather(ready, "tiny").report.evidence.code_tree
    bad = started(script.replace(code, "0" * 64), "bad")
    assert bad.returncode == 1 and "The project has gone on" in bad.stderr


def test_a_submission_is_a_commit_that_runs_and_holds_no_result(ready, place: Path):
    folder = place / "submission"
    folder.mkdir()
    write_paperbench(gather(ready, "tiny"), folder)
    clone = place / "clone"
    subprocess.run(["git", "clone", "--quiet", str(folder), str(clone)], check=True)
    assert not (clone / "results").exists()
    assert json.loads((clone / "environment/runs.json").read_text())["values"] == {}
    assert (clone / "reproduce.sh").stat().st_mode & 0o100
    done = rerun(clone, "1")
    assert done.returncode == 0 and "none on record" in done.stdout
    again = place / "again"
    again.mkdir()
    write_paperbench(gather(ready, "tiny"), again)
    heads = [
        subprocess.check_output(["git", "-C", str(one), "rev-parse", "HEAD"])
        for one in (folder, again)
    ]
    assert heads[0] == heads[1]


def test_a_submission_that_is_too_large_is_refused(ready, place: Path):
    with pytest.raises(UserError, match=r"has [\d,]+ bytes, and PaperBench takes 1,000"):
        write_paperbench(gather(ready, "tiny"), place, limit=1000)
    assert not (place / ".git").exists()


@pytest.mark.parametrize("paper", ["tiny", "half", "private"])
def test_the_official_validator_finds_nothing_required_missing(ready, place: Path, paper: str):
    crate = place / "crate"
    crate.mkdir()
    write_ro_crate(gather(ready, paper), crate)
    script = ROOT / "tests/unit/report/validate_crate.py"
    with_ = [word for package in VALIDATOR for word in ("--with", package)]
    command = [find_uv_bin(), "run", "--quiet", "--no-project", "--isolated", *with_]
    command += ["--python", sys.executable, "python"]
    if called([*command, "-c", "import rocrate_validator"]).returncode:
        pytest.skip(f"{' and '.join(VALIDATOR)} cannot be installed here")
    done = called([*command, str(script), str(crate)])
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["checks"] > 60 and found["issues"] == []
    metadata = json.loads((crate / METADATA).read_text())
    (root,) = [one for one in metadata["@graph"] if one["@id"] == "./"]
    del root["license"]
    (crate / METADATA).write_text(json.dumps(metadata))
    worse = called([*command, str(script), str(crate)])
    assert any("license" in one for one in json.loads(worse.stdout.splitlines()[-1])["issues"])


def test_a_crate_holds_every_attempt_and_names_only_files_that_are_there(ready, place: Path):
    write_ro_crate(gather(ready, "half"), place)
    graph = json.loads((place / METADATA).read_text())["@graph"]
    ids = [one["@id"] for one in graph]
    assert len(ids) == len(set(ids))
    files = [one for one in graph if "File" in one["@type"]]
    assert all((place / one["@id"]).stat().st_size == int(one["contentSize"]) for one in files)
    actions = [one for one in graph if one["@type"] == "CreateAction" and "error" in one]
    assert len(actions) == 2
    assert {one["actionStatus"] for one in actions} == {"http://schema.org/FailedActionStatus"}

    def named(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            yield from [value["@id"]] if set(value) == {"@id"} else ()
            for item in value.values():
                yield from named(item)
        elif isinstance(value, list):
            for item in value:
                yield from named(item)

    outside = {"https://w3id.org/ro/crate/1.1"}
    assert {name for one in graph for name in named(one)} - outside <= set(ids)


def text_of(folder: Path) -> str:
    """All that a folder holds, names of files included, Parquet unpacked."""
    parts = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        parts.append(path.relative_to(folder).as_posix())
        if path.suffix == ".parquet":
            parts.append(pd.read_parquet(path).to_csv())
        else:
            parts.append(path.read_bytes().decode("utf-8", errors="replace"))
    return "\n".join(parts)


@pytest.mark.parametrize("write", [write_capsule, write_paperbench, write_ro_crate])
def test_private_data_never_leave(ready, place: Path, write):
    material = gather(ready, "private")
    write(material, place)
    said = text_of(place)
    assert SECRET not in said and HIDDEN not in said
    assert material.left_out == ("copy.csv", "link.csv")
    assert "2 files of `code/` are left out" in said
    done = rerun(place)
    assert done.returncode == 2
    assert "The input 'patients' is private and was not exported" in done.stderr
    (place / "data" / "patients").write_text(f"name\n{SECRET}\n")
    assert "recorded" in rerun(place, "1").stdout or write is write_paperbench
    (place / "data" / "patients").write_text("name\nanother\n")
    assert "is not the input that was used" in rerun(place, "1").stderr


def test_reports_quote_nothing_of_runs_on_private_data(ready, finished: Path):
    stored = b"".join(
        ready.store.get(one.log) for one in gather(ready, "private").report.attempts if one.log
    )
    assert SECRET.encode() in stored, "the runs did not print it, so nothing is tested"
    said = text_of(finished / "reports" / "private")
    assert SECRET not in said and HIDDEN not in said
    assert "withheld: it may quote private data" in said
    board = "\n".join(path.read_text() for path in (finished / "reports").glob("score*.[hc]*"))
    assert SECRET not in board


def test_what_cannot_be_exported_is_said(ready, finished: Path, place: Path, capsys):
    make_bundle(finished / "papers" / "young")
    with pytest.raises(BundleError, match="there is no report of 'young'"):
        gather(ready, "young")
    (place / "file").write_text("mine")
    assert main(["export", "tiny", "--format", "capsule", "--out", str(place)]) == 2
    assert "nothing is overwritten" in capsys.readouterr().err
    assert [path.name for path in place.iterdir()] == ["file"]
