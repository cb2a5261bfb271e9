"""The report of one paper as Markdown: for terminals, mail, merge requests. Texts of papers are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from repro_pipeline.ledger.runs import Attempt
from repro_pipeline.report import words
from repro_pipeline.report.again import script
from repro_pipeline.report.facts import (
    cost,
    image_words,
    moment,
    review_words,
    source_words,
    undecided,
)
from repro_pipeline.report.markdown import ablations_markdown, escaped, table
from repro_pipeline.report.model import ReportData
from repro_pipeline.report.rows import ClaimRow, claim_rows, pair_rows
from repro_pipeline.scoring.history import change_rows
from repro_pipeline.scoring.review import after_review
from repro_pipeline.scoring.sensitivity import movements
from repro_pipeline.sweeps.trend import trend_rows


def render_markdown(data: ReportData) -> str:
    """The whole report but its figures. The same data give the same text."""
    claims = claim_rows(data.evidence.claims, data.scores, data.review)
    names = {row.claim.id: row.label for row in claims}
    sections = {
        "Verdict": _verdict(data, claims),
        "Claims": _claims(claims),
        "Why claims did not reproduce": _causes(data, names),
        "Ablations and comparisons": [ablations_markdown(data.scores, data.evidence.claims)],
        "Rubric": _rubric(data),
        "Since the scores before": _change(data),
        "Over time": _trend(data),
        "Integrity": _integrity(data),
        "Assumptions": _assumptions(data),
        "Sensitivity": _sensitivity(data, names),
        "Failed attempts": _failures(data),
        "Environment": _environment(data),
        "Review by people": _review(data, names),
        "Run it again": _again(data),
    }
    parts = [f"# {escaped(data.title)}", _byline(data)]
    for name, body in sections.items():
        parts += [f"## {name}", *(block.rstrip("\n") for block in body)]
    return "\n\n".join(parts) + "\n"


def _byline(data: ReportData) -> str:
    authors = escaped(", ".join(data.authors)) or "Authors not read"
    year = f" ({data.year})" if data.year else ""
    return f"Reproduction report. {authors}{year}. Made {moment(data.generated_at)}."


def _verdict(data: ReportData, claims: tuple[ClaimRow, ...]) -> Iterator[str]:
    yield f"**{escaped(data.scores.headline)}**"
    if said := after_review(data.scores, data.review.items if data.review else ()):
        yield escaped(said)
    if data.evidence.runner == "unsafe_local":
        yield "**No sandbox: the runner was unsafe\\_local.**"
    spent = cost(data)
    yield _list(
        f"Overall: {words.words(data.scores.overall)}; integrity: {data.scores.integrity}",
        f"Mode: {data.scores.mode}, {data.mode_label}",
        f"Cost: attempts {spent.attempts}; run time {spent.wall}; CPU time {spent.cpu}; "
        f"models: {spent.models}",
        f"Review: {review_words(data)}",
        *(f"A stage ended badly: {one.sentence}" for one in data.evidence.failures),
    )
    found = undecided(data, claims, pair_rows(data.evidence.claims, data.scores))
    if found:
        yield f"Not decided ({len(found)}):"
        yield _list(
            *(f"{one.what}: {words.words(one.outcome)}. {one.needs or one.why}" for one in found)
        )


def _claims(claims: tuple[ClaimRow, ...]) -> Iterator[str]:
    yield table(
        ("claim", "reported", "reproduced", "seeds", "error", "95 % interval", "verdict", "reason"),
        [
            (
                row.claim.id + (" ★" if row.claim.key else ""),
                f"{row.reported} {words.unit(row.claim)}".rstrip(),
                row.reproduced,
                row.seeds,
                row.error,
                words.span(row.verdict.interval95, row.claim.quantum),
                ", ".join((row.verdict_words, *row.doubts, *row.tags, *_reviewed(row))),
                row.verdict.reason,
            )
            for row in claims
        ],
    )
    yield f"{words.SPREAD} {words.INTERVALS} ★: a key claim."


def _reviewed(row: ClaimRow) -> tuple[str, ...]:
    return (f"by review {words.words(row.reviewed)}",) if row.reviewed else ()


def _causes(data: ReportData, names: dict[str, str]) -> Iterator[str]:
    if data.attribution is None:
        yield "No attribution was made."
    elif not data.attribution.causes:
        yield "Every claim reproduced: there is nothing to explain."
    else:
        yield table(
            ("claim", "cause", "support", "evidence", "what would tell"),
            [
                (
                    names.get(one.claim, one.claim),
                    words.words(one.cause),
                    words.words(one.strength),
                    one.evidence,
                    one.next_step,
                )
                for one in data.attribution.causes
            ],
        )


def _rubric(data: ReportData) -> Iterator[str]:
    yield table(
        ("dimension", "outcome", "critical", "finding"),
        [
            (
                words.words(one.id),
                words.words(one.outcome),
                "yes" if one.critical else "no",
                one.sentence,
            )
            for one in data.scores.dimensions
        ],
    )


def _change(data: ReportData) -> Iterator[str]:
    if data.change is None:
        yield "These are the first scores."
        return
    yield escaped(data.change.sentence)
    if rows := change_rows(data.change):
        yield table(tuple(rows[0]), [tuple(row.values()) for row in rows])


def _trend(data: ReportData) -> Iterator[str]:
    if data.trend is None:
        yield "The paper was not reproduced again since."
        return
    yield _list(
        *(
            f"Sweep {row.number}, {moment(row.at)}, "
            f"{'newly resolved packages' if row.fresh_dependencies else 'as locked'}: {row.sentence}"
            for row in data.trend.sweeps
        )
    )
    rows = trend_rows(data.trend)
    yield table(
        tuple(rows[0]),
        [tuple("–" if cell is None else str(cell) for cell in row.values()) for row in rows],
    )


def _integrity(data: ReportData) -> Iterator[str]:
    yield f"Can the values be believed? {words.words(data.scores.integrity)}."
    if data.scores.findings:
        yield _list(
            *(
                f"{words.words(one.kind)} ({one.severity}): {one.evidence}"
                for one in data.scores.findings
            )
        )


def _assumptions(data: ReportData) -> Iterator[str]:
    if data.assumptions:
        yield _assumption_table(data)
    else:
        yield "No assumption stands in the ledger."
    if data.contradictions:
        yield "Said in two ways:"
        yield _list(*data.contradictions)
    if data.gaps:
        yield "Left unsaid, and filled by nobody:"
        yield _list(*(f"{one.item} ({one.influence}): {one.question}" for one in data.gaps))


def _assumption_table(data: ReportData) -> str:
    return table(
        ("assumption", "value", "alternatives", "influence", "source", "sensitivity"),
        [
            (
                one.statement,
                "–" if one.value is None else str(one.value),
                ", ".join(map(str, one.alternatives)) or "none named",
                str(one.influence),
                source_words(one.source),
                one.sensitivity or "not tested",
            )
            for one in data.assumptions
        ],
    )


def _sensitivity(data: ReportData, names: dict[str, str]) -> Iterator[str]:
    found = movements(data.evidence)
    if not found:
        yield "No sensitivity experiment was planned."
        return
    yield table(
        ("experiment", "claim", "movement", "95 % interval", "seeds", "reading"),
        [
            (
                one.experiment.id,
                names.get(one.claim, one.claim),
                "–" if one.difference is None else words.difference(one.difference),
                words.span(one.interval95),
                str(one.n),
                one.reading,
            )
            for one in found
        ],
    )


def _failures(data: ReportData) -> Iterator[str]:
    failed = data.failed_attempts
    if not failed:
        yield f"None, of {len(data.attempts)} attempts."
        return
    yield f"{len(failed)} of {len(data.attempts)} attempts did not end well, in the order of their start:"
    shown: set[str] = set()
    for attempt in failed:
        yield _list(_failure(attempt))
        lines = data.log_ends.get(attempt.log or "", ())
        if lines and attempt.log not in shown:
            shown.add(attempt.log or "")
            yield _indented(lines)


def _failure(attempt: Attempt) -> str:
    seed = "unseeded" if attempt.seed is None else f"seed {attempt.seed}"
    why = attempt.reason.sentence if attempt.reason else "no reason was recorded"
    return (
        f"{moment(attempt.started_at)}: {attempt.experiment}, {attempt.purpose}, {seed}, attempt "
        f"{attempt.number}: {words.words(attempt.status)} after {words.duration(attempt.seconds)}: {why}"
    )


def _environment(data: ReportData) -> Iterator[str]:
    built = data.evidence.environment
    lines = [
        f"Runner: {data.evidence.runner}",
        f"Container image: {image_words(built)}",
    ]
    if built is None:
        yield _list(*lines, "No environment was built.")
        return
    host, lock = built.fingerprint, built.lock
    yield _list(
        *lines,
        f"Python {host.python} ({host.implementation}) on {host.platform}, {host.cpu}",
        f"Lock: {lock.packages} packages, {'all' if lock.hashed else 'not all'} with a hash, "
        f"sha256 {lock.sha256}",
        *(f"Input {one.name}: sha256 {one.sha256}" for one in data.evidence.data.entries),
    )


def _review(data: ReportData, names: dict[str, str]) -> Iterator[str]:
    if data.review is None or not data.review.items:
        yield "No claim was drawn."
        return
    yield _list(
        *(
            f"{names.get(item.claim, item.claim)}: "
            + ("; ".join(f"{d.reviewer}: {d.decision}" for d in item.decisions) or "waiting")
            for item in data.review.items
        )
    )


def _again(data: ReportData) -> Iterator[str]:
    yield _indented([f"repro run {data.paper}", "repro ledger verify"])
    text = script(data)
    if text:
        yield "All of it anew, from the stored code and lock: `reproduce.sh` beside this file."
    head = data.ledger
    yield _list(
        f"Ledger head: {f'{head.chain}, event {head.seq}, {head.hash}' if head else 'none'}",
        f"Evidence: {data.scores.evidence}",
        f"Rubric: {data.scores.rubric}",
        f"Code tree: {data.evidence.code_tree or 'none'}",
        f"Seeds: {', '.join(map(str, data.evidence.seeds)) or 'none'}",
    )


def _list(*items: str) -> str:
    return "\n".join(f"- {escaped(item)}" for item in items)


def _indented(lines: Sequence[str] | Iterable[str]) -> str:
    """Lines shown as they are: a block of code by its indent, which no text in it can end."""
    return "\n".join(f"        {line}" for line in lines)
