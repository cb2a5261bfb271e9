"""Stage `reported_claims`: the numbers that are to be reproduced."""

from __future__ import annotations

from assets.stage import stage_asset, table
from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.claims.chosen import claims_of, what_claims_rest_on
from repro_pipeline.claims.model import ReportedClaims
from repro_pipeline.paper.model import Paper
from repro_pipeline.stages import Stage


def describe(reported: ReportedClaims) -> dict:
    """The claims as a table."""
    rows = [
        {
            "claim": claim.id,
            "reported": claim.text,
            "unit": claim.unit or "",
            "key": claim.key,
            "where": str(claim.address),
            "read at": str(claim.provenance or ""),
        }
        for claim in reported.claims
    ]
    return {
        **table("claims", rows),
        "count": len(reported.claims),
        "main": reported.main,
        "pairs": len(reported.pairs),
        "excluded pairs": sum(pair.excluded is not None for pair in reported.pairs),
        "proposed by": reported.proposed_by,
    }


def said_of_claims(stage: Stage, paper_bundle: Bundle, parsed_paper: Paper) -> dict:
    """Only what is said of claims matters, by whoever has the say, and the document."""
    return what_claims_rest_on(stage, paper_bundle.task, parsed_paper)


@stage_asset(group="understand", version="1", describe=describe, depends_on=said_of_claims)
def reported_claims(stage: Stage, paper_bundle: Bundle, parsed_paper: Paper) -> ReportedClaims:
    """The reported values to reproduce, each read from its cell of the paper, and the ablation pairs.

    A person's choice counts first (`repro claims`), then `task.yaml`; else a model proposes cells.
    """
    return claims_of(stage, paper_bundle.task, parsed_paper)
