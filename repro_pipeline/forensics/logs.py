"""Claimed logs against what the same run prints here."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from repro_pipeline.findings import Finding
from repro_pipeline.forensics.claimed import Place, same
from repro_pipeline.forensics.submitted import ClaimedRun

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d|\d\d?:\d\d(:\d\d)?|\b\d+(\.\d+)?\s*(ms|s|sec|secs|seconds?|min|minutes?|h|it/s|s/it)\b|elapsed|took|time|eta|duration|pid|memory|[MG]B\b",
    re.I,
)
_RESULT = re.compile(
    r"epoch|loss|acc|error|err\b|train|valid|test|step|iter|score|f1|auc|mean|result|metric", re.I
)
_WORD = re.compile(r"[A-Za-z_]{4,}")


def findings(
    runs: Sequence[ClaimedRun],
    printed: Mapping[Place, str],
    sources: str,
    *,
    repeatable: bool | None,
) -> Iterator[Finding]:
    """What the logs give away. `printed` is the text of each re-run, `sources` all code as one text."""
    for run in runs:
        if not run.log:
            continue
        place = (run.experiment, run.seed)
        yield from _against_metrics(run)
        if place in printed:
            yield from _foreign(run, printed[place], sources)
            if repeatable:
                yield from _other_numbers(run, printed[place])


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()][:5000]


def _template(line: str) -> str:
    return _NUMBER.sub("#", line)


def _against_metrics(run: ClaimedRun) -> Iterator[Finding]:
    """A line that names a claim, and another value than metrics.json."""
    for claim, value in run.values.items():
        says = re.compile(re.escape(claim) + r"[^\d\n]{0,12}?(-?\d+(?:\.\d+)?)")
        about = [line for line in _lines(run.log) if says.search(line) and not _TIME.search(line)]
        told = [[float(n) for n in _NUMBER.findall(line.replace(claim, ""))] for line in about[-1:]]
        if any(numbers and not any(_fits(n, value) for n in numbers) for numbers in told):
            yield Finding(
                kind="log_contradicts_metrics",
                evidence=f"{run.name}: the log's last line about {claim} is "
                f"`{about[-1][:80]}`, and metrics.json says "
                f"{value:.5g}.",
                severity="suspect",
                claims=(claim,),
            )


def _fits(shown: float, value: float) -> bool:
    """Whether a printed number is a value, rounded as printed, or as per cent or fraction of it."""
    return any(
        same(shown * scale, value) or abs(shown * scale - value) <= 0.02 * abs(value)
        for scale in (1.0, 100.0, 0.01)
    )


def _foreign(run: ClaimedRun, printed: str, sources: str) -> Iterator[Finding]:
    """Lines of results that the run does not print, and whose words stand nowhere in the code."""
    here, known = {_template(line) for line in _lines(printed)}, set(_WORD.findall(sources))
    results = [line for line in _lines(run.log) if _RESULT.search(line) and _NUMBER.search(line)]
    strange = [
        line
        for line in results
        if _template(line) not in here and not known & set(_WORD.findall(line))
    ]
    absent = [line for line in results if _template(line) not in here]
    if len(strange) >= 2 and 2 * len(strange) > len(results):
        yield Finding(
            kind="foreign_log",
            evidence=f"{run.name}: {len(strange)} of {len(results)} lines of results in the "
            "log are none that this "
            f"code can print: `{strange[0][:80]}`.",
            severity="suspect",
        )
    elif len(absent) >= 2 and 2 * len(absent) > len(results):
        yield Finding(
            kind="other_log",
            evidence=f"{run.name}: {len(absent)} of {len(results)} lines of results in the "
            "log are not printed by a "
            f"re-run: `{absent[0][:80]}`.",
            severity="unverified",
        )


def _other_numbers(run: ClaimedRun, printed: str) -> Iterator[Finding]:
    """The same lines with other numbers, from code that repeats itself to the bit."""
    here: dict[str, Counter] = defaultdict(Counter)
    for line in _lines(printed):
        here[_template(line)][tuple(_NUMBER.findall(line))] += 1
    unlike, alike = [], 0
    for line in _lines(run.log):
        template = _template(line)
        if _TIME.search(line) or template not in here or not _NUMBER.search(line):
            continue
        if _close_to_any([float(n) for n in _NUMBER.findall(line)], here[template]):
            alike += 1
        else:
            unlike.append(line)
    if unlike and len(unlike) >= alike:
        yield Finding(
            kind="log_not_reproduced",
            evidence=f"{run.name}: {len(unlike)} of {len(unlike) + alike} lines of the log "
            "have other numbers than a "
            f"re-run with the same seed prints: `{unlike[0][:80]}`.",
            severity="suspect" if len(unlike) > 1 or not alike else "unverified",
        )


def _close_to_any(numbers: list[float], known: Counter) -> bool:
    return any(
        all(
            abs(a - float(b)) <= 0.01 * max(abs(a), abs(float(b))) + 1e-9
            for a, b in zip(numbers, one, strict=True)
        )
        for one in known
    )
