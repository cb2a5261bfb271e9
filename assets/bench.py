"""The trials of a comparison as partitions: task, contestant and repeat in one key; each runs once.

A comparison is a project of its own, so its trials never mix with a user's papers. What counts is its
ledger: a partition that ended there is not run again, whatever Dagster knows of it.
"""

from collections.abc import Callable
from pathlib import Path

import dagster as dg

from repro_pipeline.bench.plan import Plan, TrialKey
from repro_pipeline.bench.results import check_ceiling, ended, keep_row
from repro_pipeline.bench.roster import make_agent
from repro_pipeline.bench.suite import open_suite
from repro_pipeline.bench.trial import Bench, TrialRow
from repro_pipeline.project import Project
from resources.egress_proxy import EgressProxy
from resources.opening import open_project
from resources.user_cache import cache_folder

TRIALS = dg.DynamicPartitionsDefinition(name="bench_trials")


class BenchResource(dg.ConfigurableResource):
    """The folder of a comparison, its suite, and whether recorded sessions answer for the models."""

    root: str
    suite: str
    plan: str
    """The plan as JSON."""
    replay: str | None = None
    """A folder of sessions, one per trial."""
    runner: str = "bubblewrap"
    allow: list[str] = []
    """Hosts that command agents may ask."""

    def project(self) -> Project:
        """The comparison's own project."""
        return open_project(Path(self.root))

    def bench(self) -> Bench:
        """Where its trials happen."""
        return Bench(
            suite=open_suite(Path(self.suite)),
            plan=Plan.model_validate_json(self.plan),
            folder=Path(self.root),
            environments=cache_folder() / "environments",
            open_project=self._opener(),
            runner=self.runner,
        )

    def _opener(self) -> Callable[[Path], Project]:
        plan = Plan.model_validate_json(self.plan)

        def opened(root: Path) -> Project:
            if root.name != "project":  # the grader asks nobody
                return open_project(root)
            session, name = None, root.parent.name
            if self.replay and plan.contestant(key_of(name).contestant).models is not None:
                session = str(Path(self.replay, f"{name}.jsonl"))  # an error where there is none
            return open_project(root, agent=True, replay=session)

        return opened

    def run(self, key: TrialKey) -> TrialRow:
        """Run a trial and record its row."""
        project, bench = self.project(), self.bench()
        check_ceiling(project, bench.plan, key)
        contestant = bench.plan.contestant(key.contestant)
        agent = make_agent(
            contestant,
            bench.suite,
            allow=tuple(self.allow),
            open_door=self._door if self.allow else None,
        )
        row = bench.run(key, contestant, agent)
        keep_row(project, row)
        return row

    def _door(self) -> EgressProxy:
        from repro_pipeline.sandbox.egress import AllowedHost, EgressRules

        rules = EgressRules(
            allow=tuple(
                AllowedHost(host=host, methods=("GET", "HEAD", "POST")) for host in self.allow
            )
        )
        return EgressProxy(rules, lambda request: None)


@dg.asset(partitions_def=TRIALS, group_name="bench", owners=["team:reproduction"])
def bench_trial(context: dg.AssetExecutionContext, bench: BenchResource) -> dg.MaterializeResult:
    """One trial: an agent works on a task's blinded paper, and the grader runs what it left."""
    key = key_of(context.partition_key)
    if key.name in ended(bench.project()):
        context.log.info(f"{key.name} ended before; its row stands.")
        return dg.MaterializeResult(metadata={"reused": True})
    row = bench.run(key)
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


def run_trial(instance: dg.DagsterInstance, bench: BenchResource, key: TrialKey) -> bool:
    """Materialise one trial's partition in this process; whether its row stands afterwards.

    Raises what the trial raises.
    """
    instance.add_dynamic_partitions(TRIALS.name, [key.name])
    result = dg.materialize(
        [bench_trial],
        instance=instance,
        partition_key=key.name,
        resources={"bench": bench},
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        raise_on_error=True,
    )
    return result.success
