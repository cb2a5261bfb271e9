"""What the planner is shown: a state whose size does not grow with the ledger, with no raw logs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from repro_pipeline.agent.decisions import Summary
from repro_pipeline.agent.material import BlindClaim, Material
from repro_pipeline.agent.standing import Standing
from repro_pipeline.asking.prompt import Block, cut_middle

MOST = {
    "claims": 8000,
    "points": 9000,
    "assumptions": 4000,
    "files": 2500,
    "looked_up": 6000,
    "work": 9000,
}
"""Characters of each part at most; together they bound the state."""


def planner_values(
    standing: Standing,
    material: Material,
    summary: Summary | None,
    looked_up: str,
    files: Sequence[str],
    open_now: Sequence[str],
    doubts: Sequence[str],
    left: str,
) -> dict[str, str | Block]:
    """The values of the planner's prompt."""
    return {
        "claims": Block("claims", claims_text(material, MOST["claims"]), "source"),
        "points": Block("points", _points(standing, summary), "own"),
        "assumptions": Block("assumptions", _assumptions(standing, material), "own"),
        "given": Block("assumptions given with the paper", _given(material), "source"),
        "files": Block("files", _within(files, MOST["files"]) or "none", "own"),
        "looked_up": Block("last look-up", cut_middle(looked_up, MOST["looked_up"]), "source"),
        "work": Block("work", _work(standing, open_now, doubts, left), "output"),
    }


def claims_text(material: Material, most: int) -> str:
    """The claims without values, a line each, and the pairs of them that the paper compares."""
    lines = [_claim(claim) for claim in material.claims]
    pairs = [f"{pair.kind}: {pair.variant} against {pair.full}" for pair in material.pairs]
    text = _within(lines, most * 3 // 4)
    return f"{text}\n\n{_within(pairs, most // 4)}".strip()


def _claim(claim: BlindClaim) -> str:
    parts = [
        f"{claim.id}: {claim.metric}",
        *(
            f"{name} {value}"
            for name in ("dataset", "method", "unit")
            if (value := getattr(claim, name))
        ),
        f"{claim.statistic}" + (f" over {claim.over}" if claim.over else ""),
        f"{claim.n_runs} runs" if claim.n_runs else "",
        f"{claim.direction} is better" if claim.direction != "match" else "",
        "KEY" if claim.key else "",
        claim.stands_in,
    ]
    return "; ".join(part[:200] for part in parts if part)


def _points(standing: Standing, summary: Summary | None) -> str:
    if summary is None:
        return "none"
    lines = []
    for point in summary.points:
        check = standing.points.get(point.id)
        verdict = f" [{check.verdict}]" if check else ""
        lines.append(f"{point.id} ({point.part}){verdict}: {point.statement[:400]}")
    unsaid = [f"left unsaid: {one[:300]}" for one in summary.unsaid]
    most = MOST["points"]
    return f"{_within(lines, most * 4 // 5)}\n{_within(unsaid, most // 5)}".strip()


def _assumptions(standing: Standing, material: Material) -> str:
    own = [f"{name}: {text[:300]}" for name, text in standing.assumed.items()]
    return _within(own, MOST["assumptions"] // 2, last=True) or "none"


def _given(material: Material) -> str:
    most = MOST["assumptions"] // 4
    known = _within([one[:400] for one in material.assumptions], most) or "none"
    asked = _within([one[:200] for one in material.gaps], most) or "none"
    return f"{known}\n\nWhat a checklist asks and no source answers:\n{asked}"


def _work(standing: Standing, open_now: Sequence[str], doubts: Sequence[str], left: str) -> str:
    most = MOST["work"]
    runs = [
        f"{'sample' if place is standing.sample else 'in full'}"
        f"{'' if run['tree'] == standing.tree else ' (before the last change)'}: {run['line'][:300]}"
        for place in (standing.sample, standing.full)
        for run in place.values()
    ]
    failures = [
        f"{count} times in {kind}: {said[:300]}"
        for (kind, _), (said, count) in standing.failures.items()
    ]
    tests = standing.tests
    passed = f"{tests['passed']} passed, {len(tests['failed'])} failed" if tests else "never run"
    parts = {
        "Budget left": left,
        "Still open before the work is complete": _within(open_now, most // 6) or "nothing",
        "To be looked at": _within(doubts, most // 6) or "nothing",
        "Unit tests": passed,
        "Experiments": _within(runs, most // 5) or "none run",
        "Failures so far": _within(failures, most // 8, last=True) or "none",
        "Last steps": _within([line[:420] for line in standing.recent], most // 3, last=True)
        or "none",
    }
    return "\n".join(f"{name}:\n{text}\n" for name, text in parts.items())


def _within(lines: Iterable[str], most: int, *, last: bool = False) -> str:
    """As many lines as there is room for, from the beginning or the end, and how many are not shown."""
    listed = list(lines)
    chosen: list[str] = []
    size = 0
    for line in reversed(listed) if last else listed:
        size += len(line) + 1
        if size > most - 40:
            break
        chosen.append(line)
    dropped = len(listed) - len(chosen)
    ordered = chosen[::-1] if last else chosen
    note = [f"[{dropped} more of {len(listed)} not shown]"] if dropped else []
    return "\n".join([*note, *ordered] if last else [*ordered, *note])
