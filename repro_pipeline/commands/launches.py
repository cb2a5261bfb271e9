"""`repro logs`, `repro cancel`: what launches do, as they do it, and their end; `--detach`."""

from __future__ import annotations

import argparse
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from repro_pipeline.commands import opening
from repro_pipeline.commands.exits import FAULT, INTERRUPTED, OK
from repro_pipeline.commands.parser import command
from repro_pipeline.errors import BundleError, UserError

if TYPE_CHECKING:
    import dagster as dg

    from repro_pipeline.background import Ended, UnderWay, Work
    from repro_pipeline.ledger.events import Event
    from repro_pipeline.progress import Tally
    from repro_pipeline.project import Project

_POLL_SECONDS = 0.5
_LOST = {
    "waiting": "never begun, for the process that kept the queue died.",
    "running": "its process died without a word.",
}


def add_to(commands) -> None:
    """Add these to the parser."""
    one = command(commands, logs, "logs")
    one.add_argument("papers", nargs="*", metavar="ID", help="by default every paper at work")
    one.add_argument("-f", "--follow", action="store_true", help="and go on until the launches end")
    one = command(commands, cancel, "cancel")
    one.add_argument("papers", nargs="*", metavar="ID")
    one.add_argument("--all", action="store_true", help="everything that is at work or waits")


def add_detach(one, *, several: bool) -> None:
    """Add `--detach` to a command's parser, and how many at once where it makes several launches."""
    one.add_argument(
        "--detach",
        action="store_true",
        help="in the background, out of reach of a hang-up; see `repro logs -f` and `repro cancel`",
    )
    if several:
        one.add_argument(
            "--at-once",
            type=_count,
            default=2,
            metavar="N",
            help="papers at the same time, with --detach (default 2)",
        )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("needs at least one paper at a time.")
    return int(text)


def detach(project: Project, works: Sequence[Work], at_once: int = 1) -> int:
    """Begin works in the background, and say how to look after them.

    Raises UserError where one of them is at work already, and FileFormatError for a rubric that
    they could not be scored by.
    """
    from repro_pipeline.background import changing, launches, log_of
    from repro_pipeline.background import detach as begin
    from repro_pipeline.scoring.current import read_rubric

    read_rubric(project)  # a mistake in it is said here, where someone reads it
    with changing(project.state):
        names = {work.name for work in works}
        busy = [one for one in launches(project.state) if one.name in names]
        if busy:
            raise UserError(
                f"a launch is at work on {', '.join(one.said for one in busy)}.",
                hint="Follow it with `repro logs -f`, or end it with `repro cancel`.",
            )
        begin(project.root, project.state, works, at_once)
    for work in works:
        print(f"{work.said}: in the background, prints to {log_of(project.state, work.name)}")
    papers = [paper for work in works for paper in work.papers]
    names = papers if len(papers) < 4 else ()
    print(f"Follow: `{' '.join(['repro logs -f', *names])}`. End: `repro cancel ID` or `--all`.")
    return OK


def under_way(project: Project, instance: dg.DagsterInstance) -> list[UnderWay]:
    """What is at work on the project or waits: what commands launched, and what Dagster has in hand."""
    from repro_pipeline.background import launches
    from resources.launches import open_runs

    return [
        *(one.under_way for one in launches(project.state)),
        *open_runs(instance),
    ]


def not_started(project: Project) -> dict[str, Ended]:
    """The papers whose last detached launch failed before the ledger had a word of it."""
    from repro_pipeline.background import ended

    return {
        paper: one
        for one in ended(project.state)
        if one.code not in {OK, INTERRUPTED, -signal.SIGINT} and not _has_word_of(project, one)
        for paper in one.papers
    }


def _has_word_of(project: Project, one: Ended) -> bool:
    """Whether the ledger tells of a stage, a run or a sweep of its papers since it began."""
    from repro_pipeline.ledger.events import PROJECT_CHAIN
    from repro_pipeline.progress import KINDS

    made = (event for paper in one.papers for event in project.ledger.events(paper, kinds=KINDS))
    swept = (
        event
        for event in project.ledger.events(PROJECT_CHAIN, kinds={"sweep_ended"})
        if event.payload["paper"] in one.papers
    )
    return any(event.at >= one.at for event in (*made, *swept))


def why_not_started(project: Project, one: Ended) -> str:
    """Its error in one line, and where the rest of what it printed stands."""
    from repro_pipeline.report.words import plain

    lines = [line for line in _printed(project, one).splitlines() if line.strip()][:-1]
    errors = [line for line in lines if line.startswith("error: ")]
    said = plain((errors or lines or [f"exit code {one.code}"])[-1]).removeprefix("error: ")
    return f"{said} ({one.log})"


def _printed(project: Project, one: Ended) -> str:
    """What a detached launch printed; the last line is the keeper's."""
    from repro_pipeline.sandbox.outputs import printable

    try:
        return printable((project.root / one.log).read_bytes())
    except FileNotFoundError:
        return f"{one.log} is gone.\n"


def logs(options: argparse.Namespace) -> int:
    """What the last launch of papers did, stage by stage, however it was launched.

    The output of a single run of an experiment is another thing: `repro log ID`.
    """
    from repro_pipeline.background import lost

    project = opening.project_here()
    instance = opening.instance_of(project)
    going = [
        one
        for one in under_way(project, instance)
        if not options.papers or set(options.papers) & set(one.papers)
    ]
    for one in lost(project.state):
        if not options.papers or set(options.papers) & set(one.papers):
            print(f"! {one.said}: {_LOST[one.state]} Launch it again: `{one.again}`.")
    failed = not_started(project)
    known = {
        *project.ledger.chains(),
        *failed,
        *(paper for one in (*lost(project.state), *going) for paper in one.papers),
    }
    for paper in options.papers:
        if paper not in known:
            opening.must_know(project, [paper])
            raise BundleError(
                f"'{paper}' was never launched.", hint=f"Launch it with `repro run {paper}`."
            )
    if not going and not options.papers:
        print("No launch is at work. `repro logs ID` shows the last one of a paper.")
        return OK
    at_work = {paper for one in going for paper in one.papers}
    silent = [paper for paper in options.papers if paper in failed and paper not in at_work]
    for paper in silent:
        print(f"! {paper}: did not start: {why_not_started(project, failed[paper])}")
        print(_printed(project, failed[paper]), end="")
    others = [paper for paper in options.papers if paper not in silent]
    if silent and not others:
        return OK
    tellers = _tellers(project, others, going)
    for teller in tellers:
        teller.print_news()
    if options.follow:
        names = {one.name for one in going}  # without one at work, until Ctrl-C
        _follow(
            tellers,
            lambda: not names or any(o.name in names for o in under_way(project, instance)),
        )
    return OK


def cancel(options: argparse.Namespace) -> int:
    """End launches, as Ctrl-C would; what is finished stays, and `repro run` goes on from there."""
    if not options.papers and not options.all:
        raise UserError("which paper?", hint="Name it (`repro cancel ID`), or all with `--all`.")
    project = opening.project_here()
    known, failed = set(), False
    for one, hinders in _ended(project, None if options.all else set(options.papers)):
        what = f"{one.said} ({one.state}{', of Dagster' if one.in_dagster else ''})"
        print(f"{what}: {hinders}" if hinders else f"Ended {what}.", flush=True)
        known |= {*one.papers, one.said}
        failed |= bool(hinders)
    if options.all and not known:
        print("No launch is at work.")
    for paper in options.papers:
        if paper not in known:
            opening.must_know(project, [paper])
            raise UserError(
                f"no launch is at work on '{paper}'.", hint="`repro status` shows how papers stand."
            )
    return FAULT if failed else OK


def _ended(project: Project, papers: set[str] | None) -> Iterator[tuple[UnderWay, str | None]]:
    """End what is under way of papers (None: everything); each, and what hinders its end."""
    from repro_pipeline.background import end, launches

    for launch in launches(project.state):
        if papers is None or papers & set(launch.papers):
            gone = end(project.state, launch)
            yield launch.under_way, None if gone else "its process does not end."

    from resources.launches import end_run, open_runs  # Dagster takes a second

    instance = opening.instance_of(project)
    for one in open_runs(instance):
        if papers is None or papers & set(one.papers):
            yield one, end_run(instance, one.name)


def _follow(tellers: Sequence[_Teller], at_work: Callable[[], bool]) -> None:
    """Print news until nothing is at work any more."""
    while True:
        still = at_work()
        for teller in tellers:
            teller.print_news()
        if not still:
            return
        time.sleep(_POLL_SECONDS)


class _Teller(Protocol):
    def print_news(self) -> None:
        """Print what happened since the last call."""


def _tellers(project: Project, named: Sequence[str], going: Sequence[UnderWay]) -> list[_Teller]:
    """Who tells of the named papers; else of what is at work: each paper's events, and what is printed
    by a launch of several papers."""
    single = {one.papers[0] for one in going if len(one.papers) == 1}
    papers = list(dict.fromkeys(named)) or sorted(single)
    several = [] if named else [one for one in going if len(one.papers) != 1]
    for one in (one for one in several if not one.log):
        print(
            f"{one.said} is {one.state}, and prints elsewhere. `repro logs -f ID` tells of one paper."
        )
    count = len(papers) + len(several)
    return [
        *(_Told(project, paper, named=count > 1) for paper in papers),
        *(_Printed(project, one) for one in several if one.log),
    ]


class _Printed:
    """What a launch of several papers prints."""

    def __init__(self, project: Project, one: UnderWay) -> None:
        self._path, self._seen = project.root / one.log, 0

    def print_news(self) -> None:
        """Print the lines that came since the last call."""
        from repro_pipeline.sandbox.outputs import printable

        if not self._path.exists():  # it waits
            return
        with self._path.open("rb") as stream:
            stream.seek(self._seen)
            whole, newline, _ = stream.read().rpartition(b"\n")
        self._seen += len(whole + newline)
        if whole:
            print(printable(whole), flush=True)


class _Told:
    """The events of a paper's last launch, in lines."""

    def __init__(self, project: Project, paper: str, *, named: bool) -> None:
        from repro_pipeline.agent.story import Teller
        from repro_pipeline.ledger.events import PROJECT_CHAIN
        from repro_pipeline.progress import KINDS, Tally

        self._project, self._paper = project, paper
        self._prefix = f"{paper}: " if named else ""
        self._seen = _begin_of_last_launch(project, paper)
        sweeps = project.ledger.head(PROJECT_CHAIN)
        self._swept = sweeps.seq if sweeps else 0
        self._teller, self._tally = Teller(), Tally()
        for event in project.ledger.events(paper, kinds=KINDS):
            if event.seq <= self._seen:
                self._tally.take(event)

    def print_news(self) -> None:
        """Print what happened since the last call."""
        from repro_pipeline.report.words import plain

        for event in self._project.ledger.events(self._paper, after=self._seen):
            self._seen = event.seq
            self._tally.take(event)
            for line in (*_lines(event, self._tally), self._teller.line(event)):
                if line:
                    print(f"{event.at:%H:%M:%S} {self._prefix}{plain(line)}", flush=True)
        for event in self._sweeps():
            said = event.payload
            if said["paper"] == self._paper:
                line = f"sweep {said['number']}: {said['status']}. {said['sentence']}"
                print(f"{event.at:%H:%M:%S} {self._prefix}{plain(line)}", flush=True)

    def _sweeps(self) -> Iterator[Event]:
        """The sweeps that ended since the last call: they stand in the project's chain."""
        from repro_pipeline.ledger.events import PROJECT_CHAIN

        for event in self._project.ledger.events(
            PROJECT_CHAIN, kinds={"sweep_ended"}, after=self._swept
        ):
            self._swept = event.seq
            yield event


def _begin_of_last_launch(project: Project, paper: str) -> int:
    """The number of the last event before it: the last stage that an earlier launch ended."""
    rows = list(project.ledger.events(paper, kinds={"stage_finished"}))
    others = [row.seq for row in rows if row.payload["launch"] != rows[-1].payload["launch"]]
    return max(others, default=0)


def _lines(event: Event, tally: Tally) -> Iterator[str]:
    """What an event says to someone who watches a launch."""
    said = event.payload
    if event.kind == "runs_planned" and said["to_run"]:
        yield f"{said['stage']}: {said['to_run']} runs to make, of {len(said['planned'])}"
    elif event.kind == "attempt_finished":
        attempt = said["attempt"]
        why = f": {attempt['reason']['sentence']}" if attempt["reason"] else ""
        yield (
            f"{tally.name(event.content.attempt)}, {attempt['purpose']}: {attempt['status']}, "
            f"{attempt['seconds']:.1f} s ({tally}){why}"
        )
    elif event.kind == "stage_finished":
        why = f": {said['reason']['sentence']}" if said["reason"] else ""
        yield f"{said['stage']}: {said['status']}, {said['seconds']:.1f} s{why}"
    elif event.kind == "scores_changed":
        yield f"scores: {said['sentence']}"
    elif event.kind == "warning_recorded":
        yield f"! {said['sentence']}"
