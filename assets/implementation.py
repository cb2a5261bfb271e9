"""Stage `implementation`: the code that will be scored, frozen under its hash."""

from __future__ import annotations

from assets.stage import stage_asset, table
from repro_pipeline.agent.make import make_implementation, what_it_rests_on
from repro_pipeline.agent.write import Ground
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.environment.model import BuiltEnvironment, DataManifest
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.lineage.model import AssumptionLedger
from repro_pipeline.paper.model import Paper
from repro_pipeline.stages import Ended, Stage


def describe(implementation: Implementation) -> dict:
    """The experiments that the code offers."""
    rows = [
        {
            "experiment": e.id,
            "kind": str(e.kind),
            "of": e.of or "",
            "change": str(e.change or ""),
            "claims": ", ".join(e.claims),
            "timeout (s)": e.timeout,
        }
        for e in implementation.experiments
    ]
    return {
        **table("experiments", rows),
        "mode": implementation.mode,
        "code tree": implementation.code_tree,
        "command": " ".join(implementation.command),
        "claims without a run": ", ".join(implementation.uncovered) or "none",
    }


def inputs(
    stage: Stage,
    paper_bundle: Bundle,
    parsed_paper: Paper,
    reported_claims: ReportedClaims,
    data_manifest: DataManifest,
    environment: BuiltEnvironment,
    assumption_ledger: AssumptionLedger,
) -> dict:
    """The paper counts only where an agent reads it."""
    return what_it_rests_on(
        stage,
        Ground(
            bundle=paper_bundle,
            paper=parsed_paper,
            claims=reported_claims,
            data=data_manifest,
            environment=environment,
            assumptions=assumption_ledger,
        ),
    )


@stage_asset(group="build", version="2", describe=describe, depends_on=inputs)
def implementation(
    stage: Stage,
    paper_bundle: Bundle,
    parsed_paper: Paper,
    reported_claims: ReportedClaims,
    data_manifest: DataManifest,
    environment: BuiltEnvironment,
    assumption_ledger: AssumptionLedger,
) -> Implementation | Ended:
    """The experiment's code, frozen under its hash after a small first run of each experiment.

    Mode `code`: given code is run as it is, without an agent, and is labelled unblinded. Mode `agent`:
    models write it from the blinded paper, within a budget.
    """
    return make_implementation(
        stage,
        Ground(
            bundle=paper_bundle,
            paper=parsed_paper,
            claims=reported_claims,
            data=data_manifest,
            environment=environment,
            assumptions=assumption_ledger,
        ),
    )
