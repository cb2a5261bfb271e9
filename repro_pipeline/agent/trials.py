"""Run what the coder wrote, in the sandbox: single commands, unit tests, small and full experiments.

Each runs on a copy of the workspace, so nothing that a run does changes the code. What comes back is
blind: how it ended, what it printed, and its own values; never how these stand to the paper's.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repro_pipeline.agent.distil import distilled, names_only
from repro_pipeline.agent.workspace import Workspace
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.experiment.campaign import Setting, laboratory, plan, run_planned, spent_before
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.experiment.load import load_experiments, sample_config
from repro_pipeline.experiment.sealed import sealed_claims
from repro_pipeline.experiment.seeds import dev_seeds
from repro_pipeline.experiment.spec import Experiment, ExperimentSpec
from repro_pipeline.ledger.failure import reason_from
from repro_pipeline.ledger.runs import Attempt, Purpose, Run, RunSet
from repro_pipeline.sandbox.policy import SandboxPolicy, default_environment
from repro_pipeline.stages import Ended, Stage
from repro_pipeline.status import Reason, Status

COMMAND_SECONDS = 300.0
"""The longest that a command of the coder, or the unit tests, may take."""
LOG_TAIL = 64_000
_COUNT = re.compile(r"(\d+) (passed|failed|errors?)\b")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
_NOTHING = Implementation(mode="agent", code_tree="0" * 64, command=("python",), experiments=())
"""A command needs a laboratory, and no experiment."""


@dataclass(frozen=True)
class Trial:
    """How something ended that was run."""

    status: Status
    said: str
    """In a sentence."""
    output: str = ""
    """What it printed, distilled."""
    reason: Reason | None = None

    @property
    def ok(self) -> bool:
        """Whether it ended well."""
        return self.status is Status.OK


@dataclass(frozen=True)
class Tests:
    """How the unit tests ended."""

    trial: Trial
    passed: int
    failed: tuple[str, ...]


@dataclass(frozen=True)
class Trials:
    """Where a paper's code is tried."""

    stage: Stage
    setting: Setting
    """Its implementation is replaced by the code that is tried."""
    claims: ReportedClaims
    withhold: bool
    """Whether output must not be shown: it may hold private data."""
    deadline: float | None
    """On the monotonic clock."""

    def run(
        self, workspace: Workspace, command: Sequence[str], *, seconds: float = COMMAND_SECONDS
    ) -> Trial:
        """Run a command in a copy of the workspace, without network."""
        lab = laboratory(self.stage, self._with(_NOTHING))
        lab.scratch.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix="agent-", dir=lab.scratch))
        workdir, out, log = place / "work", place / "out", place / "log"
        try:
            shutil.copytree(workspace.folder, workdir, ignore=shutil.ignore_patterns("__pycache__"))
            out.mkdir()
            limits = lab.limits.model_copy(update={"wall_clock": self._seconds(seconds)})
            mounts = (*lab.mounts, *lab.data.values())
            policy = SandboxPolicy(mounts=mounts, limits=limits, image=lab.image)
            python = lab.runner.inside(lab.python, policy, workdir=workdir, out=out)
            programs = f"{Path(python).parent}:{default_environment('', '')['PATH']}"
            first, *rest = command
            words = [python if first in {"python", "python3"} else first, *rest]
            with lab.slots.hold() as gpus:
                policy = policy.model_copy(update={"environment": {"PATH": programs}, "gpus": gpus})
                outcome = lab.runner.run(words, policy, workdir=workdir, out=out, log=log)
            output = log.read_bytes()[-LOG_TAIL:] if log.is_file() else b""
        finally:
            shutil.rmtree(place, ignore_errors=True)
        shown = names_only(output) if self.withhold else distilled(output)
        if outcome.status is Status.OK:
            return Trial(Status.OK, f"It ended well in {outcome.seconds:.1f} s.", shown)
        text = output.decode("utf-8", errors="replace")
        reason = self.hidden(reason_from(outcome.exit_code, outcome.status, text, outcome.reason))
        return Trial(outcome.status, reason.sentence, shown, reason)

    def tests(self, workspace: Workspace) -> Tests:
        """Run the unit tests with pytest."""
        command = ["python", "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "tests"]
        trial = self.run(workspace, command)
        counts = {word.rstrip("s"): int(n) for n, word in _COUNT.findall(trial.output)}
        failed = tuple(dict.fromkeys(_FAILED.findall(trial.output)))
        if not trial.ok and failed and trial.reason:
            sentence = f"{len(failed)} unit tests fail: {', '.join(failed[:5])}"
            # The failing tests are what identifies the failure, not the summary's timing.
            signature = f"tests:{','.join(failed)[:200]}"
            reason = trial.reason.model_copy(
                update={"sentence": sentence, "code": "tests_failed", "signature": signature}
            )
            trial = replace(trial, said=sentence, reason=reason)
        return Tests(trial, passed=counts.get("passed", 0), failed=failed)

    def load(self, workspace: Workspace) -> tuple[ExperimentSpec, Implementation]:
        """The code as it stands, with its experiments. Raises FileFormatError."""
        spec, experiments = load_experiments(workspace.folder, self.claims)
        return spec, implementation_of(
            spec, experiments, self.claims, self.stage.project.store.put_tree(workspace.folder)
        )

    def sample(self, workspace: Workspace, wanted: Collection[str] = ()) -> RunSet:
        """Run experiments small with two development seeds. Raises FileFormatError."""
        spec, made = self.load(workspace)
        chosen = [
            one.model_copy(update={"config": sample_config(one.config, spec.sample.config)})
            for one in made.experiments
            if not wanted or one.id in wanted
        ]
        return self.runs(made, chosen, seeds=2)

    def full(self, workspace: Workspace, wanted: Collection[str]) -> RunSet:
        """Run experiments in full with one development seed. Raises FileFormatError."""
        _, made = self.load(workspace)
        return self.runs(made, [one for one in made.experiments if one.id in wanted], seeds=1)

    def runs(self, made: Implementation, chosen: Sequence[Experiment], *, seeds: int) -> RunSet:
        """Run experiments of stored code with development seeds."""
        made = made.model_copy(update={"experiments": tuple(chosen)})
        setting = self._with(made)
        planned = plan(
            setting,
            chosen,
            dev_seeds(self.stage.project.secret, made.code_tree, seeds),
            Purpose.DEV,
        )
        result = run_planned(self.stage, planned, self._timed(setting))
        return result.value if isinstance(result, Ended) else result

    def described(self, run: Run) -> tuple[str, str]:
        """A run in a sentence with its own values, and the distilled end of its log if it failed."""
        attempt = run.counted
        if attempt.status is Status.OK:
            values = ", ".join(
                f"{claim}={value}" for claim, value in self.shown_values(run).items()
            )
            return f"{run.experiment}: ok in {attempt.seconds:.1f} s; {values}", ""
        reason = self.hidden(attempt.reason)
        return f"{run.experiment}: {attempt.status}: {reason.sentence}", self._log(attempt)

    def shown_values(self, run: Run) -> dict[str, str]:
        """A run's values, to five digits. One that was computed from sealed labels is not shown: it
        would be a look at the test data.
        """
        sealed = {one.claim for one in sealed_claims(self.setting.bundle.task)}
        return {
            claim: "[sealed]" if claim in sealed else f"{value:.5g}"
            for claim, value in run.values.items()
        }

    def _log(self, attempt: Attempt) -> str:
        if attempt.log is None:
            return ""
        output = self.stage.project.store.get(attempt.log)[-LOG_TAIL:]
        return names_only(output) if self.withhold else distilled(output)

    def hidden(self, reason: Reason | None) -> Reason:
        """The reason, without a program's own words where these must not be shown."""
        reason = reason or Reason(code="unknown", sentence="It failed.")
        if not self.withhold:
            return reason
        return reason.model_copy(update={"sentence": f"It failed ({reason.code})."})

    def _with(self, made: Implementation) -> Setting:
        return replace(self.setting, implementation=made)

    def _seconds(self, wanted: float) -> float:
        if self.deadline is None:
            return wanted
        return max(1.0, min(wanted, self.deadline - time.monotonic()))

    def _timed(self, setting: Setting) -> Setting:
        """The setting with the time that is left as its budget."""
        if self.deadline is None:
            return setting
        left = max(1.0, self.deadline - time.monotonic()) + spent_before(self.stage)
        budget = setting.bundle.task.budget.model_copy(update={"wall_clock": left})
        task = setting.bundle.task.model_copy(update={"budget": budget})
        return replace(setting, bundle=setting.bundle.model_copy(update={"task": task}))


def implementation_of(
    spec: ExperimentSpec, experiments: Sequence[Experiment], claims: ReportedClaims, tree: str
) -> Implementation:
    """The implementation that stored code is."""
    covered = {claim for one in experiments if one.kind != "sensitivity" for claim in one.claims}
    return Implementation(
        mode="agent",
        code_tree=tree,
        command=spec.entry,
        experiments=tuple(experiments),
        sample=spec.sample.config,
        uncovered=tuple(claim.id for claim in claims.claims if claim.id not in covered),
    )
