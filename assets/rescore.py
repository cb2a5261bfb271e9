"""All papers scored again in one process: no experiment, no model call, one launch.

A launch per paper would cost seconds each for nothing but its overhead. Here one op runs the judging
stages of paper after paper, and reports each as the assets would have: materialisations and checks
of the paper's partition, with what they rest on, so that Dagster counts them as fresh.
"""

import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import dagster as dg
from dagster import DagsterEventType

from assets import attribution, report, review_queue, scores
from assets.rubric import KEY as RUBRIC
from assets.stage import RECIPES, Recipe
from repro_pipeline.ledger.events import PROJECT_CHAIN
from repro_pipeline.project import Project
from repro_pipeline.report.scoreboard import write_scoreboard
from repro_pipeline.scoring.current import read_rubric, sampling_phase
from repro_pipeline.scoring.history import change_rows, latest_change, told
from repro_pipeline.stages import Row, Stage, latest
from resources.kept_ledger import KeptLedger
from resources.project import ProjectResource

JUDGING = tuple(
    module.__name__.rpartition(".")[2] for module in (scores, attribution, review_queue, report)
)
"""The stages that follow from evidence and rubric, in their order."""

_NEVER_MADE = "NULL"
"""How Dagster tags an input that was never materialised."""
_VERSION = "dagster/data_version"
_INPUTS = {name for one in JUDGING for name in RECIPES[one].comes_after} - {RUBRIC.path[-1]}
_ASSETS = tuple(sorted(_INPUTS | set(JUDGING)))
_AT_ONCE = 500
"""Papers whose assets Dagster is asked about at a time."""


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
    phase = sampling_phase(opened)
    kept = KeptLedger(opened.ledger)
    opened = replace(opened, ledger=kept)
    for number, paper in enumerate(papers, start=1):
        if (number - 1) % _AT_ONCE == 0:
            known = _Known.of(context.instance, papers[number - 1 :][:_AT_ONCE])
        made = {}
        for name in JUDGING:
            recipe = RECIPES[name]
            stage = Stage(name, paper, opened, launch=context.run_id, review_phase=phase)
            kept.renew()
            made[name] = recipe.run(stage)
            if not made[name].reused or not known.stands(paper, made[name]):
                yield from _reported(context, recipe, stage, made[name], known)
        if not made["scores"].reused:
            rows += _rows(opened, paper)
        failed += [paper] if not made["report"].usable else []
        said = f"{paper}: {_said(opened, paper, made['scores'])}"
        context.log.info(said)
        if config.tell:
            print(f"{number} of {len(papers)}  {said}", file=sys.stderr, flush=True)
    kept.renew()
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
    _, digest = read_rubric(project.open())
    if context.cursor == digest:
        return dg.SkipReason("the rubric is as it was")
    return dg.SensorResult(run_requests=[dg.RunRequest()], cursor=digest)


def papers_with_evidence(project: Project) -> list[str]:
    """The papers that can be scored, in order."""
    chains = sorted(set(project.ledger.chains()) - {PROJECT_CHAIN})
    gathered = ((paper, latest(project, paper, "experiment_ledger")) for paper in chains)
    return [paper for paper, row in gathered if row and row.output]


@dataclass(frozen=True)
class _Known:
    """What Dagster knows of papers' assets: the data version of the last of each, and its number."""

    versions: dict[tuple[str, str], str]
    """By asset and paper; the rubric's paper is empty."""
    numbers: dict[tuple[str, str], str]

    @classmethod
    def of(cls, instance: dg.DagsterInstance, papers: Sequence[str]) -> "_Known":
        """Ask for many papers at a time: two questions for each asset."""
        known = cls({}, {})
        for name in _ASSETS:
            tags = instance.event_log_storage.get_latest_tags_by_partition(
                dg.AssetKey(name),
                DagsterEventType.ASSET_MATERIALIZATION,
                [_VERSION],
                asset_partitions=papers,
            )
            known.versions.update({(name, paper): of[_VERSION] for paper, of in tags.items()})
            known.count(instance, name, papers)
        rubric = instance.get_latest_data_version_record(RUBRIC, is_source=True)
        if rubric:
            event = rubric.event_log_entry.asset_observation
            known.versions[RUBRIC.path[-1], ""] = event.tags[_VERSION]
            known.numbers[RUBRIC.path[-1], ""] = str(rubric.storage_id)
        return known

    def count(self, instance: dg.DagsterInstance, name: str, papers: Collection[str]) -> None:
        """Ask for the numbers of an asset's last materialisations."""
        numbers = instance.event_log_storage.get_latest_storage_id_by_partition(
            dg.AssetKey(name), DagsterEventType.ASSET_MATERIALIZATION, set(papers)
        )
        self.numbers.update({(name, paper): str(number) for paper, number in numbers.items()})

    def stands(self, paper: str, row: Row) -> bool:
        """Whether Dagster knows of a row; not where its instance was made anew, or a launch cut off."""
        known = self.versions.get((row.event.stage, paper))
        return known == (row.event.output or row.event.inputs)

    def provenance(self, recipe: Recipe, paper: str) -> dict[str, str]:
        """What a materialisation rests on, as Dagster itself would tag it."""
        tags = {}
        for name in recipe.comes_after:
            place = (name, "" if name == RUBRIC.path[-1] else paper)
            tags[f"dagster/input_data_version/{name}"] = self.versions.get(place, _NEVER_MADE)
            tags[f"dagster/input_event_pointer/{name}"] = self.numbers.get(place, _NEVER_MADE)
        return tags


def _reported(
    context: dg.OpExecutionContext, recipe: Recipe, stage: Stage, row: Row, known: _Known
) -> Iterator[dg.AssetMaterialization | dg.AssetCheckEvaluation]:
    """A stage's row as its asset would have reported it, for the paper's partition."""
    result = recipe.result(stage, row, context.log.warning)
    version = result.data_version.value
    yield dg.AssetMaterialization(
        recipe.name,
        partition=stage.paper,
        metadata=result.metadata,
        tags={
            _VERSION: version,
            "dagster/data_version_is_user_provided": "true",
            "dagster/code_version": recipe.version,
            **known.provenance(recipe, stage.paper),
        },
    )
    known.versions[recipe.name, stage.paper] = version
    if recipe.name in _INPUTS:  # stored by now
        known.count(context.instance, recipe.name, {stage.paper})
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


def _said(project: Project, paper: str, row: Row) -> str:
    if row.reused:
        return "the scores stand."
    if row.event.reason:
        return row.event.reason.sentence
    return told(project, paper)


def _rows(project: Project, paper: str) -> list[dict[str, str]]:
    change = latest_change(project, paper)
    return [{"paper": paper, **row} for row in change_rows(change)] if change else []
