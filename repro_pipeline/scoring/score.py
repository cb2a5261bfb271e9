"""All that a rubric makes of the evidence: verdicts, pairs, dimensions, integrity, one outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from repro_pipeline.evidence.model import Evidence
from repro_pipeline.frozen import Sha256, digest
from repro_pipeline.ledger.runs import Attempt
from repro_pipeline.scoring import (
    ablation_faithful,
    environment_parity,
    integrity,
    metric_parity,
    no_leakage,
)
from repro_pipeline.scoring.align import align_measures
from repro_pipeline.scoring.measures import measures
from repro_pipeline.scoring.model import (
    ClaimVerdict,
    DimensionScore,
    FalseDiscovery,
    IntegrityStatus,
    Scores,
)
from repro_pipeline.scoring.multiple import control
from repro_pipeline.scoring.observations import Observation, observe
from repro_pipeline.scoring.rubric import Dimensions, Rubric
from repro_pipeline.scoring.verdict import judge_claim
from repro_pipeline.status import Outcome, Verdict
from repro_pipeline.wording import counted, plain

_BELIEVABLE = {IntegrityStatus.CLEAN, IntegrityStatus.UNVERIFIED}
_NOT_IN_THE_WAY = {Outcome.PASS, Outcome.NOT_APPLICABLE}


def score(
    evidence: Evidence,
    rubric: Rubric,
    rubric_digest: str,
    attempts: Sequence[Attempt] = (),
    *,
    content: Sha256 | None = None,
) -> Scores:
    """Score a paper. The same evidence under the same rubric gives the same scores, bit for bit.

    `attempts` are all attempts ever made for the paper, where they are known: those that are no
    part of the evidence (trial runs, earlier code) only serve the integrity findings. `content` is the
    evidence's digest as stored; a later program may write the same evidence otherwise.
    """
    observed = observe(evidence)
    verdicts, discovery = control(judge_claims(evidence, rubric, observed), rubric.false_discovery)
    pairs = ablation_faithful.judge_pairs(evidence, verdicts)
    dimensions = (
        environment_parity.score(evidence, rubric, observed),
        metric_parity.score(evidence, rubric, verdicts),
        ablation_faithful.score(evidence, rubric, pairs),
        no_leakage.score(evidence, rubric),
    )
    status, findings = integrity.findings(evidence, observed, verdicts, attempts)
    overall = _overall(dimensions, status)
    return Scores(
        paper=evidence.paper,
        mode=evidence.mode,
        rubric=rubric_digest,
        evidence=content or digest(evidence),
        overall=overall,
        headline=_headline(evidence, verdicts, discovery, dimensions, status, overall),
        verdicts=tuple(verdicts.values()),
        pairs=pairs,
        dimensions=dimensions,
        integrity=status,
        findings=findings,
        score=_weighted(dimensions, rubric.dimensions),
        false_discovery=discovery,
        measures=(
            *measures(tuple(verdicts.values())),
            *align_measures(evidence.integrity.alignment),
        ),
    )


def judge_claims(
    evidence: Evidence, rubric: Rubric, observed: Mapping[str, Observation]
) -> dict[str, ClaimVerdict]:
    """The verdict of every claim that was frozen before the implementation, in the claims' order."""
    earlier = tuple(reason.sentence.rstrip(".") for reason in evidence.failures)
    verdicts = {}
    for claim in evidence.claims.claims:
        one = observed[claim.id]
        verdicts[claim.id] = judge_claim(
            claim,
            one.values,
            one.planned,
            rubric.dimensions.metric_parity,
            one.seconds_per_seed,
            source=one.source,
            repeats=one.repeats,
            same_outputs=one.same_outputs,
            missing=one.missing if one.runs else (*earlier, *one.missing),
        )
    return verdicts


def _overall(dimensions: Sequence[DimensionScore], status: IntegrityStatus) -> Outcome:
    """Fail by one critical dimension or a violation; pass only where nothing stands in the way."""
    critical = [dimension.outcome for dimension in dimensions if dimension.critical]
    if status is IntegrityStatus.VIOLATION or Outcome.FAIL in critical:
        return Outcome.FAIL
    passed = Outcome.PASS in critical and set(critical) <= _NOT_IN_THE_WAY
    return Outcome.PASS if passed and status in _BELIEVABLE else Outcome.INCONCLUSIVE


def _headline(
    evidence: Evidence,
    verdicts: Mapping[str, ClaimVerdict],
    discovery: FalseDiscovery,
    dimensions: Sequence[DimensionScore],
    status: IntegrityStatus,
    overall: Outcome,
) -> str:
    counts = Counter(verdict.verdict for verdict in verdicts.values())
    share = f"{counts[Verdict.REPRODUCED]} of {counted(len(verdicts), 'claim')}"
    standing = {
        Verdict.REPRODUCED: discovery.reproduced,
        Verdict.NOT_REPRODUCED: discovery.not_reproduced,
    }
    said = [f"{share} reproduced{_of_key(evidence, verdicts)}"]
    for verdict in (Verdict.NOT_REPRODUCED, Verdict.INCONCLUSIVE, Verdict.NOT_RUN):
        if counts[verdict]:
            said.append(f"{counts[verdict]} {plain(verdict)}")
    fallen = [
        f"{left} of the {counts[verdict]} {plain(verdict)}"
        for verdict, left in standing.items()
        if left < counts[verdict]
    ]
    if fallen:
        said.append(f"with false-discovery control {' and '.join(fallen)} stand")
    named = [
        f"{plain(dimension.id)} {_says(dimension.outcome)}"
        for dimension in dimensions
        if dimension.critical and dimension.outcome is not Outcome.PASS
    ]
    named += [f"integrity is {status}"] if status is not IntegrityStatus.CLEAN else []
    but = overall is Outcome.PASS and status is not IntegrityStatus.CLEAN
    why = f"{', but ' if but else ': '}{', '.join(named)}" if named else ""
    return f"{', '.join(said)}; overall {overall}{why}."


def _of_key(evidence: Evidence, verdicts: Mapping[str, ClaimVerdict]) -> str:
    key = evidence.claims.key_claims
    if len(key) == len(verdicts):
        return ""
    reproduced = sum(verdicts[claim.id].verdict is Verdict.REPRODUCED for claim in key)
    return f" ({reproduced} of {len(key)} key)"


def _says(outcome: Outcome) -> str:
    return "fails" if outcome is Outcome.FAIL else f"is {plain(outcome)}"


def _weighted(dimensions: Sequence[DimensionScore], rules: Dimensions) -> float | None:
    """The weight of the passed dimensions as a share of those that apply; None without weight."""
    applying = [d for d in dimensions if d.outcome is not Outcome.NOT_APPLICABLE]
    weights = {dimension.id: getattr(rules, dimension.id).weight for dimension in applying}
    total = sum(weights.values())
    passed = sum(weights[d.id] for d in applying if d.outcome is Outcome.PASS)
    return passed / total if total else None
