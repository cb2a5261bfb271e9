"""Scoring as it is recorded: which attempts count, and what reading the rubric leaves behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from scoring_cases import attempt, breiman

from repro_pipeline.config import ProjectConfig
from repro_pipeline.errors import FileFormatError
from repro_pipeline.frozen import canonical_json, digest
from repro_pipeline.ledger.events import PROJECT_CHAIN, AttemptFinished, RubricSeen, StageFinished
from repro_pipeline.ledger.runs import Purpose
from repro_pipeline.project import Project
from repro_pipeline.scoring import record
from repro_pipeline.scoring.current import read_rubric, rubric_of, rubric_text
from repro_pipeline.stages import Stage
from repro_pipeline.status import Status
from resources.artifact_store import FsspecArtifactStore
from resources.ledger_sql import SqlLedger

CASE = breiman()


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    project = Project(
        root=tmp_path,
        config=ProjectConfig(),
        ledger=SqlLedger(f"sqlite:///{tmp_path / 'ledger.sqlite'}"),
        store=FsspecArtifactStore(str(tmp_path / "store")),
        runner=None,
        secret=b"",
        slots=None,
    )
    project.rubric_file.write_text("schema: 1\n", encoding="utf-8")
    made = Stage("scores", CASE.paper, project, launch="test")
    made.record(
        StageFinished(
            stage="experiment_ledger",
            inputs=digest("inputs"),
            status=Status.OK,
            output=project.store.put(canonical_json(CASE.model_dump(mode="json", by_alias=True))),
            code_version="1",
            launch="test",
            seconds=1.0,
        )
    )
    return made


def seen(stage: Stage) -> list[str]:
    return [e.payload["rubric"] for e in stage.project.ledger.events(PROJECT_CHAIN)]


@pytest.mark.parametrize(("purpose", "counts"), [(Purpose.SWEEP, False), (Purpose.EVAL, True)])
def test_attempts_of_sweeps_count_neither_for_reuse_nor_for_scores(stage, purpose, counts):
    inputs, scores = record.scored_from(stage), record.score_and_record(stage, CASE)
    for seed in range(900, 920):
        of_earlier_code = attempt(seed, {"error": 1.0}, purpose=purpose, salt="earlier")
        stage.record(AttemptFinished(attempt=of_earlier_code))
    assert (record.scored_from(stage) != inputs) is counts
    assert (record.score_and_record(stage, CASE) != scores) is counts


def test_the_rubric_is_kept_when_it_is_scored_by_and_not_when_it_is_read(stage):
    rubric, content = read_rubric(stage.project)
    assert record.scored_from(stage)["rubric"] == content
    assert seen(stage) == [] and content not in stage.project.store
    scores = record.score_and_record(stage, CASE)
    record.score_and_record(stage, CASE)
    assert seen(stage) == [content] == [scores.rubric]
    assert rubric_of(stage.project, content) == rubric
    (scored,) = {e.payload["scores"] for e in stage.events({"scored"})}
    assert scored == digest(scores) and scores.evidence == record.scored_from(stage)["evidence"]


def test_a_comment_in_the_rubric_changes_no_score_and_no_input(stage):
    inputs, scores = record.scored_from(stage), record.score_and_record(stage, CASE)
    text = "# for the record\nschema: 1\ndimensions: {metric_parity: {threshold: 0.05}}\n"
    stage.project.rubric_file.write_text(text, encoding="utf-8")
    assert record.scored_from(stage) == inputs
    assert record.score_and_record(stage, CASE) == scores
    assert rubric_text(stage.project, scores.rubric) == "schema: 1\n"


def test_a_rubric_kept_as_a_file_by_an_earlier_program_is_still_read(stage):
    text = "dimensions: {metric_parity: {threshold: 1.0e-5}}\n"
    earlier = stage.project.store.put(text.encode())
    stage.project.ledger.append(PROJECT_CHAIN, RubricSeen(rubric=earlier), actor="code:earlier")
    assert rubric_of(stage.project, earlier).dimensions.metric_parity.threshold == 1e-5
    assert rubric_text(stage.project, earlier) == text
    stage.project.rubric_file.write_text(text, encoding="utf-8")
    scores = record.score_and_record(stage, CASE)
    assert rubric_of(stage.project, scores.rubric) == rubric_of(stage.project, earlier)


def test_a_broken_rubric_is_neither_kept_nor_scored_by(stage):
    stage.project.rubric_file.write_text("schema: 1\nsurprise: 2\n", encoding="utf-8")
    for scoring in (record.scored_from, lambda one: record.score_and_record(one, CASE)):
        with pytest.raises(FileFormatError, match="surprise"):
            scoring(stage)
    assert seen(stage) == [] and not list(stage.events({"scored"}))
