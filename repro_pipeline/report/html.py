"""The report of one paper as a single HTML page: no script, no network, every text escaped.

The texts of papers, logs and models are hostile data: the template escapes all of them, control
characters are dropped, and the page's own policy forbids scripts and any request.
"""

from __future__ import annotations

import base64
import hashlib
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any

from repro_pipeline.environment.model import BuiltEnvironment
from repro_pipeline.experiment.model import Attempt, Run
from repro_pipeline.experiment.spec import ExperimentKind
from repro_pipeline.lineage.model import AssumptionSource
from repro_pipeline.report import figures, words
from repro_pipeline.report.again import script
from repro_pipeline.report.grid import rebuilt
from repro_pipeline.report.model import ReportData
from repro_pipeline.report.privacy import is_private
from repro_pipeline.report.rows import ClaimRow, PairRow, claim_rows, pair_rows
from repro_pipeline.scoring.history import change_rows
from repro_pipeline.scoring.model import Evidence
from repro_pipeline.scoring.review import after_review
from repro_pipeline.scoring.sensitivity import movements
from repro_pipeline.status import Outcome, Sign, Status, Verdict


def render_html(data: ReportData) -> str:
    """The whole page. The same data give the same bytes."""
    claims = claim_rows(data.evidence.claims, data.scores, data.review)
    pairs = pair_rows(data.evidence.claims, data.scores)
    rule = data.rubric.dimensions.metric_parity
    return (
        environment()
        .get_template("report.html")
        .render(
            data=data,
            claims=claims,
            runs={row.claim.id: claim_runs(data.evidence, row.claim.id) for row in claims},
            pairs=pairs,
            verdict_counts=_counts(Verdict, (row.verdict.verdict for row in claims)),
            undecided=undecided(data, claims, pairs),
            after_review=after_review(data.scores, data.review.items if data.review else ()),
            forest=figures.forest(claims, rule),
            panels=figures.panels(claims, rule),
            panel_side=figures.PANEL,
            tables=[(held.table, rebuilt(held, claims)) for held in data.tables],
            movements=movements(data.evidence),
            explained={(one.kind, one.name): one for one in data.explanations},
            names={row.claim.id: row.label for row in claims},
            quanta={row.claim.id: row.claim.quantum for row in claims},
            cost=cost(data),
            limits=sandbox_limits(data.attempts),
            private=is_private(data.evidence.data),
            image=image_words(data.evidence.environment),
            review=review_words(data),
            script=script(data),
            changes=change_rows(data.change) if data.change else [],
            trends=figures.trends(data.trend.claims) if data.trend else (),
        )
    )


@dataclass(frozen=True)
class Open:
    """Something that could not be decided."""

    what: str
    outcome: str
    why: str
    needs: str
    """What would decide it, where that is known."""


def undecided(
    data: ReportData, claims: tuple[ClaimRow, ...], pairs: tuple[PairRow, ...]
) -> tuple[Open, ...]:
    """Claims, pairs and checks that are neither passed nor failed; a check of one claim is the claim."""
    names = {row.claim.id for row in claims}
    of_claims = [
        Open(row.label, row.verdict.verdict, row.verdict.reason, _needs(row))
        for row in claims
        if row.verdict.verdict in {Verdict.INCONCLUSIVE, Verdict.NOT_RUN}
    ]
    of_pairs = [
        Open(row.label, row.result.sign, row.result.reason, "")
        for row in pairs
        if row.result.sign in {Sign.UNDECIDED, Sign.NOT_RUN}
    ]
    alike: dict[tuple[str, Outcome, str], list[str]] = {}
    for dimension in data.scores.dimensions:
        for check in dimension.checks:
            unclear = check.outcome in {Outcome.INCONCLUSIVE, Outcome.NOT_CHECKABLE}
            if unclear and check.id not in names:
                alike.setdefault((dimension.id, check.outcome, check.sentence), []).append(check.id)
    of_checks = [
        Open(words.words(f"{dimension}: {', '.join(checks)}"), outcome, sentence, "")
        for (dimension, outcome, sentence), checks in alike.items()
    ]
    return tuple(of_claims + of_pairs + of_checks)


def claim_runs(evidence: Evidence, claim: str) -> tuple[Run, ...]:
    """The runs that the claim's verdict rests on, failed ones included, in the order of seeds."""
    covering = {
        experiment.id
        for experiment in evidence.experiments
        if claim in experiment.claims
        and experiment.kind not in {ExperimentKind.SENSITIVITY, ExperimentKind.PROBE}
    }
    runs = [run for run in evidence.runs if run.experiment in covering]
    return tuple(
        sorted(runs, key=lambda run: (run.purpose, run.seed is None, run.seed or 0, run.run_key))
    )


@dataclass(frozen=True)
class Cost:
    """What the reproduction cost, in words."""

    attempts: str
    wall: str
    cpu: str
    stages: str
    models: str


def cost(data: ReportData) -> Cost:
    """What all attempts, stages and calls of models took."""
    attempts, calls = data.attempts, data.model_cost
    measured = [attempt.cpu_seconds for attempt in attempts if attempt.cpu_seconds is not None]
    cpu = words.duration(sum(measured)) if measured else "not measured"
    if 0 < len(measured) < len(attempts):
        cpu += f" ({len(attempts) - len(measured)} of {len(attempts)} attempts not measured)"
    models = "none called"
    if calls is not None:
        usd = "price not known" if calls.usd is None else f"US$ {calls.usd:,.2f}"
        if calls.usd is not None and calls.unpriced:
            usd += f" and {calls.unpriced:,} calls of unknown price,"
        models = f"{usd} for {calls.calls:,} calls, {calls.tokens:,} tokens"
    cancelled = sum(one.status is Status.CANCELLED for one in attempts)
    failed = len(data.failed_attempts) - cancelled
    ended = f", {cancelled} cancelled" if cancelled else ""
    return Cost(
        attempts=f"{len(attempts)}, {failed or 'none'} failed{ended}" if attempts else "none",
        wall=words.duration(data.run_seconds),
        cpu=cpu,
        stages=words.duration(sum(stage.seconds for stage in data.stages)),
        models=models,
    )


def review_words(data: ReportData) -> str:
    """How far people have looked at what was drawn for them."""
    if data.review is None or not data.review.items:
        return "nothing drawn"
    drawn = len(data.review.items)
    decided = sum(1 for item in data.review.items if item.decisions)
    return f"{decided} of {drawn} claims that were drawn have a decision"


def image_words(built: BuiltEnvironment | None) -> str:
    """Which image runs had, by its digest in the engine that built it, and upon which other."""
    if built is None or built.image is None:
        return "none, runs use an environment that is built from the lock alone"
    image = built.image
    return f"{image.id}, built from the lock alone upon {image.base} ({image.base_id})"


def sandbox_limits(attempts: Iterable[Attempt]) -> dict[str, str]:
    """Per limit how it held over all attempts; how many of each where attempts differ."""
    held: dict[str, Counter[str]] = {}
    for attempt in attempts:
        for limit, how in attempt.limits.items():
            held.setdefault(limit, Counter())[how] += 1
    return {
        limit: ", ".join(
            how if len(hows) == 1 else f"{how} ({n} attempts)" for how, n in hows.items()
        )
        for limit, hows in sorted(held.items())
    }


_TONES = {
    "yes": {"reproduced", "pass", "agree", "ok", "clean", "hard"},
    "no": {"not_reproduced", "fail", "opposite", "failed", "violation", "unavailable"},
    "maybe": {
        "inconclusive", "undecided", "unverified", "suspect", "partial", "timed_out", "watched",
        "budget_exhausted", "not_checkable",
    },
}  # fmt: skip


def tone(outcome: str) -> str:
    """Which of the four marks an outcome bears: yes, no, maybe or none."""
    return next((name for name, outcomes in _TONES.items() if outcome in outcomes), "none")


@cache
def environment() -> Any:
    """The templates of this package, compiled once: escaping always on, an unknown name is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("repro_pipeline.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    templates.filters |= {
        "words": words.words,
        "number": words.number,
        "difference": words.difference,
        "percent": words.percent,
        "threshold": words.threshold,
        "tied": words.tied,
        "span": words.span,
        "duration": words.duration,
        "unit": words.unit,
        "tone": tone,
        "moment": moment,
        "source": source_words,
        "claims": claims_words,
        "describe": figures.describe,
    }
    return templates


def inline_script(name: str) -> dict[str, str]:
    """A script of this package and its digest for the page's policy, which allows no other script."""
    text = (files("repro_pipeline.report") / "templates" / name).read_text("utf-8")
    digest = hashlib.sha256(text.encode()).digest()
    return {"script": text, "script_digest": base64.b64encode(digest).decode()}


def moment(at: datetime) -> str:
    """A point in time, in UTC, to the second."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def source_words(source: AssumptionSource) -> str:
    """Where an assumption comes from: its kind, and the place."""
    place = source.file or ""
    if source.file and source.line is not None:
        place += f":{source.line}"
    parts = [words.words(source.kind), source.reference, place]
    return ", ".join(part for part in parts if part)


def claims_words(claims: Collection[str], names: dict[str, str]) -> str:
    """Some of the claims by name; all of them in two words."""
    if set(claims) == set(names):
        return "all claims"
    return "; ".join(names.get(claim, claim) for claim in claims)


def _needs(row: ClaimRow) -> str:
    verdict = row.verdict
    if verdict.seeds_to_decide is None:
        return ""
    seconds = verdict.seconds_to_decide
    more = "" if seconds is None else f", {words.duration(seconds)} more of runs"
    return f"{verdict.seeds_to_decide} seeds would decide{more}"


def _counts(kinds: type[Verdict], found: Iterable[Verdict]) -> dict[str, int]:
    counted = Counter(found)
    return {kind.value: counted[kind] for kind in kinds}


def _printable(value: Any) -> Any:
    """Drop control characters, which papers' texts hold and HTML forbids."""
    if not isinstance(value, str) or value.isprintable():
        return value
    kept = (sign for sign in value if sign in "\n\t" or unicodedata.category(sign) != "Cc")
    return type(value)("".join(kept))
