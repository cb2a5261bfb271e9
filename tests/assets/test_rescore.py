"""A changed rubric: papers scored again in one process, what changed and why, and old scores."""

from __future__ import annotations

import json
import subprocess
import sys

import dagster as dg
import pytest
import yaml

from assets.rescore import rescore_on_change
from repro_pipeline.cli import main
from repro_pipeline.commands import opening
from repro_pipeline.definitions import build_definitions
from repro_pipeline.scoring.history import last_change, scores_at, scorings
from repro_pipeline.stages import Stage, latest, run_stage
from resources.project import ProjectResource
from tests.bundles import make_bundle


def set_rubric(project, **dimensions) -> None:
    rubric = yaml.safe_load((project / "rubric.yaml").read_text())
    for name, changes in dimensions.items():
        rubric["dimensions"][name].update(changes)
    (project / "rubric.yaml").write_text(yaml.safe_dump(rubric))


def attempts(opened, paper: str) -> int:
    return sum(1 for _ in opened.ledger.events(paper, kinds={"attempt_started"}))


@pytest.fixture
def two_papers(project, opened, capsys):
    for name in ("tiny", "other"):
        make_bundle(project / "papers" / name, scale=1.03)
        assert main(["run", name]) == 0
    capsys.readouterr()
    return opened


def stale(project, instance, paper: str) -> set[str]:
    """The stages that Dagster counts as stale."""
    from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
    from dagster._core.loader import LoadingContextForTest

    graph = build_definitions(project).resolve_asset_graph()
    resolver = CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))
    return {
        key.path[-1]
        for key in graph.materializable_asset_keys
        if graph.get(key).is_partitioned and resolver.get_status(key, paper) is StaleStatus.STALE
    }


def test_one_action_scores_all_papers_again_and_runs_nothing(project, two_papers, capsys):
    opened, instance = two_papers, opening.instance_of(two_papers)
    before = {
        paper: (attempts(opened, paper), scorings(opened, paper)[-1]) for paper in ("tiny", "other")
    }
    set_rubric(project, metric_parity={"threshold": 0.01})
    assert main(["rescore", "--stale", "--json"]) == 0
    told = capsys.readouterr()
    said = [json.loads(line) for line in told.out.splitlines()]
    assert [one["paper"] for one in said] == ["other", "tiny"]
    done = [line.partition(":")[0] for line in told.err.splitlines() if " of 2 " in line]
    assert done == ["1 of 2  other", "2 of 2  tiny"]
    for one in said:
        paper = one["paper"]
        assert attempts(opened, paper) == before[paper][0]
        parity = next(o for o in one["outcomes"] if o["name"] == "metric_parity")
        assert parity["causes"] == ["dimensions.metric_parity.threshold"]
        assert (parity["before"], parity["how"]) == ("pass", "alone")
        first, second = scorings(opened, paper)
        assert first == before[paper][1]
        assert scores_at(opened, first.scores).rubric != scores_at(opened, second.scores).rubric
        assert latest(opened, paper, "report").launch == second.launch
        assert stale(project, instance, paper) == set()

    assert main(["rescore", "--stale"]) == 0
    assert "0 scored again, 2 stood already" in capsys.readouterr().out
    assert main(["logs", "tiny"]) == 0
    said = capsys.readouterr().out
    assert "scores: " in said and "! " not in said


def test_dagster_shows_each_paper_with_its_checks(project, two_papers):
    instance = opening.instance_of(two_papers)
    set_rubric(project, metric_parity={"threshold": 0.01})
    assert main(["rescore", "tiny"]) == 0
    key = dg.AssetCheckKey(dg.AssetKey("scores"), "metric_parity")
    storage = instance.event_log_storage
    assert "scores" in stale(project, instance, "other") and not stale(project, instance, "tiny")
    for paper, passed in (("tiny", False), ("other", True)):
        (last,) = storage.get_asset_check_execution_history(
            key, limit=1, partition_filter=_only(paper)
        )
        assert last.event.asset_check_evaluation.passed is passed, paper
    made = instance.fetch_materializations(
        dg.AssetRecordsFilter(dg.AssetKey("scores"), asset_partitions=["tiny"]), limit=1
    ).records[0]
    assert "since the scores before" in made.asset_materialization.metadata
    assert made.run_id == scorings(two_papers, "tiny")[-1].launch


def _only(paper: str):
    from dagster._core.storage.event_log.base import PartitionKeyFilter

    return PartitionKeyFilter(key=paper)


def test_the_batch_finds_its_stages_by_itself():
    """In a process of its own, where nothing else imported the graph before."""
    names = "from assets.rescore import JUDGING, RECIPES; print([RECIPES[n].name for n in JUDGING])"
    done = subprocess.run(
        [sys.executable, "-c", names], capture_output=True, text=True, check=False
    )
    assert "'scores', 'attribution', 'review_queue', 'report'" in done.stdout, done.stderr


def test_old_scores_stay_readable_with_their_rubric(project, two_papers, capsys):
    old_rubric = (project / "rubric.yaml").read_text()
    set_rubric(project, metric_parity={"threshold": 0.01})
    assert main(["rescore", "tiny"]) == 0
    assert "metric_parity.threshold 0.05 → 0.01" in capsys.readouterr().out
    assert main(["score-history", "tiny"]) == 0
    assert "metric_parity.threshold" in " ".join(capsys.readouterr().out.split())
    assert main(["score-history", "tiny", "--show", "1", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["rubric"] == old_rubric
    assert main(["score-history", "tiny", "--show", "3"]) == 2

    (project / "rubric.yaml").write_text(old_rubric)
    assert main(["rescore", "tiny"]) == 0
    made = scorings(two_papers, "tiny")
    assert [one.scores for one in made] == [made[0].scores, made[1].scores, made[0].scores]
    assert last_change(two_papers, "tiny").sentence.endswith("0.01 → 0.05).")


def test_a_paper_without_evidence_and_no_paper_at_all_are_said(project, capsys):
    assert main(["rescore", "nobody"]) == 2
    assert "there is no paper 'nobody'" in capsys.readouterr().err
    make_bundle(project / "papers" / "fresh")
    assert main(["rescore", "fresh"]) == 2
    assert "there is no evidence of 'fresh'" in capsys.readouterr().err
    assert main(["rescore"]) == 2
    assert main(["score-history", "nobody"]) == 2


def test_a_rubric_that_breaks_stops_the_batch_with_its_sentence(project, capsys):
    (project / "rubric.yaml").write_text("dimensions: {metric_pairity: {}}\n")
    assert main(["rescore", "--stale"]) == 2
    assert "metric_pairity" in capsys.readouterr().err


def test_the_automation_asks_once_per_change(project, opened):
    resources = {"project": ProjectResource(root=str(project))}

    def tick(cursor):
        context = dg.build_sensor_context(
            instance=opening.instance_of(opened), cursor=cursor, resources=resources
        )
        return rescore_on_change.evaluate_tick(context)

    first = tick(None)
    assert len(first.run_requests) == 1
    assert not tick(first.cursor).run_requests
    set_rubric(project, metric_parity={"threshold": 0.01})
    changed = tick(first.cursor)
    assert len(changed.run_requests) == 1 and changed.cursor != first.cursor


def cut_off(opened, paper: str, launch: str) -> None:
    """A scoring that somebody interrupted."""
    stage = Stage("scores", paper, opened, launch=launch)
    with pytest.raises(KeyboardInterrupt):
        run_stage(stage, version="1", prepare=interrupted)


def interrupted():
    raise KeyboardInterrupt


def test_what_an_interrupted_scoring_changed_is_told_by_the_next(project, two_papers, capsys):
    set_rubric(project, metric_parity={"threshold": 0.01})
    cut_off(two_papers, "tiny", "one")
    assert main(["report", "tiny"]) == 2
    said = capsys.readouterr().err
    assert "'tiny' has no scores: It was interrupted" in said and "`repro run tiny`" in said
    assert main(["rescore", "tiny"]) == 0
    said = capsys.readouterr()
    assert "metric_parity.threshold 0.05 → 0.01" in said.out
    assert "first time" not in said.out + said.err
    assert last_change(two_papers, "tiny").settings[0].after == "0.01"
    assert main(["report", "tiny"]) == 0

    cut_off(two_papers, "tiny", "another")
    assert main(["rescore", "tiny"]) == 0
    said = capsys.readouterr().out
    assert "the scores are as they were" in said and "first time" not in said


def test_scores_of_another_rubric_are_not_shown_as_current(project, two_papers, capsys):
    shown = (["status"], ["report", "tiny"], ["why", "tiny", "noisy-plain"])

    def said() -> list[str]:
        texts = []
        for arguments in shown:
            assert main(arguments) == 0
            texts.append(" ".join(capsys.readouterr().out.replace("│", " ").split()))
        return texts

    rubric = (project / "rubric.yaml").read_text()
    (project / "rubric.yaml").write_text(rubric + "# a comment\n")
    assert not [text for text in said() if "another rubric" in text]
    set_rubric(project, metric_parity={"threshold": 0.01})
    for text in said():
        assert "another rubric than rubric.yaml now: `repro rescore tiny`" in text
    (project / "rubric.yaml").unlink()
    for text in said():
        assert "The rubric cannot be read" in text
    (project / "rubric.yaml").write_text(rubric)
    assert not [text for text in said() if "rubric.yaml" in text]
