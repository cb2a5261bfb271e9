"""Prove a suite: run each reference anew, and hold what it gives against what is recorded.

A claim's fresh values and its recorded ones are compared by Student's two-sample test (both are of one
program, so of one spread), over all claims of the suite with Holm's correction: a suite that is right
is refused with a probability of at most LEVEL. Values without spread must be the recorded ones to
RELATIVE.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from repro_pipeline.bench.compare import holm
from repro_pipeline.bench.given import found_in, read_task, write_given
from repro_pipeline.bench.model import ClaimTruth
from repro_pipeline.bench.places import OpenProject
from repro_pipeline.bench.suite import Suite, SuiteTask
from repro_pipeline.config import ProjectConfig
from repro_pipeline.errors import UserError
from repro_pipeline.frozen import Frozen
from repro_pipeline.sandbox.names import RunnerName
from repro_pipeline.scoring.model import ClaimVerdict, Scores
from repro_pipeline.statistics import mean, sample_sd
from repro_pipeline.status import Verdict
from repro_pipeline.submission.grade import grade
from repro_pipeline.submission.place import make_folder

LEVEL = 0.01
RELATIVE = 1e-6


class Fresh(Frozen):
    """What a reference gave for a claim just now, beside what is recorded."""

    claim: str
    where: str
    """The recorded one's file:line."""
    values: tuple[float, ...]
    recorded: ClaimTruth
    verdict: Verdict
    reason: str
    p: float | None = None
    """Of Student's test, unadjusted; None where there is no spread to test by."""
    fault: str | None = None


class Proof(Frozen):
    """What validating one task found. It holds where there is no fault."""

    task: str
    runner: RunnerName
    """What ran the reference."""
    fresh: tuple[Fresh, ...] = ()
    faults: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """Reported values that are not reached, with the recorded reason."""
    cpu_seconds: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against the task."""
        return not self.faults and not any(one.fault for one in self.fresh)


@dataclass(frozen=True)
class Prover:
    """Where references are run."""

    open_project: OpenProject
    folder: Path
    environments: Path
    execution: ProjectConfig
    """The runner, its engine and the limits."""
    seeds: int = 5

    def prove(self, suite: Suite, tasks: Iterable[SuiteTask]) -> tuple[Proof, ...]:
        """Validate tasks. What is wrong with one is a fault of its proof, and hinders no other."""
        return tested(tuple(self._task(suite, task) for task in tasks))

    def measure(self, suite: Suite, task: SuiteTask) -> Scores:
        """Run a reference with fresh seeds, and score it. Raises UserError."""
        root = self.folder / task.id
        shutil.rmtree(root, ignore_errors=True)
        config = self.execution.model_copy(update={"seeds": self.seeds})
        make_folder(root, config, self.environments)
        graded = grade(
            self.open_project(root), task.id, task.bundle_folder, task.reference, probe=False
        )
        return graded.scores

    def _task(self, suite: Suite, task: SuiteTask) -> Proof:
        try:
            truth = task.truth
            faults = tuple(self._given(suite, task))
            scores = self.measure(suite, task)
        except UserError as error:
            return Proof(task=task.id, runner=self.execution.runner, faults=(str(error),))
        places = {one.claim: task.where("claims", n) for n, one in enumerate(truth.claims)}
        fresh = tuple(
            _fresh(truth.of(one.claim), one, places[one.claim]) for one in scores.verdicts
        )
        return Proof(
            task=task.id,
            runner=self.execution.runner,
            fresh=fresh,
            faults=(*faults, *_ablations(task, scores)),
            labels=tuple(f"{one.claim}: {one.why}" for one in truth.claims if one.why),
        )

    def _given(self, suite: Suite, task: SuiteTask) -> Iterable[str]:
        if task.bundle.has_code:
            yield "the bundle holds code; the verified implementation belongs into reference/."
        given = self.folder / "given" / task.id
        shutil.rmtree(given, ignore_errors=True)
        read = read_task(task.bundle, task.bundle_folder)
        write_given(read, suite.file.packages, given)
        yield from found_in(given, read, task)


def tested(proofs: Sequence[Proof]) -> tuple[Proof, ...]:
    """The proofs with the faults that the tests over all their claims find."""
    all_p = [one.p for proof in proofs for one in proof.fresh if one.p is not None]
    adjusted = iter(holm(all_p))

    def judged(one: Fresh) -> Fresh:
        if one.p is None or (p := next(adjusted)) > LEVEL:
            return one
        said = (
            f"gives {mean(one.values):.6g} over {len(one.values)} seeds, and {one.recorded.mean:.6g} "
            f"is recorded (Student's test, p = {p:.2g} after Holm's correction)"
        )
        return one.model_copy(update={"fault": said})

    return tuple(
        proof.model_copy(update={"fresh": tuple(judged(one) for one in proof.fresh)})
        for proof in proofs
    )


def student(fresh: Sequence[float], recorded: ClaimTruth) -> float:
    """The two-sided p-value of Student's test between values and a recorded mean, sd and n."""
    from scipy.stats import ttest_ind_from_stats

    own = sample_sd(fresh)
    test = ttest_ind_from_stats(
        mean(fresh), own, len(fresh), recorded.mean, recorded.sd, recorded.n, equal_var=True
    )
    return float(test.pvalue)


def _fresh(recorded: ClaimTruth, verdict: ClaimVerdict, where: str) -> Fresh:
    values = tuple(verdict.values.values())
    made = Fresh(
        claim=recorded.claim,
        where=where,
        values=values,
        recorded=recorded,
        verdict=verdict.verdict,
        reason=verdict.reason,
    )
    return made.model_copy(update=_compared(values, recorded, verdict))


def _compared(values: Sequence[float], recorded: ClaimTruth, verdict: ClaimVerdict) -> dict:
    if len(values) < max(2, verdict.planned):
        missing = "; ".join(verdict.missing[:1]) or "the reference gives no value"
        return {"fault": f"has {len(values)} of {verdict.planned} values: {missing}"}
    if _contradict(verdict.verdict, recorded.verdict):
        said = f"is {verdict.verdict} by the fresh runs, and {recorded.verdict} is recorded"
        return {"fault": said}
    spread = sample_sd(values)
    if bool(spread) != bool(recorded.sd):
        said = "varies" if spread else "has no spread"
        return {"fault": f"{said} over the seeds, and a spread of {recorded.sd:g} is recorded"}
    if spread:
        return {"p": student(values, recorded)}
    if not math.isclose(values[0], recorded.mean, rel_tol=RELATIVE, abs_tol=1e-12):
        return {"fault": f"gives {values[0]!r}, and {recorded.mean!r} is recorded"}
    return {}


def _contradict(one: Verdict, other: Verdict) -> bool:
    """Whether two verdicts cannot both be right: what one seed count leaves open another may decide."""
    return {one, other} == {Verdict.REPRODUCED, Verdict.NOT_REPRODUCED}


def _ablations(task: SuiteTask, scores: Scores) -> Iterable[str]:
    known = {one.pair: (n, one.sign) for n, one in enumerate(task.truth.ablations)}
    for pair in scores.pairs:
        if pair.pair not in known:
            continue
        position, sign = known[pair.pair]
        what = f"{task.where('ablations', position)}: the ablation '{pair.pair}'"
        if pair.difference is None:
            yield f"{what} gave no difference: {pair.reason}"
        elif pair.difference * sign <= 0:
            yield (
                f"{what} has the difference {pair.difference:.4g}, and the sign {sign:+d} is recorded."
            )
