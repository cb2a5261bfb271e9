"""What a reviewer is shown of one claim: cell, runs, logs, code; no more than that in a blind review."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, stdev

from repro_pipeline.claims.model import Claim
from repro_pipeline.evidence.model import Evidence
from repro_pipeline.ledger.runs import Run
from repro_pipeline.paper.address import CellAddress
from repro_pipeline.paper.model import Paper
from repro_pipeline.paper.resolve import resolve_cell
from repro_pipeline.report import words
from repro_pipeline.scoring.model import ReviewItem, Scores
from repro_pipeline.status import Status

QUESTION = (
    "Do these runs support the paper's value? confirmed: they do; overturned: they contradict it; "
    "unclear: neither."
)


def blind_sheet(
    paper: Paper,
    evidence: Evidence,
    claim: Claim,
    runs: tuple[Run, ...],
    *,
    tolerance: float,
    logs: Mapping[str, tuple[str, ...]],
    files: tuple[str, ...],
) -> list[str]:
    """Lines that hold neither verdict nor score, nor who or what made the code, nor other reviews.

    `tolerance` is the rubric's, relative; `logs` are the last lines of runs' logs by run key;
    `files` are the names of the code's files.
    """
    unit = f" {words.unit(claim)}".rstrip()
    found = [run.values[claim.id] for run in runs if claim.id in run.values]
    lines = [
        f"Claim {claim.id}: {claim.metric}"
        f"{f' of {claim.method}' if claim.method else ''}"
        f"{f' on {claim.dataset}' if claim.dataset else ''}, "
        f"{claim.statistic}; better: {claim.direction}",
        f"The paper reports {words.reported(claim)}{unit}",
        *(f"  {line}" for line in _cell(paper, claim)),
        f"Equal means within {words.threshold(tolerance)} of it, relatively.",
        f"Runs, {len(found)} of {len(runs)} with a value:",
        *(f"  {_run(run, claim)}" for run in runs),
    ]
    if found:
        spread = f", standard deviation {stdev(found):.4g}" if len(found) > 1 else ""
        lines.append(f"  mean {fmean(found):.6g}{spread}")
    for run in runs:
        if run.run_key in logs:
            lines.append(f"The end of the log of {_name(run)}:")
            lines += [f"  | {line}" for line in logs[run.run_key] or ["(it printed nothing)"]]
    lines += [f"Code tree {evidence.code_tree or 'none'}: {', '.join(files) or 'no files'}"]
    return [words.as_printed(line) for line in lines]


def open_lines(scores: Scores, item: ReviewItem) -> list[str]:
    """What a blind reviewer is shown after the decision only: verdict, producer, other reviews."""
    (verdict,) = (one for one in scores.verdicts if one.claim == item.claim)
    findings = [one for one in scores.findings if item.claim in one.claims or not one.claims]
    lines = [
        f"The rubric's verdict: {words.words(verdict.verdict)}. {verdict.reason}",
        f"Made in mode '{scores.mode}'; integrity {scores.integrity}. Drawn at {item.why}.",
        *(f"Finding, {finding.severity}: {finding.evidence}" for finding in findings),
        *(f"Review by {d.reviewer}: {d.decision}. {d.reason}" for d in item.decisions),
    ]
    return [words.plain(line) for line in lines]


def _cell(paper: Paper, claim: Claim) -> list[str]:
    """Where the value stands, and what stands there."""
    place = f"{claim.address}" + (f" ({claim.provenance})" if claim.provenance else "")
    if not isinstance(claim.address, CellAddress):
        return [place]
    table, row, column, _, _ = resolve_cell(paper, claim.address)
    return [place, f"{table}: {table.caption}", f"the cell reads '{table.grid[row][column].text}'"]


def _run(run: Run, claim: Claim) -> str:
    counted = run.counted
    value = f"{run.values[claim.id]:.6g}" if claim.id in run.values else "no value"
    tries = f", attempt {counted.number} of {len(run.attempts)}" if len(run.attempts) > 1 else ""
    why = f": {counted.reason.sentence}" if counted.reason else ""
    ended = "" if counted.status is Status.OK else f", {words.words(counted.status)}{why}"
    return f"{_name(run)}: {value}, {words.duration(counted.seconds)}{tries}{ended}"


def _name(run: Run) -> str:
    return (
        f"{run.experiment}, {'unseeded' if run.seed is None else f'seed {run.seed}'}, {run.purpose}"
    )
