"""What every stage's asset has in common: partition, row in the ledger, metadata, the check stage_ok.

An asset's body is a function of a `Stage` and of earlier stages' outputs, which it takes by their
names: a parameter `parsed_paper: Paper` is the output of the stage `parsed_paper`, read from the
artifact store as a `Paper`; one typed `X | None` may be absent, any other blocks the stage.
"""

import inspect
import types
import typing
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg
from pydantic import BaseModel

from repro_pipeline.ledger.events import StageFinished
from repro_pipeline.stage_names import RUNNING_STAGES
from repro_pipeline.stages import Row, Stage, Work, latest_of, output_of, run_stage
from repro_pipeline.status import Status
from resources.project import ProjectResource

PAPERS = dg.DynamicPartitionsDefinition(name="papers")
OWNERS = ["team:reproduction"]
POOLS = dict.fromkeys(RUNNING_STAGES, "runs") | {"implementation": "models"}
"""What heavy stages share with other launches; the one that writes code mostly waits for models. The limit
stands in dagster.yaml, and can be changed on the UI's page on concurrency."""
RETRIES, PAUSE = 3, 5.0
"""Of a stage that failed for what may pass by itself: how often, and the seconds before the first;
each pause is twice the last."""

_STAGE_OK = {"stage_ok": "The stage ended well; if not, why."}

Metadata = Mapping[str, Any]


@dataclass(frozen=True)
class Input:
    """An earlier stage's output, as a stage takes it."""

    stage: str
    model: type[BaseModel]
    required: bool


@dataclass(frozen=True)
class Recipe:
    """All that a stage is made of: what its asset runs, and what a batch over many papers runs."""

    name: str
    version: str
    body: Callable[..., Any]
    inputs: tuple[Input, ...]
    output: type[BaseModel]
    describe: Callable[[Any], Metadata]
    describe_in: Callable[[Stage, Any], Metadata]
    depends_on: Callable[..., Any] | None
    checks: Mapping[str, str]
    judge: Callable[[Any], Sequence[dg.AssetCheckResult]]
    reuse: bool
    comes_after: tuple[str, ...]
    """The assets that it depends on."""

    def run(self, stage: Stage) -> Row:
        """Run the stage for one paper, or find it standing."""
        return run_stage(
            stage,
            version=self.version,
            prepare=lambda: _prepared(stage, self.inputs, self.body, self.depends_on),
            reuse=self.reuse,
        )

    def result(self, stage: Stage, row: Row, warn: Callable[[str], None]) -> dg.MaterializeResult:
        """What Dagster is told of a row: metadata, data version, checks."""
        output = output_of(stage.project, row.event, self.output) if row.usable else None
        shown = _described(
            lambda: {**self.describe(output), **self.describe_in(stage, output)}, output, warn
        )
        return dg.MaterializeResult(
            asset_key=self.name,
            metadata={**_outcome(row), **shown, **_record(stage, row)},
            data_version=dg.DataVersion(row.event.output or row.event.inputs),
            check_results=[
                _stage_ok(stage, row),
                *_judged(self.name, self.checks, self.judge, output),
            ],
        )


RECIPES: dict[str, Recipe] = {}
"""Every stage by name; filled where the assets are declared."""


def stage_asset(
    *,
    group: str,
    version: str,
    describe: Callable[[Any], Metadata],
    kinds: set[str] = frozenset({"python"}),
    depends_on: Callable[..., Any] | None = None,
    also_after: Sequence[str] = (),
    checks: Mapping[str, str] | None = None,
    judge: Callable[[Any], Sequence[dg.AssetCheckResult]] = lambda output: (),
    reuse: bool = True,
    describe_in: Callable[[Stage, Any], Metadata] = lambda stage, output: {},
) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    """Make a stage's function the asset of its name.

    `depends_on`, called like the body, names as JSON what the output rests on; by default, the
    digests of all inputs. `also_after` are assets that are no inputs but come first. `checks` are
    further asset checks (name → description), whose results `judge` makes of the output.
    `describe_in` shows the output beside what the ledger holds of the paper.
    """

    def decorate(body: Callable[..., Any]) -> dg.AssetsDefinition:
        name = body.__name__
        inputs = _inputs(body)
        recipe = Recipe(
            name=name,
            version=version,
            body=body,
            inputs=inputs,
            output=_model(typing.get_type_hints(body)["return"])[0],
            describe=describe,
            describe_in=describe_in,
            depends_on=depends_on,
            checks=checks or {},
            judge=judge,
            reuse=reuse,
            comes_after=(*(item.stage for item in inputs), *also_after),
        )
        RECIPES[name] = recipe

        @dg.asset(
            name=name,
            deps=recipe.comes_after,
            partitions_def=PAPERS,
            group_name=group,
            kinds=set(kinds),
            owners=OWNERS,
            code_version=version,
            description=inspect.getdoc(body),
            pool=POOLS.get(name),
            check_specs=check_specs(name, {**_STAGE_OK, **recipe.checks}),
        )
        def asset(
            context: dg.AssetExecutionContext, project: ProjectResource
        ) -> dg.MaterializeResult:
            stage = Stage(
                name,
                context.partition_key,
                project.open(),
                launch=context.run.run_id,
                say=context.log.info,
            )
            row = recipe.run(stage)
            if row.transient and context.retry_number < RETRIES:
                context.log.warning(f"{name}: {row.event.reason.sentence} It will be tried again.")
                raise dg.RetryRequested(RETRIES, PAUSE * 2**context.retry_number)
            _log(context, stage, row)
            return recipe.result(stage, row, context.log.warning)

        return asset

    return decorate


def _prepared(
    stage: Stage,
    inputs: Sequence[Input],
    body: Callable[..., Any],
    depends_on: Callable[..., Any] | None,
) -> Work:
    """Read the inputs of a stage. Raises IntegrityError where one was lost or altered."""
    events = latest_of(stage.project, stage.paper, [item.stage for item in inputs])
    rows = {name: Row(event, reused=True) if event else None for name, event in events.items()}
    values = {
        item.stage: output_of(stage.project, rows[item.stage].event, item.model)
        if _usable(rows[item.stage])
        else None
        for item in inputs
    }
    absent = {i.stage: rows[i.stage] for i in inputs if i.required and values[i.stage] is None}
    by_digest = {name: row.event.output if row else None for name, row in rows.items()}
    return Work(
        depends_on=depends_on(stage, **values) if depends_on and not absent else by_digest,
        do=lambda: body(stage, **values),
        blocked_by=absent,
    )


def _described(
    describe: Callable[[], Metadata], output: Any, warn: Callable[[str], None]
) -> Metadata:
    """The metadata of an output; what cannot be shown hinders no stage."""
    if output is None:
        return {}
    try:
        return describe()
    except Exception as error:
        warn(f"The output cannot be shown: {error!r}")
        return {"not shown": repr(error)}


def table(name: str, rows: Sequence[Mapping[str, Any]]) -> Metadata:
    """Rows as a table in the metadata; nothing without rows, of which Dagster makes no table."""
    return (
        {name: dg.MetadataValue.table([dg.TableRecord(dict(row)) for row in rows])} if rows else {}
    )


def brief(value: float | None) -> float | None:
    """A number as people read it in metadata: six significant digits; the artifact has all."""
    return None if value is None else float(f"{value:.6g}")


def _inputs(body: Callable[..., Any]) -> tuple[Input, ...]:
    hints = typing.get_type_hints(body)
    names = list(inspect.signature(body).parameters)[1:]
    return tuple(Input(name, *_model(hints[name])) for name in names)


def _model(hint: Any) -> tuple[type[BaseModel], bool]:
    """The model of an annotation, and whether it must be there."""
    if isinstance(hint, types.UnionType):
        models = [part for part in typing.get_args(hint) if issubclass(part, BaseModel)]
        return models[0], types.NoneType not in typing.get_args(hint)
    return hint, True


def _usable(row: Row | None) -> bool:
    return row is not None and row.usable


def check_specs(name: str, checks: Mapping[str, str]) -> list[dg.AssetCheckSpec]:
    """Asset checks (name → description) of each paper on its own."""
    with warnings.catch_warnings(action="ignore", category=dg.PreviewWarning):
        return [
            dg.AssetCheckSpec(key, asset=name, description=text, partitions_def=PAPERS)
            for key, text in checks.items()
        ]


def _stage_ok(stage: Stage, row: Row) -> dg.AssetCheckResult:
    event = row.event
    return dg.AssetCheckResult(
        asset_key=stage.name,
        check_name="stage_ok",
        passed=event.status in {Status.OK, Status.NOT_APPLICABLE},
        severity=dg.AssetCheckSeverity.WARN
        if event.status in {Status.PARTIAL, Status.BLOCKED}
        else dg.AssetCheckSeverity.ERROR,
        description=_what_to_do(stage, row),
        metadata=_outcome(row),
    )


def _what_to_do(stage: Stage, row: Row) -> str | None:
    """Of a stage that ended badly: where to look, and how to go on."""
    match row.event.status:
        case Status.OK | Status.NOT_APPLICABLE:
            return None
        case Status.BLOCKED:
            return "Mend the stage that it waits for, and launch the paper again."
        case Status.CANCELLED:
            return "Launch the paper again: it goes on from there."
    look = (
        f"`repro log {stage.paper}` shows what a failed run printed. "
        if _runs_failed(stage)
        else ""
    )
    return f"{look}Mend the cause and launch the paper again: what is done is not done again."


def _runs_failed(stage: Stage) -> bool:
    return stage.name in RUNNING_STAGES and any(
        event.payload["attempt"]["status"] != Status.OK
        for event in stage.events({"attempt_finished"})
    )


def _judged(
    name: str,
    checks: Mapping[str, str],
    judge: Callable[[Any], Sequence[dg.AssetCheckResult]],
    output: Any,
) -> list[dg.AssetCheckResult]:
    if output is not None:
        return list(judge(output))
    return [
        dg.AssetCheckResult(
            asset_key=name,
            check_name=key,
            passed=False,
            severity=dg.AssetCheckSeverity.WARN,
            metadata={"outcome": "not_checkable", "reason": "the stage left no output"},
        )
        for key in checks
    ]


def _outcome(row: Row) -> dict[str, Any]:
    return {
        "status": str(row.event.status),
        "reason": row.event.reason.sentence if row.event.reason else "-",
    }


def _record(stage: Stage, row: Row) -> dict[str, Any]:
    """What leads from the metadata to the ledger; of interest last."""
    head = stage.project.ledger.head(stage.paper)
    return {
        "reused": row.reused,
        "seconds": row.event.seconds,
        "output": row.event.output or "-",
        "ledger head": f"{head.seq}:{head.hash}" if head else "-",
    }


def _log(context: dg.AssetExecutionContext, stage: Stage, row: Row) -> None:
    event = row.event
    if row.reused:
        context.log.info(
            f"{event.stage}: nothing changed; the output of launch {event.launch} stands."
        )
    elif event.status in {Status.OK, Status.NOT_APPLICABLE}:
        context.log.info(f"{event.stage}: {event.status} in {event.seconds:.1f} s.")
    else:
        said = event.reason.sentence if event.reason else ""
        context.log.error(f"{event.stage}: {event.status}. {said} {_what_to_do(stage, row)}")
        _mark(context, event)


def _mark(context: dg.AssetExecutionContext, event: StageFinished) -> None:
    """A tag that says in the list of launches what came of this one, which itself is a good one: of each
    bad end the first stage; what waits for such a stage is none."""
    run_id, tag = context.run.run_id, f"repro/{event.status}"
    if (
        event.status is not Status.BLOCKED
        and tag not in context.instance.get_run_by_id(run_id).tags
    ):
        context.instance.add_run_tags(run_id, {tag: event.stage})
