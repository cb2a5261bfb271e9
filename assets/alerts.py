"""The sensor that tells people what went wrong: it looks at launches that ended, and at their stages."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import dagster as dg

import repro_pipeline
from assets.rescore import papers_with_evidence
from repro_pipeline.alerts import (
    Alert,
    alerts_of_launch,
    broken_launch,
    budget_alerts,
    due,
    tried,
)
from repro_pipeline.bundle.task import Budget
from repro_pipeline.errors import UserError
from repro_pipeline.ledger.events import PROJECT_CHAIN
from repro_pipeline.project import Project
from resources.alert_channels import channels
from resources.project import ProjectResource

_AT_ONCE = 50
"""Launches that one tick looks at: a tick must end soon."""
_ENDED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
_PARTITION = "dagster/partition"


@dg.sensor(
    minimum_interval_seconds=15,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Sends alerts (`alerts` in repro.yaml): launches that broke, stages that ended badly, "
    "scores that fail, budgets nearly spent. Each once; what cannot be delivered is tried again.",
)
def send_alerts(
    context: dg.SensorEvaluationContext, project: ProjectResource
) -> dg.SensorResult | dg.SkipReason:
    """Look at what ended since the last tick, and send what is due."""
    opened = project.open()
    senders = channels(opened.config.alerts)
    if not senders:
        return dg.SkipReason("no channel stands under `alerts` in repro.yaml")
    now = datetime.now(UTC)
    # At first only what ends from now on is told, not the whole past.
    since = datetime.fromisoformat(context.cursor) if context.cursor else now
    records = context.instance.get_run_records(
        dg.RunsFilter(updated_after=since, statuses=_ENDED),
        limit=_AT_ONCE,
        order_by="update_timestamp",
        ascending=True,
    )
    fresh = [
        alert for record in records for alert in alerts_of_run(context.instance, opened, record)
    ]
    fresh += budgets(context.instance, opened)
    sent = 0
    for one in due(opened, fresh, senders.keys(), now):
        try:
            senders[one.channel](one.alert)
            error = None
        except UserError as failure:
            error = str(failure)
            context.log.warning(f"{one.channel}: {error}")
        actor = f"code:repro-pipeline/{repro_pipeline.__version__}"
        opened.ledger.append(PROJECT_CHAIN, tried(one, error), actor=actor)
        sent += error is None
    seen = records[-1].update_timestamp.replace(tzinfo=UTC) if records else since
    return dg.SensorResult(
        skip_reason=f"{len(records)} launches ended, {sent} alerts sent", cursor=seen.isoformat()
    )


def alerts_of_run(
    instance: dg.DagsterInstance, project: Project, record: dg.RunRecord
) -> Iterator[Alert]:
    """What a launch that ended leaves to be told."""
    run = record.dagster_run
    paper = run.tags.get(_PARTITION)
    if run.status is dg.DagsterRunStatus.FAILURE and not _was_cancelled(instance, run.run_id):
        yield broken_launch(paper, run.job_name, run.run_id, _failure(instance, run.run_id))
    # A launch of no paper works on many: it scores them again.
    for one in [paper] if paper else papers_with_evidence(project):
        yield from alerts_of_launch(project, one, run.run_id)


def budgets(instance: dg.DagsterInstance, project: Project) -> Iterator[Alert]:
    """Budgets nearly spent by papers at work, or of which a launch ended in the last minutes."""
    recent = dg.RunsFilter(updated_after=datetime.now(UTC) - timedelta(minutes=5))
    under_way = dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED])
    runs = [*instance.get_runs(recent, limit=_AT_ONCE), *instance.get_runs(under_way)]
    for paper in dict.fromkeys(run.tags.get(_PARTITION) for run in runs):
        if paper:
            yield from budget_alerts(
                project, paper, _budget(project, paper), project.config.alerts.budget
            )


def _budget(project: Project, paper: str) -> Budget:
    from repro_pipeline.bundle.folder import open_bundle

    try:
        return open_bundle(project.bundle(paper)).task.budget
    except UserError:
        return Budget()


def _was_cancelled(instance: dg.DagsterInstance, run_id: str) -> bool:
    """Whether someone asked for its end: one whose worker had not begun yet counts as failed then."""
    return bool(instance.all_logs(run_id, of_type=dg.DagsterEventType.RUN_CANCELING))


def _failure(instance: dg.DagsterInstance, run_id: str) -> str:
    """Why a launch broke, in its own words: the innermost error of the step that failed first."""
    logged = instance.all_logs(run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
    for entry in logged:
        error = entry.dagster_event.step_failure_data.error
        while error and error.cause:
            error = error.cause
        if error:
            return error.message
    failed = instance.all_logs(run_id, of_type=dg.DagsterEventType.RUN_FAILURE)
    return failed[-1].message if failed else ""
