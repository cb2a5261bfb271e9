"""The trials of a comparison as partitions: task, contestant and repeat in one key; each runs once.

A comparison is a project of its own, so its trials never mix with a user's papers. What counts is its
ledger: a partition that ended there is not run again, whatever Dagster knows of it.
"""

from collections.abc import Callable
from pathlib import Path

import dagster as dg

from repro_pipeline.bench.places import GRADING, JUDGING, suite_link
from repro_pipeline.bench.plan import Plan, TrialKey, scoring_code
from repro_pipeline.bench.results import ended, keep_row, planned, started
from repro_pipeline.bench.roster import make_agent
from repro_pipeline.bench.suite import open_suite
from repro_pipeline.bench.trial import Bench, TrialRow
from repro_pipeline.project import Project
from repro_pipeline.sandbox.egress import AllowedHost, EgressRequest, EgressRules
from resources.egress_proxy import EgressProxy
from resources.opening import open_project
from resources.user_cache import cache_folder

TRIALS = dg.DynamicPartitionsDefinition(name="bench_trials")


class BenchResource(dg.ConfigurableResource):
    """The folder of a comparison, its suite, and whether recorded sessions answer for the models."""

    root: str
    replay: str | None = None
    """A folder of sessions, one per trial."""

    def project(self) -> Project:
        """The comparison's own project."""
        return open_project(Path(self.root))

    def bench(self) -> Bench:
        """Where its trials happen. Raises UserError where its suite or this program is another now."""
        project = self.project()
        plan = planned(project)
        suite = open_suite(suite_link(Path(self.root)).resolve())
        plan.check_same(suite.content, scoring_code())
        return Bench(
            suite=suite,
            plan=plan,
            folder=Path(self.root),
            environments=cache_folder() / "environments",
            open_project=self._opener(plan),
            runner=plan.runner,
            docker=project.config.docker,
        )

    def _opener(self, plan: Plan) -> Callable[[Path], Project]:
        def opened(root: Path) -> Project:
            if root.name == GRADING:
                return open_project(root)
            session, name = None, root.parent.name
            asks = plan.contestant(key_of(name).contestant).models is not None
            if self.replay and (asks or root.name == JUDGING):
                session = str(Path(self.replay, f"{name}.jsonl"))  # an error where there is none
            return open_project(root, agent=True, replay=session)

        return opened

    def run(self, key: TrialKey) -> TrialRow | None:
        """Run a trial and record its row; None where it ended before.

        Raises AtWork where another process runs it, CeilingReached, and what the trial raises.
        """
        project, bench = self.project(), self.bench()
        if key.name in ended(project):
            return None
        contestant = bench.plan.contestant(key.contestant)
        allow = bench.plan.allow
        agent = make_agent(
            contestant,
            bench.suite,
            allow=allow,
            open_door=(lambda tell: door_to(allow, tell)) if allow else None,
        )
        with started(project, bench.plan, key):
            if key.name in ended(project):  # in the meantime, elsewhere
                return None
            row = bench.run(key, contestant, agent)
            if self.replay and contestant.models is not None:
                row = row.model_copy(update={"replayed": True})
            keep_row(project, row)
        return row


def door_to(hosts: tuple[str, ...], tell: Callable[[EgressRequest], None]) -> EgressProxy:
    """The way out to some hosts."""
    allowed = (AllowedHost(host=host, methods=("GET", "HEAD", "POST")) for host in hosts)
    return EgressProxy(EgressRules(allow=tuple(allowed)), tell)


@dg.asset(partitions_def=TRIALS, group_name="bench", owners=["team:reproduction"])
def bench_trial(context: dg.AssetExecutionContext, bench: BenchResource) -> dg.MaterializeResult:
    """One trial: an agent works on a task's blinded paper, and the grader runs what it left."""
    key = key_of(context.partition_key)
    row = bench.run(key)
    if row is None:
        context.log.info(f"{key.name} ended before; its row stands.")
        return dg.MaterializeResult(metadata={"reused": True})
    values = {name: value for name, value in row.measures.values.items() if value is not None}
    return dg.MaterializeResult(
        metadata={
            "reused": False,
            "status": str(row.status),
            "reason": row.reason.sentence if row.reason else "-",
            "integrity": row.measures.integrity,
            **values,
        }
    )


def key_of(name: str) -> TrialKey:
    """The trial of a partition's name."""
    task, contestant, repeat = name.split("--")
    return TrialKey(task=task, contestant=contestant, repeat=int(repeat))


def bench_definitions(root: Path) -> dg.Definitions:
    """The Dagster app of a folder of results: its trials, and nothing of a user's papers."""
    return dg.Definitions(
        assets=[bench_trial],
        jobs=[dg.define_asset_job("run_trials", selection=[bench_trial])],
        resources={"bench": BenchResource(root=str(root))},
        executor=dg.in_process_executor,
    )


def register_trials(instance: dg.DagsterInstance, plan: Plan) -> None:
    """Make a partition of each trial of a plan."""
    instance.add_dynamic_partitions(TRIALS.name, [key.name for key in plan.trials()])


def run_trial(instance: dg.DagsterInstance, bench: BenchResource, key: TrialKey) -> None:
    """Materialise one trial's partition in this process. Raises what the trial raises."""
    dg.materialize(
        [bench_trial],
        instance=instance,
        partition_key=key.name,
        resources={"bench": bench},
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        raise_on_error=True,
    )
