"""Come to an implementation: freeze the code, then try each experiment on a small sample."""

from __future__ import annotations

from repro_pipeline.agent.given_code import check_sensitivity, code_folder, freeze_code
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.environment.model import BuiltEnvironment, DataManifest
from repro_pipeline.experiment.campaign import Setting, plan, run_planned, small_setting
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.experiment.sealed import check_sealed
from repro_pipeline.experiment.seeds import dev_seeds
from repro_pipeline.frozen import digest
from repro_pipeline.ledger.events import ImplementationFrozen
from repro_pipeline.ledger.runs import Purpose, RunSet
from repro_pipeline.stages import Ended, Stage


def implement(
    stage: Stage,
    bundle: Bundle,
    claims: ReportedClaims,
    data: DataManifest,
    environment: BuiltEnvironment,
) -> Implementation | Ended:
    """Freeze the given code and run its baselines once on a small sample, where it declares one.

    A sample run that fails ends the stage: the full runs would fail as well, and cost more.
    """
    project = stage.project
    check_sealed(bundle.task, data, stage.bundle_folder)
    code = code_folder(bundle, stage.bundle_folder)
    made = freeze_code(bundle, code, claims, project.store)
    check_sensitivity(bundle.task, made.experiments)
    stage.warn("mode_code", "The given code is run as it is, without an agent: this is unblinded.")
    if made.uncovered:
        stage.warn("claims_not_covered", f"No experiment covers: {', '.join(made.uncovered)}.")
    tried = _sample_runs(stage, Setting(bundle, made, environment, data))
    if isinstance(tried, Ended) and tried.reason.code != "budget_exhausted":
        return Ended(None, tried.status, tried.reason)
    stage.record(
        ImplementationFrozen(code_tree=made.code_tree, mode=made.mode, claims=digest(claims))
    )
    return made


def _sample_runs(stage: Stage, setting: Setting) -> RunSet | Ended:
    small = small_setting(setting)
    experiments = small.implementation.experiments
    if not experiments:
        return RunSet()
    seeds = dev_seeds(stage.project.secret, setting.implementation.code_tree)
    return run_planned(stage, plan(small, experiments, seeds, Purpose.DEV), small)
