"""Runs that fail alike by what their code writes: the experiment's others are not started, and it is said."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from repro_pipeline.bundle.task import OutputMapping
from repro_pipeline.experiment.campaign import summed_up
from repro_pipeline.experiment.halts import tries
from repro_pipeline.experiment.metrics import METRICS_NAME
from repro_pipeline.experiment.runs import Laboratory, PlannedRun, execute_runs, plan_runs
from repro_pipeline.experiment.spec import Experiment
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.events import AttemptFinished
from repro_pipeline.ledger.runs import ExperimentKind, Purpose, Run, RunSet
from repro_pipeline.sandbox.policy import Limits, RunOutcome
from repro_pipeline.status import Reason, Status
from resources.artifact_store import FsspecArtifactStore
from resources.ledger_sql import SqlLedger
from resources.slots import Unlimited

GOOD = '{"metrics": [{"claim": "a", "value": 1.5}]}'
NO_FILE, NO_JSON, NO_CLAIM = None, "a = 1.5", '{"metrics": []}'
NOT_FINITE = GOOD.replace("1.5", "NaN")
NULL = GOOD.replace("1.5", "null")
BREAKS, LATE = Status.FAILED, Status.TIMED_OUT
SEEDS = (1, 2, 3, 4, 5)


class Said:
    """A runner whose runs end as is said for each seed, by an experiment's `config`."""

    name = "said"

    def __init__(self, ends: Mapping[tuple[str, int], str | Status | None]) -> None:
        self.ends = dict(ends)
        self.ran: list[tuple[str, int]] = []
        self.leaves = METRICS_NAME
        self.before: Callable[[tuple[str, int]], None] = lambda run: None

    def enforcement(self) -> dict:
        return {}

    def inside(self, path: Path, policy, *, workdir: Path, out: Path) -> str:
        return str(path)

    def run(self, command, policy, *, workdir, out, log, on_output=None) -> RunOutcome:
        experiment, _, seed = (out.parent / "name").read_text().partition(", seed ")
        run = (experiment, int(seed))
        self.ran.append(run)
        self.before(run)
        end = self.ends.get(run, GOOD)
        log.write_text("done\n")
        if isinstance(end, str):
            (out / self.leaves).write_text(end)
        status = end if isinstance(end, Status) else Status.OK
        code = 0 if status is Status.OK else 1
        return RunOutcome(status=status, exit_code=code, reason="it ended.", seconds=0.1)

    def cancel_all(self) -> None:
        pass


@pytest.fixture
def lab(tmp_path: Path) -> Laboratory:
    return Laboratory(
        paper="p",
        ledger=SqlLedger("sqlite:///ledger.sqlite", folder=tmp_path),
        store=FsspecArtifactStore(str(tmp_path / "store")),
        runner=Said({}),
        slots=Unlimited(),
        python=Path("/usr/bin/python3"),
        mounts=(),
        image=None,
        data={},
        stamps={},
        limits=Limits(),
        workers=1,
        scratch=tmp_path / "scratch",
        actor="test",
    )


def planned(
    lab: Laboratory, *names: str, purpose: Purpose = Purpose.EVAL
) -> tuple[PlannedRun, ...]:
    """Every seed of experiments of the same code."""
    folder = lab.scratch.parent / "code"
    folder.mkdir(exist_ok=True)
    (folder / "x.py").write_text("pass\n")
    kind = ExperimentKind.BASELINE
    return plan_runs(
        [
            Experiment(id=name, kind=kind, claims=("a",), config={"of": name}, timeout=9)
            for name in names or ("base",)
        ],
        SEEDS,
        purpose,
        code_tree=lab.store.put_tree(folder),
        command=("x",),
        environment=digest("environment"),
        data_manifest=digest("data"),
        outputs=(),
    )


def launch(lab: Laboratory, ends: Mapping, *names: str, **more) -> tuple[Said, tuple[Run, ...]]:
    runner = Said({(name, seed): end for name, of in ends.items() for seed, end in of.items()})
    runs = execute_runs(planned(lab, *names, **more), replace(lab, runner=runner), stage="baseline")
    return runner, runs


def all_of(end) -> dict:
    return dict.fromkeys(SEEDS, end)


def outcomes(runs: tuple[Run, ...]) -> list[str | None]:
    """The code of each run's counted attempt."""
    return [run.counted.reason.code if run.counted.reason else None for run in runs]


@pytest.mark.parametrize(
    ("end", "code"),
    [(NO_FILE, "metrics_missing"), (NO_JSON, "metrics_malformed"), (NO_CLAIM, "metrics_empty")],
)
def test_two_runs_that_fail_alike_are_enough_and_the_others_are_written_down(lab, end, code):
    runner, runs = launch(lab, {"base": all_of(end)})
    assert runner.ran == [("base", 1), ("base", 2)]
    assert outcomes(runs) == [code, code, *["failed_alike"] * 3]
    assert [run.seed for run in runs] == list(SEEDS)
    for run in runs[2:]:
        (attempt,) = run.attempts
        assert attempt.status is Status.CANCELLED and attempt.seconds == 0 and not attempt.values
        sentence = runs[0].counted.reason.sentence.rstrip(".")
        assert attempt.reason.sentence == (
            "Not run: the first 2 runs of this experiment ended the same way: "
            f"{sentence}; mend the code and run again."
        )


@pytest.mark.parametrize("end", [NOT_FINITE, NULL, GOOD.replace("1.5", '"n/a"'), BREAKS, LATE])
def test_what_may_come_of_the_seed_stops_nothing(lab, end):
    runner, runs = launch(lab, {"base": all_of(end)})
    assert len(runner.ran) == 5 and "failed_alike" not in outcomes(runs)


@pytest.mark.parametrize(
    "ends",
    [
        {1: NO_FILE},
        {1: NO_FILE, 2: NO_JSON, 3: NO_FILE, 4: NO_FILE, 5: NO_FILE},
        {1: NO_FILE, 2: LATE, 3: NO_FILE, 4: NO_FILE},
        {2: NO_FILE, 3: NO_FILE, 4: NO_FILE, 5: NO_FILE},
    ],
    ids=["one seed", "two reasons", "another end", "one that is good"],
)
def test_runs_that_do_not_all_fail_alike_go_on(lab, ends):
    runner, runs = launch(lab, {"base": ends})
    assert len(runner.ran) == 5 and "failed_alike" not in outcomes(runs)


def test_other_experiments_go_on(lab):
    runner, runs = launch(lab, {"bad": all_of(NO_FILE)}, "bad", "good")
    assert runner.ran == [("bad", 1), ("bad", 2), *(("good", seed) for seed in SEEDS)]
    assert outcomes(runs) == ["metrics_missing"] * 2 + ["failed_alike"] * 3 + [None] * 5


def test_probes_are_each_asked_for_themselves(lab):
    runner, _ = launch(lab, {"base": all_of(NO_FILE)}, purpose=Purpose.PROBE)
    assert len(runner.ran) == 5


def test_the_next_launch_begins_with_what_was_not_run(lab):
    launch(lab, {"base": all_of(NO_FILE)})
    for seeds in ([3, 4], [5, 1], [2, 3]):
        runner, runs = launch(lab, {"base": all_of(NO_FILE)})
        assert [seed for _, seed in runner.ran] == seeds
    assert [tries(run) for run in runs] == [2, 2, 2, 1, 1]
    assert [len(run.attempts) for run in runs] == [2, 2, 3, 2, 3]  # left out: 3 and 4 once, 5 twice


def test_a_run_that_failed_is_never_said_to_be_left_out(lab):
    launch(lab, {"base": all_of(NO_FILE)})
    _, runs = launch(lab, {"base": all_of(NO_FILE)})
    assert outcomes(runs) == ["metrics_missing"] * 4 + ["failed_alike"]
    told = summed_up(RunSet(runs=runs, planned=5)).reason.sentence
    assert told.startswith("4 of 5 runs failed") and "1 of 5 runs were not started" in told


def test_an_earlier_launch_s_other_end_speaks_too(lab):
    launch(lab, {"base": all_of(BREAKS)})
    runner, _ = launch(lab, {"base": all_of(NO_FILE)})
    assert [seed for _, seed in runner.ran][:2] == [1, 2] and len(runner.ran) == 5


def test_a_value_that_is_lacking_stops_nothing(lab):
    """It may have come of the seed: a mapping finds nothing where training diverged."""
    mapped = OutputMapping(claim="a", file="results.json", json="$.accuracy")
    lab = replace(lab, outputs=(mapped,))
    runner = Said({("base", seed): '{"loss": 1}' for seed in SEEDS})
    runner.leaves = "results.json"
    runs = execute_runs(planned(lab, "base"), replace(lab, runner=runner), stage="baseline")
    assert outcomes(runs) == ["metrics_not_found"] * 5


def test_an_end_without_the_fault_has_all_tried(lab):
    launch(lab, {"base": all_of(NO_FILE)})
    runner, runs = launch(lab, {"base": {1: NO_FILE, 2: NO_FILE}})
    assert [seed for _, seed in runner.ran] == [3, 4, 5, 1, 2]
    assert outcomes(runs) == ["metrics_missing"] * 2 + [None] * 3
    runner, runs = launch(lab, {})
    assert [seed for _, seed in runner.ran] == [1, 2]
    assert outcomes(runs) == [None] * 5 and all(run.values == {"a": 1.5} for run in runs)


def test_a_run_that_once_succeeded_speaks_for_its_experiment(lab):
    launch(lab, {"base": {1: GOOD, **{seed: BREAKS for seed in SEEDS[1:]}}})
    runner, runs = launch(lab, {"base": all_of(NO_FILE)})
    assert len(runner.ran) == 4 and outcomes(runs) == [None] + ["metrics_missing"] * 4


def test_a_run_under_way_that_ends_otherwise_starts_the_others_after_all(lab):
    """Three at once: two fail alike, and the third only ends when all the others were put aside."""
    runner = Said({("base", 1): NO_FILE, ("base", 2): NO_FILE})
    begun, other = threading.Barrier(3), threading.Event()

    def before(run: tuple[str, int]) -> None:
        if run[1] <= 3 and run[0] == "base":
            begun.wait(20)
            if run[1] == 3:
                assert other.wait(20)
        elif run[0] == "last":
            other.set()

    runner.before = before
    runs = execute_runs(
        planned(lab, "base", "last"), replace(lab, runner=runner, workers=3), stage="baseline"
    )
    order = [run for run in runner.ran if run[0] == "base"]
    assert sorted(order) == [("base", seed) for seed in SEEDS]
    assert outcomes(runs) == ["metrics_missing"] * 2 + [None] * 8


def test_with_several_workers_no_run_is_lost_or_written_twice(lab):
    runner = Said({("base", seed): NO_FILE for seed in SEEDS})
    runs = execute_runs(
        planned(lab, "base", "good"), replace(lab, runner=runner, workers=4), stage="baseline"
    )
    assert [len(run.attempts) for run in runs] == [1] * 10
    base = outcomes(runs)[:5]
    started = len([run for run in runner.ran if run[0] == "base"])
    assert base.count("metrics_missing") == started >= 2
    assert base.count("failed_alike") == 5 - started
    assert outcomes(runs)[5:] == [None] * 5
    kinds = [event.content for event in lab.ledger.events("p")]
    assert sum(isinstance(one, AttemptFinished) for one in kinds) == 10


def test_the_stage_says_how_many_failed_and_how_many_were_not_started(lab):
    _, runs = launch(lab, {"base": all_of(NO_FILE)})
    ended = summed_up(RunSet(runs=runs, planned=5))
    assert ended.status is Status.FAILED
    assert ended.reason == Reason(
        code="metrics_missing",
        sentence="2 of 5 runs failed: base with seed 1: metrics.json: the run did not write it. "
        "3 of 5 runs were not started, as the first ones of their experiment failed alike.",
    )
