"""What the `repro` command shows: progress as the ledger tells it, tables, and sentences."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import IO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from repro_pipeline.agent.story import Teller
from repro_pipeline.background import UnderWay
from repro_pipeline.choices import choices
from repro_pipeline.errors import BundleError
from repro_pipeline.evidence.model import Evidence
from repro_pipeline.ledger.events import (
    AttemptFinished,
    Event,
    StageFinished,
    WarningRecorded,
)
from repro_pipeline.ledger.projections import attempts
from repro_pipeline.ledger.runs import Purpose
from repro_pipeline.progress import KINDS, Tally
from repro_pipeline.project import Project
from repro_pipeline.report.fold import folded
from repro_pipeline.report.later import later_launch
from repro_pipeline.report.text import claims_rows
from repro_pipeline.report.words import RESTS_ON, SPREAD, as_printed, plain
from repro_pipeline.report.write import ReportFiles, restore_report
from repro_pipeline.scoring.current import other_rubric
from repro_pipeline.scoring.model import ReviewQueue, Scores
from repro_pipeline.scoring.review import after_review
from repro_pipeline.stage_names import STAGES
from repro_pipeline.stages import latest, output_of
from repro_pipeline.status import Status

_POLL_SECONDS = 0.2
_MOST_WARNINGS = 4
"""Of one kind and stage that are shown one by one."""
_MAKE_RUNS = {"implementation", "baseline", "ablations", "sensitivity", "integrity"}
_STYLE = {
    Status.OK: "green",
    Status.NOT_APPLICABLE: "dim",
    Status.PARTIAL: "yellow",
    Status.BLOCKED: "yellow",
}


class Progress:
    """A context that shows what the ledger says of one paper, as it happens."""

    def __init__(self, project: Project, paper: str) -> None:
        self._project, self._paper = project, paper
        head = project.ledger.head(paper)
        self._seen = head.seq if head else 0
        self._console = Console(stderr=True)
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
        )
        self._task = None
        self._tally = Tally()
        for event in project.ledger.events(paper, kinds=KINDS):
            self._tally.take(event)
        self._tally.begin()
        self._shown = None
        self._teller = Teller()
        self._said: set[tuple[str, str]] = set()
        self._warned: Counter[tuple[str | None, str]] = Counter()
        self._all_warnings = f"`repro ledger show {paper} --kind warning_recorded --json`"
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Progress:
        self._console.print(f"[bold]{escape(self._paper)}[/bold]")
        self._bar.start()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._bar.stop()

    def _watch(self) -> None:
        while not self._ended.wait(_POLL_SECONDS):
            self._show_news()
        self._show_news()

    def _show_news(self) -> None:
        for event in self._project.ledger.events(self._paper, after=self._seen):
            self._seen = event.seq
            self._show(event)

    def _show(self, event: Event) -> None:
        self._tally.take(event)
        self._move_bar()
        if event.kind == "attempt_finished":
            self._tell_run(event.content)
        elif event.kind == "stage_finished":
            self._end_stage(event.content)
        elif event.kind == "warning_recorded":
            self._warn(event.content)
        elif told := self._teller.line(event):
            self._console.print(f"  [dim]{escape(plain(told))}[/dim]", highlight=False)

    def _move_bar(self) -> None:
        tally = self._tally
        if tally.plan is not self._shown:  # an agent tries things several times within one stage
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._shown, self._task = tally.plan, None
        if self._task is not None:
            self._bar.update(self._task, completed=tally.ended)
        elif tally.plan is not None and tally.ended < tally.of:
            self._task = self._bar.add_task(
                f"  {tally.plan.stage}", total=tally.of, completed=tally.ended
            )

    def _warn(self, warning: WarningRecorded) -> None:
        """The first warnings of a kind that a stage gives, each without what is long of its list."""
        kind = (warning.stage, warning.code)
        self._warned[kind] += 1
        if self._warned[kind] <= _MOST_WARNINGS:
            said = folded(warning.sentence).brief(self._all_warnings)
            self._console.print(f"  [yellow]![/yellow] {escape(plain(said))}")

    def _tell_hidden_warnings(self, stage: str) -> None:
        for kind in [kind for kind in self._warned if kind[0] in (stage, None)]:
            more = self._warned.pop(kind) - _MOST_WARNINGS
            if more > 0:
                said = f"{more} more such warnings ({self._all_warnings})."
                self._console.print(f"  [yellow]![/yellow] {escape(said)}")

    def _tell_run(self, finished: AttemptFinished) -> None:
        attempt = finished.attempt
        what = self._tally.name(attempt)
        if attempt.status is not Status.OK:
            why = str(attempt.reason.sentence if attempt.reason else attempt.status)
            said = "as before" if (attempt.experiment, why) in self._said else why
            self._said.add((attempt.experiment, why))
            self._console.print(f"    [red]{attempt.status}[/red] {escape(what)}: {escape(said)}")
        elif not self._console.is_terminal and attempt.purpose is not Purpose.DEV:
            said = f"    {escape(what)}: {attempt.seconds:.1f} s ({self._tally})"
            self._console.print(said, soft_wrap=True)

    def _end_stage(self, row: StageFinished) -> None:
        self._tell_hidden_warnings(row.stage)
        style = _STYLE.get(row.status, "red")
        self._console.print(
            f"  [{style}]{row.status:<15}[/{style}] {row.stage:<18} {row.seconds:>8.1f} s"
        )


def was_interrupted(project: Project, paper: str, *, launch: str) -> bool:
    """Whether a stage of the launch was cancelled: the orchestrator makes a failure of an interrupt."""
    rows = [latest(project, paper, name) for name in STAGES]
    return any(row and row.launch == launch and row.status is Status.CANCELLED for row in rows)


def print_outcome(
    project: Project,
    paper: str,
    *,
    launch: str,
    stages: Sequence[str],
    reused: Collection[str],
    faults: Mapping[str, str],
) -> int:
    """What a launch came to: claims, failures in sentences, the report's path; the exit code.

    `reused` are the stages that the launch found standing; `faults` are those that raised, with
    what they said. Only what this launch made or found standing is shown as its result.
    """
    rows = [row for name in stages if name in STAGES if (row := latest(project, paper, name))]
    rows = [row for row in rows if row.launch == launch or row.stage in reused]
    if reused:
        print(f"  {len(reused)} of {len(rows)} stages stood already; nothing was done for them.")
    if not faults and rows and rows[-1].stage == "report" and rows[-1].output:
        print_report(project, paper)
    bad = [row for row in rows if row.status not in {Status.OK, Status.NOT_APPLICABLE}]
    for row in bad:
        if row.status is not Status.BLOCKED and row.reason:
            print(f"error: {row.stage} ({row.status}): {row.reason.sentence}")
    for stage in faults.keys() - {row.stage for row in bad}:
        print(f"error: {stage}: {plain(faults[stage])[:500]}")
    made_runs = any(row.stage in _MAKE_RUNS for row in bad if row.status is not Status.BLOCKED)
    if made_runs and _ran(project, paper, launch):
        print(f"What a failed run said: `repro log {paper}`.")
    codes = {row.reason.code for row in bad if row.reason}
    if faults or not rows:
        return 1
    return 3 if "sandbox_unavailable" in codes else 2 if codes else 0


def note_in_report(project: Project, paper: str) -> None:
    """Let a report that stands say that a later launch did not get through."""
    row = latest(project, paper, "report")
    if row and row.output:
        restore_report(project, paper, output_of(project, row, ReportFiles))


def _ran(project: Project, paper: str, launch: str) -> bool:
    """Whether a run of the launch ended."""
    rows = project.ledger.events(paper, kinds={"stage_finished"})
    since = max((row.seq for row in rows if row.payload["launch"] != launch), default=0)
    return any(project.ledger.events(paper, after=since, kinds={"attempt_finished"}))


def print_report(project: Project, paper: str) -> int:
    """The table of claims, and the path of the report."""
    row = latest(project, paper, "report")
    if row is None or row.output is None:
        why = f": {row.reason.sentence}" if row and row.reason else "."
        raise BundleError(
            f"there is no report of '{paper}'{why}", hint=f"Make one with `repro run {paper}`."
        )
    scores = output_of(project, _usable(project, paper, "scores", "scores"), Scores)
    gathered = _usable(project, paper, "experiment_ledger", "evidence")
    evidence = output_of(project, gathered, Evidence)
    reviewed = latest(project, paper, "review_queue")
    queue = output_of(project, reviewed, ReviewQueue) if reviewed and reviewed.output else None
    header, *lines = claims_rows(scores, evidence.claims, queue)
    table = Table(title=Text(paper, style="bold"), title_justify="left", box=SIMPLE_HEAD)
    for name in header:
        table.add_column(name, overflow="fold")
    for line in lines:
        table.add_row(*map(escape, line))
    console = wide_console()
    console.print(table)
    if any(verdict.n for verdict in scores.verdicts):
        console.print(f"{SPREAD} {RESTS_ON}", style="dim", highlight=False)
    console.print(escape(scores.headline), style="bold", highlight=False)
    for said in filter(None, (later_launch(project, paper), other_rubric(project, scores))):
        console.print(f"[yellow]![/yellow] {escape(said)}", highlight=False, soft_wrap=True)
    if said := after_review(scores, queue.items if queue else ()):
        console.print(escape(said), highlight=False)
    for dimension in scores.dimensions:
        critical = " (critical)" if dimension.critical else ""
        console.print(
            f"  {dimension.id}: {dimension.outcome}{critical}. {escape(dimension.sentence)}"
        )
    path = restore_report(project, paper, output_of(project, row, ReportFiles))
    print(f"report: {path}")
    return 0


def _usable(project: Project, paper: str, stage: str, what: str) -> StageFinished:
    """The last row of a stage. Raises BundleError where it left nothing, as an interrupted one does."""
    row = latest(project, paper, stage)
    if row is None or row.output is None:
        why = f": {row.reason.sentence}" if row and row.reason else "."
        raise BundleError(
            f"'{paper}' has no {what}{why}", hint=f"`repro run {paper}` goes on from there."
        )
    return row


def print_status(
    project: Project,
    papers: Sequence[str],
    going: Sequence[UnderWay],
    not_started: Mapping[str, str],
) -> int:
    """One line per paper: its last stage, how it ended, and its headline; or what is at work on it.

    `not_started` says of papers why their last launch came to nothing.
    """
    table = Table("Paper", "Stage", "Status", "Says", box=SIMPLE_HEAD)
    at_work: dict[str, UnderWay] = {}
    for one in sorted(going, key=lambda one: one.state != "running"):  # what waits is said last
        for paper in one.papers:
            at_work.setdefault(paper, one)
    for paper in papers:
        if one := at_work.get(paper):
            table.add_row(escape(paper), *_under_way(project, paper, one))
            continue
        failed = not_started.get(paper)
        rows = [row for name in STAGES if (row := latest(project, paper, name))]
        if not rows:
            says = f"did not start: {failed}" if failed else f"`repro run {paper}`"
            table.add_row(escape(paper), "-", "not run", escape(says))
            continue
        bad = [row for row in rows if row.status not in {Status.OK, Status.NOT_APPLICABLE}]
        shown = bad[0] if bad else rows[-1]
        says = shown.reason.sentence if shown.reason else ""
        scored = latest(project, paper, "scores")
        if scored and scored.output:
            found = output_of(project, scored, Scores)
            says = " ".join(filter(None, (says, found.headline, other_rubric(project, found))))
        if failed:
            says = f"{says} The last launch did not start: {failed}".lstrip()
        style = _STYLE.get(shown.status, "red")
        table.add_row(
            escape(paper), shown.stage, f"[{style}]{shown.status}[/{style}]", escape(says)
        )
    wide_console().print(table)
    for one in going:
        if not one.papers:
            print(f"Dagster's job {one.what} is {one.state}.")
    return 0


def _under_way(project: Project, paper: str, one: UnderWay) -> tuple[str, str, str]:
    """Stage, status and a sentence of what is at work on a paper or waits."""
    what = "" if one.said == paper else f"{one.said}; "
    follow = escape(f"{what}`repro logs -f {paper}`")
    if one.state == "queued":
        behind = "in Dagster's queue" if one.in_dagster else "behind other papers of its launch"
        return "-", "queued", f"{behind}; {follow}"
    tally, last, bad = Tally(), None, ""
    for event in project.ledger.events(paper, kinds=KINDS):
        if event.at >= one.since:
            if last is None:
                tally.begin()
            last, bad = event, bad or _bad_end(event)
        tally.take(event)
    if last is None:
        return "-", one.state, follow
    says = escape(bad) + follow
    if tally.plan is None:
        return f"after {last.payload['stage']}", one.state, says
    return tally.plan.stage, f"{one.state}, {tally}", says


def _bad_end(event: Event) -> str:
    """Of an event by which a stage ended badly, what there is to say of it."""
    said = event.content if event.kind == "stage_finished" else None
    return "" if said is None or said.status.usable else f"{said.stage} {said.status}; "


def print_log(
    project: Project,
    paper: str,
    part: Callable[[IO[bytes]], Iterable[str]],
    *,
    experiment: str | None,
    seed: int | None,
) -> int:
    """A part of one run's log, under a line that says which run it is."""
    found = [
        attempt
        for attempt in attempts(project.ledger.events(paper))
        if experiment in (None, attempt.experiment) and seed in (None, attempt.seed) and attempt.log
    ]
    made = [one.experiment for one in attempts(project.ledger.events(paper))]
    if made and experiment not in (None, *made):
        raise BundleError(
            f"'{paper}' has no run of an experiment '{experiment}'.",
            hint=choices(experiment, list(dict.fromkeys(made))),
        )
    if not found:
        raise BundleError(
            f"there is no log of such a run of '{paper}'.",
            hint=f"`repro ledger show {paper} --kind attempt_finished` lists the runs; what a launch "
            f"did or printed: `repro logs {paper}`.",
        )
    failed = [attempt for attempt in found if attempt.status is not Status.OK]
    shown = (failed or found)[-1]
    why = f": {shown.reason.sentence}" if shown.reason else ""
    run = f"{shown.experiment}, seed {shown.seed}, {shown.purpose}, attempt {shown.number}"
    print(f"{run}, {shown.status}{why}")
    with project.store.open(shown.log) as stream:
        for line in part(stream):
            print(f"  {as_printed(line)}")
    return 0


def wide_console() -> Console:
    """The terminal; what is not one is given room for a table."""
    console = Console()
    return console if console.is_terminal else Console(width=120)
