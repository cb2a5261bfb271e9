"""Sweeps: fresh seeds, the paper's own results untouched, every sweep on record and in the report."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import dagster as dg
import pytest
import yaml

from assets.sweeps import sweep_schedules
from assets.watch import register_papers
from repro_pipeline.cli import main
from repro_pipeline.commands import opening
from repro_pipeline.config import ProjectConfig
from repro_pipeline.errors import UserError
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.ledger.chain import verify_chain
from repro_pipeline.ledger.events import PROJECT_CHAIN
from repro_pipeline.ledger.projections import attempts
from repro_pipeline.scoring.history import scorings
from repro_pipeline.scoring.model import Scores
from repro_pipeline.stages import latest, output_of
from repro_pipeline.sweeps.model import SweepResult
from repro_pipeline.sweeps.run import begin_sweep, check_begun, command_of
from repro_pipeline.sweeps.trend import swept, trend_of
from resources.project import ProjectResource, _open
from tests.bundles import make_bundle


@pytest.fixture
def reproduced(project, opened, capsys):
    make_bundle(project / "papers" / "tiny", noise=0.05)
    assert main(["run", "tiny"]) == 0
    capsys.readouterr()
    return opened


def attempts_of_sweeps(opened) -> list:
    return [a for a in attempts(opened.ledger.events("tiny")) if a.purpose == "sweep"]


def result_of(opened, number: int) -> SweepResult:
    row = next(row for _, row in swept(opened, "tiny") if row.number == number)
    return SweepResult.model_validate_json(opened.store.get(row.result))


def test_sweeps_run_fresh_seeds_and_leave_the_reproduction_as_it_is(project, reproduced, capsys):
    opened = reproduced
    standing = {
        name: latest(opened, "tiny", name) for name in ("scores", "experiment_ledger", "baseline")
    }
    assert main(["sweep", "tiny"]) == 0
    assert "2 of 2 claims as before." in capsys.readouterr().out
    assert main(["sweep", "--all", "--fresh-dependencies"]) == 0
    assert "resolve to the same packages as before" in capsys.readouterr().out

    first, second = result_of(opened, 1), result_of(opened, 2)
    own = {1, 2, 3}
    seeds = [set(first.seeds), set(second.seeds)]
    assert all(len(s) == 3 for s in seeds) and not (seeds[0] & seeds[1]) and not (own & seeds[0])
    assert {run.purpose for run in first.runs} == {"sweep"} and len(first.runs) == 3
    assert not first.fresh_dependencies and second.fresh_dependencies

    assert main(["run", "tiny"]) == 0  # nothing of it is stale, and nothing is scored anew
    assert {name: latest(opened, "tiny", name) for name in standing} == standing
    assert len(scorings(opened, "tiny")) == 1

    scores = output_of(opened, latest(opened, "tiny", "scores"), Scores)
    trend = trend_of(opened, "tiny", scores)
    labels = ["reproduction", "sweep 1", "sweep 2, new packages"]
    assert [p.label for p in trend.claims[0].points] == labels
    report = json.loads((project / "reports" / "tiny" / "report.json").read_text())
    assert [row["number"] for row in report["trend"]["sweeps"]] == [1, 2]
    page = (project / "reports" / "tiny" / "report.html").read_text()
    assert "sweep 2, new packages" in page and "<svg" in page
    assert verify_chain(PROJECT_CHAIN, opened.ledger.events(PROJECT_CHAIN)) == ()

    made = opening.instance_of(opened).fetch_materializations(dg.AssetKey("sweep"), limit=1).records
    shown = made[0].asset_materialization.metadata
    assert {"comparison", "trend", "trend of the claims", "value of noisy-plain"} <= set(shown)


def test_a_sweep_of_a_paper_that_is_not_reproduced_is_refused(project, capsys):
    make_bundle(project / "papers" / "fresh")
    assert main(["sweep", "fresh"]) == 2
    assert "Reproduce it first" in capsys.readouterr().err


def test_a_sweep_that_finds_its_code_changed_since_says_so(
    project, reproduced, monkeypatch, capsys
):
    """Drift for real: the code takes something from outside, which is otherwise now."""
    from repro_pipeline.sweeps import run as sweeping

    plain = sweeping.plan

    def scaled(setting, experiments, seeds, purpose):
        other = [e.model_copy(update={"config": {**e.config, "scale": 2.0}}) for e in experiments]
        return plain(setting, other, seeds, purpose)

    monkeypatch.setattr(sweeping, "plan", scaled)
    assert main(["sweep", "tiny"]) == 0
    ((_, row),) = swept(reproduced, "tiny")
    assert set(row.changed) == {"noisy-plain", "noisy-shrunk"}
    compared = result_of(reproduced, 1).comparisons
    assert {c.because for c in compared} == {"unexplained"}
    assert "Reproduced before, now not reproduced." in compared[0].sentence


def test_a_sweep_is_of_the_code_that_was_scored_not_of_a_later_one(project, reproduced, capsys):
    """Code edited and frozen since, or edited only, is no drift of the reproduction."""
    code = project / "papers" / "tiny" / "code"
    was = output_of(reproduced, latest(reproduced, "tiny", "implementation"), Implementation)
    (code / "config.json").write_text('{"scale": 2.0, "noise": 0.05}')
    assert main(["run", "tiny", "--stage", "implementation"]) == 0
    now = output_of(reproduced, latest(reproduced, "tiny", "implementation"), Implementation)
    assert was.code_tree != now.code_tree
    (code / "requirements.txt").write_text("idna==3.6\n")
    capsys.readouterr()
    assert main(["sweep", "tiny", "--fresh-dependencies"]) == 0
    assert "2 of 2 claims as before." in capsys.readouterr().out
    assert result_of(reproduced, 1).packages == ()


def test_a_sweep_that_was_killed_stays_in_the_report_and_its_seeds_are_used_once(
    project, reproduced, capsys
):
    begin_sweep(reproduced, ["tiny"], fresh_dependencies=False, launch="killed")
    assert main(["sweep", "tiny"]) == 0
    assert main(["run", "tiny"]) == 0
    report = json.loads((project / "reports" / "tiny" / "report.json").read_text())
    rows = [(row["number"], row["status"]) for row in report["trend"]["sweeps"]]
    assert rows == [(1, "no result"), (2, "ok")]
    assert "left no result" in (project / "reports" / "tiny" / "report.html").read_text()
    check_begun(reproduced, 1, "tiny", fresh_dependencies=False)  # it may still be taken up
    with pytest.raises(UserError, match="without fresh dependencies"):
        check_begun(reproduced, 1, "tiny", fresh_dependencies=True)
    for number, paper, said in (
        (2, "tiny", "has ended"),
        (3, "tiny", "no sweep 3"),
        (1, "b", "no"),
    ):
        with pytest.raises(UserError, match=said):
            check_begun(reproduced, number, paper, fresh_dependencies=False)


def test_a_sweep_that_was_interrupted_is_gone_on_with_and_keeps_its_seeds(
    project, reproduced, monkeypatch, capsys
):
    from repro_pipeline.sweeps import run as sweeping

    plain = sweeping.run_planned

    def interrupted(stage, planned, setting):
        plain(stage, planned[:1], setting)
        raise dg.DagsterExecutionInterruptedError

    monkeypatch.setattr(sweeping, "run_planned", interrupted)
    assert main(["sweep", "tiny"]) == 130
    told = capsys.readouterr().err
    assert "`repro sweep tiny --number 1` goes on" in told and "same command" not in told
    scores = output_of(reproduced, latest(reproduced, "tiny", "scores"), Scores)
    (row,) = trend_of(reproduced, "tiny", scores).sweeps
    said = "It was interrupted; `repro sweep tiny --number 1` goes on."
    assert (row.number, row.status, row.sentence) == (1, "cancelled", said)
    (first,) = attempts_of_sweeps(reproduced)

    monkeypatch.setattr(sweeping, "run_planned", plain)
    assert main(["sweep", "tiny", "--number", "1"]) == 0
    result = result_of(reproduced, 1)
    made = attempts_of_sweeps(reproduced)
    assert made[0] == first and first.seed in result.seeds  # what was made is not made again
    assert [one.seed for one in made] == list(result.seeds)
    (row,) = trend_of(reproduced, "tiny", scores).sweeps
    assert (row.number, row.status) == (1, "ok")
    capsys.readouterr()
    assert main(["sweep", "tiny", "--number", "1"]) == 2
    assert "has ended" in capsys.readouterr().err


def test_an_interrupted_sweep_of_newer_packages_names_its_whole_command():
    said = command_of(["a", "b"], 1, fresh_dependencies=True)
    assert said == "repro sweep a b --number 1 --fresh-dependencies"


def test_numbers_of_sweeps_are_given_once(opened):
    numbers = [
        begin_sweep(opened, ["a"], fresh_dependencies=False, launch=f"l{n}") for n in range(3)
    ]
    assert numbers == [1, 2, 3]


def test_schedules_are_there_only_where_they_are_asked_for(project, reproduced, tmp_path):
    assert sweep_schedules(ProjectConfig()) == []
    papers = ["ghost", "tiny"]  # one that is none is said, and hinders no other
    sweeps = {"cron": "0 3 * * 0", "fresh_dependencies_cron": "0 4 1 * *", "papers": papers}
    (project / "repro.yaml").write_text(yaml.safe_dump({"sweeps": sweeps}))
    _open.cache_clear()
    config = ProjectConfig.model_validate({"sweeps": sweeps})
    locked, fresh = sweep_schedules(config)
    kept = dg.DagsterInstance.local_temp(str(tmp_path))  # a schedule takes no other
    register_papers(kept, reproduced)
    for schedule, is_fresh in ((locked, False), (fresh, True)):
        with dg.build_schedule_context(
            instance=kept,
            scheduled_execution_time=datetime(2024, 5, 5, 3, tzinfo=UTC),
            resources={"project": ProjectResource(root=str(project))},
        ) as context:
            (request,) = schedule(context)
        assert request.partition_key == "tiny"
        config = request.run_config["ops"]["sweep"]["config"]
        assert config["fresh_dependencies"] is is_fresh and config["number"] >= 1
        ((_, ghost),) = swept(reproduced, "ghost")[-1:]
        assert ghost.number == config["number"] and "no paper 'ghost'" in ghost.reason.sentence
