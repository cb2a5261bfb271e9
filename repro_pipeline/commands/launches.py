"""`repro logs`, `repro cancel`: what launches do, as they do it, and their end."""

from __future__ import annotations

import argparse
import time
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from repro_pipeline.commands import opening
from repro_pipeline.commands.exits import FAULT, OK
from repro_pipeline.commands.parser import command
from repro_pipeline.errors import BundleError, UserError

if TYPE_CHECKING:
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
    one.add_argument("--all", action="store_true", help="every paper at work")


def logs(options: argparse.Namespace) -> int:
    """What the last launch of papers did, stage by stage, however it was launched.

    The output of a single run of an experiment is another thing: `repro log ID`.
    """
    from repro_pipeline.background import launches, lost

    project = opening.project_here()
    gone = {one.paper: one for one in lost(project.state)}
    known = {*project.ledger.chains(), *gone}
    at_work = [one.paper for one in launches(project.state)]
    papers = options.papers or at_work
    for paper in options.papers or gone:
        if paper in gone:
            print(f"! {paper}: {_LOST[gone[paper].state]} Launch it again: `repro run {paper}`.")
    for paper in papers:
        if paper not in known and paper not in at_work:
            raise BundleError(
                f"'{paper}' was never launched.", hint=f"Launch it with `repro run {paper}`."
            )
    if not papers:
        print("No launch is at work. `repro logs ID` shows the last one of a paper.")
        return OK
    tellers = {paper: _Told(project, paper, named=len(papers) > 1) for paper in papers}
    for teller in tellers.values():
        teller.print_news()
    if options.follow:
        _follow(project, tellers)
    return OK


def cancel(options: argparse.Namespace) -> int:
    """End launches, as Ctrl-C would; what is finished stays, and `repro run` goes on from there."""
    from repro_pipeline.background import end, launches

    project = opening.project_here()
    found = {one.paper: one for one in launches(project.state)}
    papers = list(found) if options.all else options.papers
    if not papers and not options.all:
        raise UserError("which paper?", hint="Name it (`repro cancel ID`), or all with `--all`.")
    failed = []
    for paper in papers:
        if launch := found.get(paper):
            gone, what = end(project.state, launch), f"{paper} ({launch.state})"
        else:
            gone, what = _cancel_in_dagster(project, paper), f"{paper} (of Dagster's queue)"
        print(f"Ended {what}." if gone else f"{what} does not end.")
        failed += [] if gone else [paper]
    if not papers:
        print("No launch is at work.")
    return FAULT if failed else OK


def _cancel_in_dagster(project: Project, paper: str) -> bool:
    """End what was launched of a paper by the UI, a schedule or a sensor. Raises UserError: nothing was."""
    import dagster as dg

    instance = opening.instance_of(project)
    unfinished = [
        dg.DagsterRunStatus.QUEUED,
        dg.DagsterRunStatus.NOT_STARTED,
        dg.DagsterRunStatus.STARTING,
        dg.DagsterRunStatus.STARTED,
    ]
    wanted = dg.RunsFilter(statuses=unfinished, tags={"dagster/partition": paper})
    runs = instance.get_runs(wanted)
    if not runs:
        raise UserError(
            f"no launch is at work on '{paper}'.", hint="`repro status` shows how papers stand."
        )
    return all([instance.run_coordinator.cancel_run(run.run_id) for run in runs])


def _follow(project: Project, tellers: dict[str, _Told]) -> None:
    """Print news until no launch of these papers is at work; without one at work, until Ctrl-C."""
    from repro_pipeline.background import launches

    def working() -> Collection[str]:
        return {one.paper for one in launches(project.state)} & set(tellers)

    were = bool(working())
    while True:
        still = working()
        for teller in tellers.values():
            teller.print_news()
        if were and not still:
            return
        time.sleep(_POLL_SECONDS)


class _Told:
    """The events of a paper's last launch, in lines."""

    def __init__(self, project: Project, paper: str, *, named: bool) -> None:
        from repro_pipeline.agent.story import Teller
        from repro_pipeline.progress import KINDS, Tally

        self._project, self._paper = project, paper
        self._prefix = f"{paper}: " if named else ""
        self._seen = _begin_of_last_launch(project, paper)
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


def detach(project: Project, papers: Sequence[str], options: argparse.Namespace) -> int:
    """Begin papers in the background, and say how to look after them."""
    from repro_pipeline.background import changing, launches, log_of
    from repro_pipeline.background import detach as begin

    with changing(project.state):
        busy = {one.paper for one in launches(project.state)} & set(papers)
        if busy:
            raise UserError(
                f"a launch is at work on {', '.join(sorted(busy))}.",
                hint=f"Follow it with `repro logs -f {min(busy)}`, or end it with `repro cancel`.",
            )
        begin(project.root, project.state, papers, _flags(options), options.at_once)
    for paper in papers:
        print(f"{paper}: in the background, prints to {log_of(project.state, paper)}")
    names = " ".join(papers) if len(papers) < 4 else ""
    print(f"Follow: `repro logs -f {names}`".rstrip() + ". End: `repro cancel ID` or `--all`.")
    return OK


def _flags(options: argparse.Namespace) -> list[str]:
    """The flags of `repro run`, for the process that does the work."""
    flags = ["--runner", options.runner] if options.runner else []
    flags += ["--agent"] if options.agent else []
    for name in ("stage", "record", "replay"):
        if value := getattr(options, name):
            flags += [f"--{name}", str(value.absolute() if name != "stage" else value)]
    return flags
