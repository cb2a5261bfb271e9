"""One row per claim and per pair, in words: what the page, Markdown and the terminal show alike."""

from __future__ import annotations

from dataclasses import dataclass

from repro_pipeline.claims.model import Claim, ClaimPair, ReportedClaims
from repro_pipeline.report import words
from repro_pipeline.scoring.model import ClaimVerdict, PairResult, ReviewQueue, Scores
from repro_pipeline.status import Verdict


@dataclass(frozen=True)
class ClaimRow:
    """A claim, its verdict, and both in words."""

    claim: Claim
    verdict: ClaimVerdict
    label: str
    reported: str
    reproduced: str
    seeds: str
    """Seeds with a value out of those planned; `not planned` where no experiment covers the claim."""
    error: str
    verdict_words: str
    doubts: tuple[str, ...]
    """How far the value cannot be believed: the severities of findings about this claim."""
    tags: tuple[str, ...]
    """What else must be said beside the verdict."""
    reviewed: Verdict | None = None
    """The verdict of the people who reviewed the claim, which goes before the rubric's."""


@dataclass(frozen=True)
class PairRow:
    """An ablation or a comparison, what the paper asserts of it, and what the runs say."""

    pair: ClaimPair
    result: PairResult
    label: str
    expected: str
    found: str
    sign_words: str


def claim_rows(
    claims: ReportedClaims, scores: Scores, review: ReviewQueue | None = None
) -> tuple[ClaimRow, ...]:
    """All claims in the paper's order."""
    verdicts = {verdict.claim: verdict for verdict in scores.verdicts}
    names = words.labels(claims.claims)
    reviewed = {item.claim: item.verdict for item in review.items} if review else {}
    return tuple(
        _claim_row(claim, verdicts[claim.id], names[claim.id], scores, reviewed.get(claim.id))
        for claim in claims.claims
    )


def pair_rows(claims: ReportedClaims, scores: Scores) -> tuple[PairRow, ...]:
    """All pairs in the order of the claims' file."""
    results = {result.pair: result for result in scores.pairs}
    names = words.labels(claims.claims)
    return tuple(
        _pair_row(pair, results[pair.id], names, claims)
        for pair in claims.pairs
        if pair.id in results
    )


def _claim_row(
    claim: Claim, verdict: ClaimVerdict, label: str, scores: Scores, reviewed: Verdict | None = None
) -> ClaimRow:
    error = verdict.relative_error
    return ClaimRow(
        claim=claim,
        verdict=verdict,
        label=label,
        reported=words.reported(claim),
        reproduced=words.reproduced(claim, verdict),
        seeds=words.seeds(verdict),
        error="–" if error is None else words.percent(error),
        verdict_words=words.words(verdict.verdict),
        doubts=_doubts(claim, scores),
        tags=_tags(verdict),
        reviewed=reviewed,
    )


def _doubts(claim: Claim, scores: Scores) -> tuple[str, ...]:
    severities = (
        finding.severity
        for finding in scores.findings
        if claim.id in finding.claims and finding.severity != "info"
    )
    return tuple(dict.fromkeys(severities))


def _tags(verdict: ClaimVerdict) -> tuple[str, ...]:
    tags = []
    if verdict.unit_error is not None:
        tags.append(f"unit error? × {verdict.unit_error:g}")
    if verdict.deterministic:
        equal = f" ({verdict.n} equal runs)" if verdict.n > 1 else ""
        tags.append(f"deterministic{equal}")
    if verdict.tied:
        many = verdict.n > 1
        tags.append(f"same value in all {verdict.n} seeds" if many else "same value again")
    if verdict.better_than_reported:
        tags.append("better than reported")
    if verdict.stands is False:
        tags.append("the miss may be chance, as one of so many claims")
    return tuple(tags)


def _pair_row(
    pair: ClaimPair, result: PairResult, names: dict[str, str], claims: ReportedClaims
) -> PairRow:
    quantum = claims.claim(pair.full).quantum
    return PairRow(
        pair=pair,
        result=result,
        label=_pair_label(claims.claim(pair.variant), claims.claim(pair.full), names),
        expected=_expected(pair, quantum),
        found="–" if result.difference is None else words.difference(result.difference, quantum),
        sign_words=words.words(result.sign),
    )


def _pair_label(variant: Claim, full: Claim, names: dict[str, str]) -> str:
    """'Twonorm: One tree against Selection' within a data set, else both names in full."""
    methods = variant.method, full.method
    if variant.dataset and variant.dataset == full.dataset and all(methods) and len({*methods}) > 1:
        return words.plain(f"{variant.dataset}: {variant.method} against {full.method}")
    return f"{names[variant.id]} against {names[full.id]}"


def _expected(pair: ClaimPair, quantum: float | None) -> str:
    if pair.expected_difference is not None:
        return words.difference(pair.expected_difference, quantum)
    return {1: "higher", -1: "lower", None: "–"}[pair.expected_sign]
