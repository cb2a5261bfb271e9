"""All papers scored again in one process: no experiment, no model call, one launch.

A launch per paper would cost seconds each for nothing but its overhead. Here one op runs the judging
stages of paper after paper, and reports each as the assets would have: materialisations and checks
of the paper's partition, with what they rest on, so that Dagster counts them as fresh.
"""

import sys
from collections.abc import Iterator

import dagster as dg

from assets import attribution, report, review_queue, scores
from assets.rubric import KEY as RUBRIC
from assets.stage import RECIPES, Recipe
from repro_pipeline.ledger.events import PROJECT_CHAIN
from repro_pipeline.project import Project
from repro_pipeline.report.scoreboard import write_scoreboard
from repro_pipeline.scoring.current import phase_asked_once
from repro_pipeline.scoring.history import change_rows, last_change
from repro_pipeline.stages import Row, Stage, latest
from resources.project import ProjectResource

JUDGING = tuple(
    module.__name__.rpartition(".")[2] for module in (scores, attribution, review_queue, report)
)
"""The stages that follow from evidence and rubric, in their order."""

_NEVER_MADE = "NULL"
"""How Dagster tags an input that was never materialised."""


class Rescore(dg.Config):
    """Which papers are scored again."""

    papers: list[str] = []
    """Ids; none for every paper that has evidence. What stands already is not done again."""
    tell: bool = False
    """Print a line per paper as it is done."""


@dg.op(
    description="Scores the stored evidence of papers under the current rubric, report included. "
    "Runs no experiment and asks no model.",
)
def rescore(
    context: dg.OpExecutionContext, config: Rescore, project: ProjectResource
) -> Iterator[dg.AssetMaterialization | dg.AssetCheckEvaluation | dg.Output]:
    """Run the judging stages of each paper; yield what its assets would have reported."""
    opened = project.open()
    papers = config.papers or papers_with_evidence(opened)
    rows, failed = [], []
    with phase_asked_once(opened):
        for number, paper in enumerate(papers, start=1):
            made = {}
            for name in JUDGING:
                recipe, stage = RECIPES[name], Stage(name, paper, opened, launch=context.run_id)
                made[name] = recipe.run(stage)
                if not made[name].reused or _unknown(context.instance, paper, made[name]):
                    yield from _reported(context, recipe, stage, made[name])
            if not made["scores"].reused:
                rows += _rows(opened, paper)
            failed += [paper] if not made["report"].usable else []
            said = f"{paper}: {_said(opened, paper, made['scores'])}"
            context.log.info(said)
            if config.tell:
                print(f"{number} of {len(papers)}  {said}", file=sys.stderr, flush=True)
    board = write_scoreboard(opened)
    yield dg.AssetMaterialization(
        "scoreboard",
        tags={"dagster/data_version": board.digest},
        metadata={"papers": len(board.rows)},
    )
    records = [dg.TableRecord(row) for row in rows]
    yield dg.Output(
        len(papers),
        metadata={
            "papers": len(papers),
            "without a report": ", ".join(failed) or "none",
            **({"changes": dg.MetadataValue.table(records)} if rows else {}),
        },
    )


@dg.job(
    description="Scores all papers again, or those that are named, under the current rubric, in one "
    "process; shows which outcomes changed, and by which settings. What stands is left alone.",
    executor_def=dg.in_process_executor,
)
def rescore_papers() -> None:
    """The op alone."""
    rescore()


@dg.sensor(
    job_name="rescore_papers",
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description="Switched on, it scores all papers again whenever the rubric's content changed.",
)
def rescore_on_change(
    context: dg.SensorEvaluationContext, project: ProjectResource
) -> dg.SensorResult | dg.SkipReason:
    """Ask for one launch per change of the rubric; changing it back is a change."""
    from repro_pipeline.scoring.current import current_rubric

    _, digest = current_rubric(project.open())
    if context.cursor == digest:
        return dg.SkipReason("the rubric is as it was")
    return dg.SensorResult(run_requests=[dg.RunRequest()], cursor=digest)


def papers_with_evidence(project: Project) -> list[str]:
    """The papers that can be scored, in order."""
    chains = sorted(set(project.ledger.chains()) - {PROJECT_CHAIN})
    gathered = ((paper, latest(project, paper, "experiment_ledger")) for paper in chains)
    return [paper for paper, row in gathered if row and row.output]


def _reported(
    context: dg.OpExecutionContext, recipe: Recipe, stage: Stage, row: Row
) -> Iterator[dg.AssetMaterialization | dg.AssetCheckEvaluation]:
    """A stage's row as its asset would have reported it, for the paper's partition."""
    result = recipe.result(stage, row, context.log.warning)
    yield dg.AssetMaterialization(
        recipe.name,
        partition=stage.paper,
        metadata=result.metadata,
        tags={
            "dagster/data_version": result.data_version.value,
            "dagster/data_version_is_user_provided": "true",
            "dagster/code_version": recipe.version,
            **_provenance(context.instance, recipe, stage.paper),
        },
    )
    for check in result.check_results:
        yield dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey(recipe.name),
            check_name=check.check_name,
            passed=check.passed,
            metadata=check.metadata,
            severity=check.severity,
            description=check.description,
            partition=stage.paper,
        )


def _provenance(instance: dg.DagsterInstance, recipe: Recipe, paper: str) -> dict[str, str]:
    """What a materialisation rests on, as Dagster itself would tag it."""
    tags = {}
    for name in recipe.comes_after:
        partition = None if name == RUBRIC.path[-1] else paper
        record = instance.get_latest_data_version_record(
            dg.AssetKey(name), is_source=partition is None, partition_key=partition
        )
        version = pointer = _NEVER_MADE
        if record:
            event = record.asset_materialization or record.event_log_entry.asset_observation
            version, pointer = event.tags["dagster/data_version"], str(record.storage_id)
        tags[f"dagster/input_data_version/{name}"] = version
        tags[f"dagster/input_event_pointer/{name}"] = pointer
    return tags


def _unknown(instance: dg.DagsterInstance, paper: str, row: Row) -> bool:
    """Whether Dagster does not know of a row: its instance was made anew, or a launch was cut off."""
    record = instance.get_latest_data_version_record(
        dg.AssetKey(row.event.stage), is_source=False, partition_key=paper
    )
    known = record.asset_materialization.tags if record and record.asset_materialization else {}
    return known.get("dagster/data_version") != (row.event.output or row.event.inputs)


def _said(project: Project, paper: str, row: Row) -> str:
    if row.reused:
        return "the scores stand."
    if row.event.reason:
        return row.event.reason.sentence
    change = last_change(project, paper)
    return change.sentence if change else "scored for the first time."


def _rows(project: Project, paper: str) -> list[dict[str, str]]:
    change = last_change(project, paper)
    return [{"paper": paper, **row} for row in change_rows(change)] if change else []
