"""Why a verdict is what it is: from a claim to its cell, its runs, its assumptions, and their sources.

All of it by digests that can be looked up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from pydantic import BaseModel

from repro_pipeline.choices import choices
from repro_pipeline.claims.model import Claim
from repro_pipeline.errors import BundleError
from repro_pipeline.evidence.gather import code_of_evidence
from repro_pipeline.evidence.model import Evidence
from repro_pipeline.findings import Finding
from repro_pipeline.frozen import Frozen, Sha256
from repro_pipeline.ledger.assumption import Assumption
from repro_pipeline.ledger.events import Head
from repro_pipeline.ledger.runs import Attempt, Run
from repro_pipeline.lineage.model import AssumptionLedger
from repro_pipeline.paper.model import Paper, Source
from repro_pipeline.project import Project
from repro_pipeline.report.facts import claim_runs, source_words
from repro_pipeline.report.later import later_launch
from repro_pipeline.scoring.attribution import Attribution, Cause
from repro_pipeline.scoring.current import other_rubric
from repro_pipeline.scoring.model import ClaimVerdict, Scores
from repro_pipeline.stages import latest, output_of

Output = TypeVar("Output", bound=BaseModel)


class Reported(Frozen):
    """Where the paper reports the value."""

    address: str
    text: str
    """As printed."""
    value: float | None
    unit: str | None
    place: str | None
    """File and line, or page."""
    source: Source | None
    """None where the project graded a submission: it then keeps no reading of the paper."""


class Rests(Frozen):
    """What all runs of the claim share."""

    mode: str
    code_tree: Sha256 | None
    command: tuple[str, ...]
    lock: Sha256 | None
    data: dict[str, Sha256]
    runner: str


class Why(Frozen):
    """The chain of one claim."""

    paper: str
    claim: Claim
    reported: Reported
    verdict: ClaimVerdict
    scores: Sha256
    rubric: Sha256
    evidence: Sha256
    findings: tuple[Finding, ...]
    """Of the integrity rules: those that name the claim, and those that concern all."""
    causes: tuple[Cause, ...]
    rests_on: Rests
    runs: tuple[Run, ...]
    """With every attempt, failed ones included."""
    assumptions: tuple[Assumption, ...]
    """Those that may move the claim."""
    ledger: Head | None
    later: str | None = None
    """That a later launch did not get through, in a sentence."""
    other_rubric: str | None = None
    """That the project's rubric is another one by now, in a sentence."""


def verdicts(project: Project, paper: str) -> dict[str, str]:
    """The claims of a paper, each with its verdict. Raises BundleError where there are no scores."""
    scores, _ = _scored(project, paper)
    return {one.claim: str(one.verdict) for one in scores.verdicts}


def _scored(project: Project, paper: str) -> tuple[Scores, Sha256]:
    """The scores that stand, and their digest."""
    scored = latest(project, paper, "scores")
    if scored is None or scored.output is None:
        reason = f": {scored.reason.sentence}" if scored and scored.reason else "."
        raise BundleError(
            f"'{paper}' has no scores{reason}", hint=f"`repro run {paper}` makes them."
        )
    return output_of(project, scored, Scores), scored.output


def why(project: Project, paper: str, claim: str) -> Why:
    """The chain of a claim as it stands. Raises BundleError where there is no such paper or claim."""
    scores, kept = _scored(project, paper)
    evidence = Evidence.model_validate_json(project.store.get(scores.evidence))
    claims = {one.id: one for one in evidence.claims.claims}
    if claim not in claims:
        raise BundleError(
            f"'{paper}' has no claim '{claim}'.",
            hint=choices(claim, list(claims), lead="It has"),
        )
    one = claims[claim]
    made = code_of_evidence(project, paper, evidence)
    causes = _output(project, paper, "attribution", Attribution)
    assumed = _output(project, paper, "assumption_ledger", AssumptionLedger)
    built = evidence.environment
    return Why(
        paper=paper,
        claim=one,
        reported=_reported(one, _output(project, paper, "parsed_paper", Paper)),
        verdict=next(v for v in scores.verdicts if v.claim == claim),
        scores=kept,
        rubric=scores.rubric,
        evidence=scores.evidence,
        findings=tuple(f for f in scores.findings if not f.claims or claim in f.claims),
        causes=tuple(c for c in causes.causes if c.claim == claim) if causes else (),
        rests_on=Rests(
            mode=evidence.mode,
            code_tree=evidence.code_tree,
            command=made.command if made else (),
            lock=built.lock.sha256 if built else None,
            data={entry.name: entry.sha256 for entry in evidence.data.entries},
            runner=evidence.runner,
        ),
        runs=claim_runs(evidence, claim),
        assumptions=tuple(
            a for a in (assumed.assumptions if assumed else ()) if not a.claims or claim in a.claims
        ),
        ledger=project.ledger.head(paper),
        later=later_launch(project, paper),
        other_rubric=other_rubric(project, scores),
    )


def why_lines(found: Why) -> Iterator[tuple[int, str]]:
    """The chain as a tree: depth and text of each line, the claim first."""
    verdict = found.verdict
    yield 0, f"{found.claim.id}: {verdict.verdict.replace('_', ' ')}. {verdict.reason}"
    for said in filter(None, (found.later, found.other_rubric)):
        yield 1, f"! {said}"
    yield from _reported_lines(found)
    yield 1, f"judged under rubric {found.rubric[:12]}, scores {found.scores[:12]}"
    for finding in found.findings:
        yield 2, f"integrity, {finding.severity}: {finding.kind}. {finding.evidence}"
    for cause in found.causes:
        yield 2, f"cause, {cause.strength}: {cause.cause}. {cause.evidence} Next: {cause.next_step}"
    counted = sum(found.claim.id in run.values for run in found.runs)
    yield (
        1,
        f"rests on {len(found.runs)} runs, {counted} with a value, evidence {found.evidence[:12]}",
    )
    rests = found.rests_on
    yield 2, f"code ({rests.mode}) {_short(rests.code_tree)}: {' '.join(rests.command) or '-'}"
    yield 2, f"environment lock {_short(rests.lock)}; runner {rests.runner}"
    for name, digest in rests.data.items():
        yield 2, f"data {name} {_short(digest)}"
    for run in found.runs:
        yield 2, _run_line(found, run)
        for attempt in run.attempts:
            yield 3, _attempt_line(attempt)
    yield 1, f"{len(found.assumptions) or 'no'} assumptions may move it"
    for one in found.assumptions:
        yield 2, f"{one.id} = {one.value} ({one.influence} influence): {one.statement}"
        yield 3, _source_line(one)
    head = found.ledger
    yield 1, f"ledger head {head.seq}:{head.hash[:12]}" if head else "no ledger"


def _reported_lines(found: Why) -> Iterator[tuple[int, str]]:
    reported = found.reported
    unit = f" {reported.unit}" if reported.unit else ""
    yield 1, f"reported as '{reported.text}' ({reported.value}{unit}) in {reported.address}"
    place = f"{reported.place}, " if reported.place else ""
    source = reported.source
    if source is None:
        yield 2, f"{place}how the paper was read is not on record in this project"
        return
    yield 2, f"{place}read from {source.file} (sha256 {source.sha256[:12]}) by {source.reader}"


def _run_line(found: Why, run: Run) -> str:
    seed = "unseeded" if run.seed is None else f"seed {run.seed}"
    value = run.values.get(found.claim.id)
    said = f"= {value:.6g}" if value is not None else f"{run.counted.status}, no value"
    return f"{run.experiment}, {seed}, {run.purpose} {said} (run {run.run_key[:12]})"


def _attempt_line(attempt: Attempt) -> str:
    why_not = f": {attempt.reason.sentence}" if attempt.reason else ""
    kept = {"log": attempt.log, "record": attempt.record, **attempt.outputs}
    files = ", ".join(f"{name} {digest[:12]}" for name, digest in kept.items() if digest)
    return f"attempt {attempt.number}, {attempt.status} after {attempt.seconds:.1f} s{why_not}" + (
        f" [{files}]" if files else ""
    )


def _source_line(one: Assumption) -> str:
    quote = f': "{one.source.quote}"' if one.source.quote else ""
    found = {True: ", found there", False: ", NOT found there", None: ""}[one.source_found]
    return f"by {one.proposed_by}, from {source_words(one.source)}{found}{quote}"


def _reported(claim: Claim, paper: Paper | None) -> Reported:
    at = claim.provenance
    place = None
    if at:
        where = at.line if at.line is not None else at.page
        place = f"{at.file}:{where}" if where is not None else at.file
    return Reported(
        address=str(claim.address),
        text=claim.text,
        value=claim.value,
        unit=claim.unit,
        place=place,
        source=paper.source if paper else None,
    )


def _output(project: Project, paper: str, stage: str, model: type[Output]) -> Output | None:
    """What a stage left last; None where it left nothing."""
    row = latest(project, paper, stage)
    return output_of(project, row, model) if row and row.output else None


def _short(digest: str | None) -> str:
    return digest[:12] if digest else "none"
