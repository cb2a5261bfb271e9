"""`repro assumptions`: what had to be assumed, with its sources; change one."""

from __future__ import annotations

import argparse
import getpass
from typing import TYPE_CHECKING

from repro_pipeline.choices import choices
from repro_pipeline.commands import opening
from repro_pipeline.commands.exits import OK
from repro_pipeline.commands.parser import command
from repro_pipeline.errors import BundleError, UserError

if TYPE_CHECKING:
    from repro_pipeline.ledger.assumption import Assumption
    from repro_pipeline.lineage.model import AssumptionLedger, OpenGap
    from repro_pipeline.project import Project


def add_to(commands) -> None:
    """Add it to the parser."""
    one = command(commands, assumptions, "assumptions")
    one.add_argument("paper", metavar="ID")
    one.add_argument(
        "change",
        nargs="*",
        metavar="set NAME VALUE",
        help="give an assumption, or an item that the paper leaves unsaid, a value",
    )
    one.add_argument(
        "--plan",
        action="store_true",
        help="which are worth an experiment, within the paper's budget",
    )
    one.add_argument("--json", action="store_true", help="as JSON, by `repro schema assumptions`")
    one.add_argument("--by", metavar="NAME", help="who says so; by default your user name")
    one.add_argument("--reason", default="", metavar="TEXT", help="why; `set` needs it")


def assumptions(options: argparse.Namespace) -> int:
    """What the paper leaves unsaid and how it was filled, each with its source; change one."""
    project = opening.project_here()
    ledger = _standing(project, options.paper)
    if options.change:
        return _set(project, options, ledger)
    if options.plan:
        _show_plan(project, options.paper, ledger)
        return OK
    if options.json:
        print(ledger.model_dump_json(indent=1))
        return OK
    _show(ledger, _tested(project, options.paper))
    return OK


def _tested(project: Project, paper: str) -> dict[str, list[str]]:
    """What sensitivity experiments say of each assumption: how far each claim moves."""
    from repro_pipeline.evidence.model import Evidence
    from repro_pipeline.scoring.sensitivity import movements
    from repro_pipeline.stages import latest, output_of

    row = latest(project, paper, "experiment_ledger")
    if row is None or row.output is None:
        return {}
    told: dict[str, list[str]] = {}
    for one in movements(output_of(project, row, Evidence)):
        if one.experiment.assumption and one.n:
            told.setdefault(one.experiment.assumption, []).append(f"{one.claim}: {one.reading}")
    return told


def _standing(project: Project, paper: str) -> AssumptionLedger:
    """The assumptions as they were collected last, with what people changed since.

    Raises BundleError where there are none.
    """
    from repro_pipeline.commands.paper import stored
    from repro_pipeline.lineage.ledger import changes_in
    from repro_pipeline.lineage.model import AssumptionLedger
    from repro_pipeline.stages import latest, output_of

    stored(project, paper)
    row = latest(project, paper, "assumption_ledger")
    if row is None or row.output is None:
        why = f": {row.reason.sentence}" if row and row.reason else "."
        raise BundleError(
            f"'{paper}' has no assumptions yet{why}",
            hint=f"`repro run {paper} --stage assumption_ledger` collects them.",
        )
    ledger = output_of(project, row, AssumptionLedger)
    changes = changes_in(project.ledger.events(paper, kinds={"assumption_recorded"}))
    standing = {one.id: one for one in ledger.assumptions} | changes
    gaps = tuple(gap for gap in ledger.gaps if gap.item not in changes)
    return ledger.model_copy(update={"assumptions": tuple(standing.values()), "gaps": gaps})


def _set(project: Project, options: argparse.Namespace, ledger: AssumptionLedger) -> int:
    from repro_pipeline.bundle.folder import open_bundle
    from repro_pipeline.ledger.events import AssumptionRecorded
    from repro_pipeline.lineage.ledger import HUMAN, base_of, changed

    if len(options.change) != 3 or options.change[0] != "set":
        raise UserError(
            "an assumption is changed by three words.",
            where=f"repro assumptions {options.paper}",
            hint=f"repro assumptions {options.paper} set NAME VALUE --reason TEXT",
        )
    if not options.reason.strip():
        raise UserError(
            "a change needs a reason.",
            where=f"repro assumptions {options.paper} set",
            hint="Say in --reason why, and from where you know.",
        )
    _, name, text = options.change
    before = _named(ledger, name)
    said = {
        one.id: base_of(one) for one in open_bundle(project.bundle(options.paper)).task.assumptions
    }
    who = f"{HUMAN}{options.by or getpass.getuser()}"
    made = changed(before, _value(text), by=who, reason=options.reason, base=said.get(name))
    project.ledger.append(options.paper, AssumptionRecorded(assumption=made), actor=who)
    print(f"{name} is {made.value} from now on, says {who}.")
    print(f"`repro run {options.paper}` takes it up; what does not rest on it stands.")
    return OK


def _named(ledger: AssumptionLedger, name: str) -> Assumption | OpenGap:
    """The assumption or the gap of that name. Raises UserError where there is none."""
    known = {gap.item: gap for gap in ledger.gaps} | {one.id: one for one in ledger.assumptions}
    if name not in known:
        raise UserError(
            f"'{name}' is neither an assumption nor a gap of this paper.",
            where="set",
            hint=choices(name, sorted(known)),
        )
    return known[name]


def _value(text: str) -> str | int | float | bool:
    """A value as it was typed: a number or truth value where it is one."""
    if text in {"true", "false"}:
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _show(ledger: AssumptionLedger, tested: dict[str, list[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Grid
    from rich.text import Text

    from repro_pipeline.terminal import wide_console

    console = wide_console()
    grid = Grid(box=SIMPLE_HEAD)
    for name in ("assumption", "influence", "what is assumed", "source", "instead", "tested"):
        grid.add_column(name, overflow="fold")
    for one in ledger.assumptions:
        instead = ", ".join(str(other)[:60] for other in one.alternatives)
        told = "; ".join(tested.get(one.id, ())) or "no"
        cells = (one.id, str(one.influence), one.statement, _source(one), instead, told)
        grid.add_row(*map(Text, cells))
    console.print(grid)
    for gap in ledger.gaps:
        console.print(Text(f"gap ({gap.influence}): {gap.item}: {gap.question}"))
    console.print(
        Text(f"{len(ledger.assumptions)} assumptions; {len(ledger.gaps)} gaps that nobody fills.")
    )


def _show_plan(project: Project, paper: str, ledger: AssumptionLedger) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Grid
    from rich.text import Text

    from repro_pipeline.bundle.folder import open_bundle
    from repro_pipeline.lineage.plan import plan_tests
    from repro_pipeline.terminal import wide_console

    attempts = [
        event.content.attempt
        for event in project.ledger.events(paper, kinds={"attempt_finished"})
        if event.payload["attempt"]["kind"] == "baseline" and event.payload["attempt"]["values"]
    ]
    seconds: dict[str, float] = {}
    for one in attempts:
        for claim in one.values:
            seconds[claim] = seconds.get(claim, 0.0) + one.seconds / len(one.values)
    budget = project.config.budget.stricter(open_bundle(project.bundle(paper)).task.budget)
    left = budget.wall_clock if budget.wall_clock is not None else float("inf")
    tested = _tested(project, paper)
    plan = plan_tests(ledger.assumptions, seconds, budget=left, tested=tested)
    console = wide_console()
    grid = Grid(box=SIMPLE_HEAD)
    for name in (
        "assumption",
        "alternative",
        "movement",
        "uncertainty",
        "seconds",
        "planned",
        "why",
    ):
        grid.add_column(name, overflow="fold")
    for test in plan.tests:
        numbers = (f"{test.movement:g}", f"{test.uncertainty:.2f}", f"{test.cost:.0f}")
        planned = "yes" if test.planned else "no"
        cells = (test.assumption, str(test.alternative), *numbers, planned, test.why)
        grid.add_row(*map(Text, cells))
    console.print(grid)
    known = "as runs took so far" if seconds else "guessed, as nothing was run"
    console.print(
        Text(
            f"Movement and uncertainty are priors by influence and source; seconds are {known}. "
            f"Without an alternative: {', '.join(plan.untestable) or 'none'}."
        )
    )


def _source(one: Assumption) -> str:
    """Where an assumption comes from, and whether its quote stands there."""
    source = one.source
    place = source.reference or ""
    if source.file:
        place += f" {source.file}" + (f":{source.line}" if source.line else "")
    kind = str(source.kind).replace("_", " ")
    words = [kind, place.strip(), (source.note or "").removeprefix(f"{kind}: ")]
    found = {True: "", False: "QUOTE NOT FOUND", None: ""}[one.source_found]
    return ", ".join(part for part in (*words, found, f"by {one.proposed_by}") if part)
