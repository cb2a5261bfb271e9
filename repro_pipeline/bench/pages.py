"""A card as files: card.json, card.md and card.html (one page, no script, nothing fetched)."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from repro_pipeline.bench.card import Card, TrialLine
from repro_pipeline.bench.measures import ALIGN
from repro_pipeline.report.markdown import escaped, table
from repro_pipeline.report.words import plain

CHIEF = (
    "verdict_accuracy",
    "fidelity",
    "execution_rate",
    "performance_gap",
    "performance_gap_executed",
    "details_found",
    "details_right",
    "ablation_sign",
    *ALIGN,
    "integrity_flags",
    "claimed_unearned",
    "remembered",
    "tokens",
    "usd",
    "minutes",
)
"""The rows of the first table."""
PLOTTED = ("verdict_accuracy", "fidelity")


def write_card(card: Card, folder: Path) -> list[Path]:
    """Write the three files; their paths."""
    made = {
        "card.json": card.model_dump_json(indent=1) + "\n",
        "card.md": as_markdown(card),
        "card.html": as_html(card),
    }
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in made]


def measures_shown(card: Card) -> list[str]:
    """The measures that have a number, and those that a judge would give."""
    there = {one.measure for one in card.numbers}
    return [name for name in CHIEF if name in there or name in ALIGN]


def split_measures(card: Card) -> list[str]:
    """Those that are shown for development and held-out tasks apart: of the work, not of its cost."""
    shown_all = measures_shown(card)
    return [name for name in shown_all if name in CHIEF[: CHIEF.index("claimed_unearned")]]


def shown(card: Card, contestant: str, measure: str, split: str = "all") -> str:
    """A number with its interval, and what it lacks; a dash where it could not be formed.

    Align scores that nobody judged are said to be not scored.
    """
    one = card.number(contestant, measure, split)
    if one is None:
        return "not scored" if measure in ALIGN else "–"
    digits = _digits(one.measure)
    text = f"{one.value:.{digits}f}"
    if one.interval is not None:
        low, high = one.interval
        text += f" [{low:.{digits}f}, {high:.{digits}f}]"
    if one.trials < one.of_trials:
        text += f" ({one.trials}/{one.of_trials})"
    return f"{text} †" if one.own_word else text


def _digits(measure: str) -> int:
    return {"tokens": 0, "usd": 2, "minutes": 1, "integrity_flags": 1}.get(measure, 2)


def words(measure: str) -> str:
    """A measure's name as words."""
    return measure.replace("_", " ")


def compared(card: Card) -> list[tuple[str, list[str]]]:
    """Each condition once, with all results that hold under it."""
    found: dict[str, list[str]] = {}
    for one in card.comparisons:
        found.setdefault(one.condition, []).append(one.result)
    return list(found.items())


def why(trial: TrialLine) -> str:
    """Why a trial ended as it did, what speaks against its values, and what was not scored."""
    said = (trial.reason, *trial.flags, *trial.unscored)
    return " ".join(one for one in said if one) or "–"


def as_markdown(card: Card) -> str:
    """The card as Markdown."""
    return "\n".join(_markdown(card))


def _markdown(card: Card) -> Iterator[str]:
    conditions = card.conditions
    yield f"# {escaped(card.report)}, version {escaped(card.version)}\n"
    yield f"{_ended(card)} Baselines: {escaped(', '.join(card.baselines))}.\n"
    names = [one.name for one in conditions.contestants]
    measures = measures_shown(card)
    yield "## Results, all tasks\n"
    yield table(
        ["measure", *map(escaped, names)],
        [[words(m), *(shown(card, name, m) for name in names)] for m in measures],
    )
    yield "## Development and held-out tasks\n"
    for split in ("development", "held_out"):
        yield f"{words(split)}:\n"
        yield table(
            ["measure", *map(escaped, names)],
            [[words(m), *(shown(card, n, m, split) for n in names)] for m in split_measures(card)],
        )
    yield "## pass@k and pass^k\n"
    yield table(
        ["contestant", "k", "pass@k", "pass^k", "tasks"],
        [
            [p.contestant, str(p.k), f"{p.at:.2f}", f"{p.all:.2f}", str(p.tasks)]
            for p in card.passes
        ],
    )
    yield "## Comparisons\n"
    for condition, results in compared(card):
        yield f"{escaped(condition)}:\n"
        yield "".join(f"- {escaped(one)}\n" for one in results)
    if not card.comparisons:
        yield "No two contestants with a task in common: nothing is compared."
    yield "\n## Publication and knowledge cut-off\n"
    yield table(
        ["contestant", "tasks", "number", "verdict accuracy", "remembered"],
        [
            [d.contestant, d.when, str(d.tasks), _share(d.verdict_accuracy), _share(d.remembered)]
            for d in card.dated
        ],
    )
    yield "## Conditions\n"
    yield table(["", ""], [[name, text] for name, text in condition_lines(card)])
    yield "## Tasks\n"
    yield table(
        ["task", "split", "kind", "difficulty", "published", "reported values"],
        [
            [t.id, t.split, t.kind, t.difficulty, t.published, t.reported_from]
            for t in conditions.tasks
        ],
    )
    yield "## Definitions\n"
    for name, text in {**card.definitions, **card.statistics}.items():
        yield f"- **{escaped(words(name))}**: {escaped(text)}"
    yield "\n## Trials\n"
    yield table(
        ["task", "contestant", "repeat", "status", "verdict accuracy", "integrity", "why"],
        [
            [
                t.task,
                t.contestant,
                str(t.repeat),
                t.status,
                f"{t.verdict_accuracy:.2f}",
                t.integrity,
                why(t)[:160],
            ]
            for t in card.trials
        ],
    )
    if card.imported:
        yield "## Published by others, not measured here\n"
        yield table(
            ["who", "measure", "value", "source", "conditions", ""],
            [
                [i.who, i.measure, f"{i.value:g}", i.source, i.conditions, i.measured]
                for i in card.imported
            ],
        )


def condition_lines(card: Card) -> list[tuple[str, str]]:
    """The conditions, a line each."""
    made = card.conditions
    lines = [
        ("suite", f"{made.suite} {made.suite_version}, content {made.suite_content[:16]}"),
        ("scoring code", made.scoring_code[:16]),
        ("program", made.program),
        ("repeats", str(made.repeats)),
        ("budget of a trial", _listed(made.budget)),
        ("limits of a run", _listed(made.limits)),
        ("retries", made.retries),
        ("environment", made.environment),
        ("grader's fresh seeds", str(made.grader_seeds)),
        ("judge", made.judge),
    ]
    if made.replayed:
        said = (
            "trials were answered by recorded sessions in place of models; their times say nothing"
        )
        lines.append(("recorded sessions", f"{made.replayed} {said}"))
    for one in made.contestants:
        models = ", ".join(f"{role} {name}" for role, name in one.models.items()) or "none of ours"
        own = "; ".join(f"{name}: {text}" for name, text in one.conditions.items())
        said = f"agent {one.agent}; models: {models}; knowledge cut-off {one.cutoff}; {own}"
        lines.append((one.name, said))
    return lines


_BYTES = ("memory", "output", "scratch")


def _listed(limits: dict) -> str:
    there = {name: value for name, value in limits.items() if value is not None}
    return ", ".join(f"{words(name)} {_amount(name, value)}" for name, value in there.items())


def _amount(name: str, value: float) -> str:
    if name in _BYTES:
        return f"{value / 2**20:,.0f} MiB"
    return f"{value:,.0f} s" if name == "wall_clock" else f"{value:,.10g}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _ended(card: Card) -> str:
    return f"{card.ended} of {card.planned} planned trials have ended."


def as_html(card: Card) -> str:
    """The card as one page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("repro_pipeline.bench", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: plain(value) if type(value) is str else value,
    )
    style = files("repro_pipeline.report") / "templates" / "page.css"
    return templates.get_template("card.html").render(
        card=card,
        style=style.read_text(encoding="utf-8"),
        names=[one.name for one in card.conditions.contestants],
        measures=measures_shown(card),
        split_measures=split_measures(card),
        shown=shown,
        share=_share,
        words=words,
        why=why,
        compared=compared(card),
        ended=_ended(card),
        condition_lines=condition_lines(card),
        plotted=[measure for measure in PLOTTED if measure in measures_shown(card)],
    )
