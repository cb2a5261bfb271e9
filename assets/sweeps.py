"""`sweep`: a paper reproduced again, with fresh seeds, and held against its reproduction.

By hand, from the UI, or at the times under `sweeps` in repro.yaml. What stands of the paper stays as it
is; the claims over all sweeps stand in its report.
"""

import dagster as dg

from assets.rescore import papers_with_evidence
from assets.stage import OWNERS, PAPERS, check_specs
from repro_pipeline.config import ProjectConfig
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.events import SweepEnded
from repro_pipeline.project import Project
from repro_pipeline.report.plots import trend_markdown
from repro_pipeline.scoring.model import Scores
from repro_pipeline.stages import Stage, latest, output_of
from repro_pipeline.status import Status
from repro_pipeline.sweeps.model import SweepResult
from repro_pipeline.sweeps.run import begin_sweep, check_begun, leave_out, sweep_paper
from repro_pipeline.sweeps.trend import trend_of, trend_rows
from resources.project import ProjectResource

_CHECKS = {
    "stage_ok": "The sweep's runs ended well; if not, why.",
    "same_conclusion": "Every claim came to the conclusion of the reproduction.",
}


class Sweep(dg.Config):
    """How a paper is reproduced again."""

    fresh_dependencies: bool = False
    """With what the code's requirements resolve to now, in place of the lock."""
    number: int = 0
    """Of a sweep over several papers that was begun already; 0 begins one of this paper."""


@dg.asset(
    partitions_def=PAPERS,
    deps=["scores"],
    group_name="sweeps",
    pool="runs",
    kinds={"python"},
    owners=OWNERS,
    code_version="1",
    check_specs=check_specs("sweep", _CHECKS),
    description="The paper's frozen code with fresh seeds, under its lock or under newer packages; each "
    "claim held against the reproduction, and over all sweeps. Changes no score.",
)
def sweep(
    context: dg.AssetExecutionContext, config: Sweep, project: ProjectResource
) -> dg.MaterializeResult:
    """Run it, and show what came of it."""
    opened, paper = project.open(), context.partition_key
    stage = Stage("sweep", paper, opened, launch=context.run.run_id)
    fresh = config.fresh_dependencies
    if config.number:
        check_begun(opened, config.number, paper, fresh_dependencies=fresh)
    number = config.number or begin_sweep(
        opened, [paper], fresh_dependencies=fresh, launch=context.run.run_id
    )
    with opened.locked(paper):
        row = sweep_paper(stage, number, fresh_dependencies=fresh)
    context.log.info(f"sweep {number} of {paper}: {row.status}. {row.sentence}")
    return dg.MaterializeResult(
        metadata=describe(opened, row),
        data_version=dg.DataVersion(row.result or digest(row)),
        check_results=[
            dg.AssetCheckResult(
                check_name="stage_ok",
                passed=row.status is Status.OK,
                metadata={"reason": row.reason.sentence if row.reason else "-"},
            ),
            dg.AssetCheckResult(
                check_name="same_conclusion",
                passed=row.result is not None and not row.changed,
                severity=dg.AssetCheckSeverity.WARN,
                description=row.sentence,
            ),
        ],
    )


def describe(project: Project, row: SweepEnded) -> dict:
    """What a sweep found: comparisons, packages, the trend, and each claim's value as a number."""
    known = {
        "sweep": row.number,
        "status": str(row.status),
        "fresh dependencies": row.fresh_dependencies,
        "says": row.sentence,
    }
    if row.result is None:
        return known
    result = SweepResult.model_validate_json(project.store.get(row.result))
    scores = output_of(project, latest(project, row.paper, "scores"), Scores)
    trend = trend_of(project, row.paper, scores)
    compared = [
        {
            "claim": c.claim,
            "before": c.before,
            "now": c.after,
            "because": c.because,
            "says": c.sentence,
        }
        for c in result.comparisons
    ]
    packages = [
        {"package": p.name, "before": p.before or "-", "now": p.after or "-"}
        for p in result.packages
    ]
    tables = {"comparison": compared, "packages that changed": packages, "trend": trend_rows(trend)}
    return {
        **known,
        "claims with another conclusion": len(result.changed),
        "trend of the claims": dg.MetadataValue.md(trend_markdown(trend)),
        **{
            name: dg.MetadataValue.table([dg.TableRecord(row) for row in rows])
            for name, rows in tables.items()
            if rows
        },
        # Numbers are plotted over time on the asset's page.
        **{f"value of {v.claim}": v.value for v in result.verdicts if v.value is not None},
    }


sweep_of_a_paper = dg.define_asset_job(
    "sweep_paper",
    selection=dg.AssetSelection.assets("sweep", "report", "scoreboard"),
    description="Reproduce a paper again with fresh seeds, under the lock or newer packages, and compare.",
)


def sweep_schedules(config: ProjectConfig) -> list[dg.ScheduleDefinition]:
    """The sweeps that repro.yaml gives a time; none by default."""
    times = {
        "sweep_with_the_lock": (config.sweeps.cron, False),
        "sweep_with_fresh_dependencies": (config.sweeps.fresh_dependencies_cron, True),
    }
    return [
        _schedule(name, cron, config.sweeps.timezone, fresh)
        for name, (cron, fresh) in times.items()
        if cron
    ]


def _schedule(name: str, cron: str, timezone: str, fresh: bool) -> dg.ScheduleDefinition:
    @dg.schedule(
        name=name,
        job=sweep_of_a_paper,
        cron_schedule=cron,
        execution_timezone=timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Reproduces papers again, as `sweeps` in repro.yaml says.",
    )
    def sweep_papers(context: dg.ScheduleEvaluationContext, project: ProjectResource):
        opened = project.open()
        papers = list(opened.config.sweeps.papers) or papers_with_evidence(opened)
        if not papers:
            return dg.SkipReason("no paper was reproduced yet")
        launch = f"schedule:{context.scheduled_execution_time.isoformat()}"
        number = begin_sweep(opened, papers, fresh_dependencies=fresh, launch=launch)
        # One that Dagster does not know would make it refuse all.
        known = set(context.instance.get_dynamic_partitions(PAPERS.name))
        for paper in (one for one in papers if one not in known):
            row = leave_out(opened, number, paper, fresh_dependencies=fresh, launch=launch)
            context.log.warning(row.sentence)
        return [sweep_request(paper, number, fresh) for paper in papers if paper in known]

    return sweep_papers


def sweep_request(paper: str, number: int, fresh: bool) -> dg.RunRequest:
    """One paper's launch in a sweep."""
    return dg.RunRequest(
        run_key=f"sweep:{number}:{paper}",
        partition_key=paper,
        run_config=sweep_config(number, fresh),
    )


def sweep_config(number: int, fresh: bool) -> dict:
    """The launch's configuration."""
    return {"ops": {"sweep": {"config": {"number": number, "fresh_dependencies": fresh}}}}
