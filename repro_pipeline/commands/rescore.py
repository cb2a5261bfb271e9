"""`repro rescore`, `repro score-history`: scores under a changed rubric, and those before."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from repro_pipeline.commands import launches, opening
from repro_pipeline.commands.exits import FAULT, OK
from repro_pipeline.commands.interrupts import interruptible
from repro_pipeline.commands.parser import command
from repro_pipeline.errors import BundleError, UserError

if TYPE_CHECKING:
    from repro_pipeline.background import Work
    from repro_pipeline.project import Project
    from repro_pipeline.scoring.history import Scoring


def add_to(commands) -> None:
    """Add these to the parser."""
    one = command(commands, rescore, "rescore")
    one.add_argument("papers", nargs="*", metavar="ID")
    one.add_argument(
        "--stale",
        action="store_true",
        help="every paper whose scores are of another rubric or of older evidence",
    )
    how = one.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print one JSON object per paper")
    launches.add_detach(how, several=False)
    one = command(commands, history, "score-history")
    one.add_argument("paper", metavar="ID")
    one.add_argument(
        "--show", type=int, metavar="N", help="the verdicts of this scoring, and its rubric"
    )
    one.add_argument("--json", action="store_true", help="print JSON")


def rescore(options: argparse.Namespace) -> int:
    """Score papers again under the rubric as it is now; run no experiment, ask no model.

    Says which outcomes changed, and which settings of the rubric made them change.
    """
    from assets.rescore import papers_with_evidence
    from repro_pipeline.background import Work

    project = opening.project_here()
    papers = _chosen(project, options, papers_with_evidence(project))
    chosen = ["--stale"] if options.stale else papers
    work = Work(command=("rescore", *chosen), papers=tuple(papers))
    if options.detach:
        return launches.detach(project, [work])
    interruptible()
    launch = _rescore(project, work)
    return _print_outcome(project, papers, launch=launch, as_json=options.json)


def _rescore(project: Project, work: Work) -> str:
    """Score papers in this process; the launch's id."""
    import dagster as dg

    from assets.rescore import rescore_papers
    from assets.rubric import observe_if_changed
    from assets.watch import register_papers
    from repro_pipeline.background import at_work
    from resources.launches import ALL_PAPERS, BY_COMMAND, end_dead_launches
    from resources.project import ProjectResource

    instance = opening.instance_of(project)
    end_dead_launches(instance, project)
    register_papers(instance, project)
    observe_if_changed(instance, project)
    try:
        with (
            opening.alone(project, ALL_PAPERS, "the scores"),
            at_work(project.state, work),
        ):
            result = rescore_papers.execute_in_process(
                instance=instance,
                resources={"project": ProjectResource(root=str(project.root))},
                tags=BY_COMMAND,
                run_config={
                    "ops": {"rescore": {"config": {"papers": list(work.papers), "tell": True}}},
                    "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
                },
            )
    except dg.DagsterExecutionInterruptedError:
        raise KeyboardInterrupt from None
    return result.run_id


def history(options: argparse.Namespace) -> int:
    """All scorings of a paper with what each changed, or one of them as it was."""
    from repro_pipeline.scoring.history import scorings

    project = opening.project_here()
    opening.must_know(project, [options.paper])
    made = scorings(project, options.paper)
    if not made:
        raise BundleError(
            f"'{options.paper}' was never scored.", hint=f"`repro run {options.paper}` scores it."
        )
    if options.show is None:
        return _print_history(project, options.paper, made, as_json=options.json)
    if not 1 <= options.show <= len(made):
        raise UserError(f"there are scorings 1 to {len(made)}.", where="--show")
    return _print_scoring(project, options.paper, made[options.show - 1], as_json=options.json)


def _chosen(project: Project, options: argparse.Namespace, known: Sequence[str]) -> list[str]:
    """The papers that are meant. Raises UserError for one that has no evidence yet."""
    if bool(options.papers) == options.stale:
        raise UserError(
            "which papers?", hint="Name them (`repro rescore ID…`), or all with `--stale`."
        )
    for paper in options.papers:
        if paper not in known:
            opening.must_know(project, [paper])
            raise BundleError(
                f"there is no evidence of '{paper}' to score.",
                hint=f"Gather it with `repro run {paper}`.",
            )
    return list(options.papers or known)


def _print_outcome(project: Project, papers: Sequence[str], *, launch: str, as_json: bool) -> int:
    """What a launch changed, paper by paper."""
    from repro_pipeline.stages import latest

    stood, failed = 0, []
    for paper in papers:
        row = latest(project, paper, "scores")
        if row.launch != launch:
            stood += 1
        elif row.output is None:
            failed.append(f"{paper}: {row.reason.sentence if row.reason else row.status}")
        elif as_json:
            print(json.dumps(_as_json(project, paper)))
        else:
            _print_change(project, paper)
    if not as_json:
        scored = len(papers) - stood - len(failed)
        print(f"{scored} scored again, {stood} stood already, {len(failed)} without scores.")
    for sentence in failed:
        print(sentence)
    return FAULT if failed else OK


def _as_json(project: Project, paper: str) -> dict:
    from repro_pipeline.scoring.history import latest_change, told

    change = latest_change(project, paper)
    known = change.model_dump(mode="json") if change else {"paper": paper, "outcomes": []}
    return {**known, "sentence": told(project, paper)}


def _print_change(project: Project, paper: str) -> None:
    """A table of the outcomes that differ."""
    from rich.markup import escape

    from repro_pipeline.scoring.history import change_rows, latest_change, told
    from repro_pipeline.terminal import wide_console

    console, change = wide_console(), latest_change(project, paper)
    said = told(project, paper)
    console.print(f"[bold]{escape(paper)}[/bold]: {escape(said)}", highlight=False)
    _table(console, change_rows(change) if change else [])


def _table(console, rows: Sequence[dict[str, object]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    if rows:
        table = Table(*rows[0], box=SIMPLE_HEAD)
        for row in rows:
            table.add_row(*(escape(str(cell)) for cell in row.values()))
        console.print(table)


def _print_history(project: Project, paper: str, made: Sequence[Scoring], *, as_json: bool) -> int:
    from repro_pipeline.scoring.history import change_between, scores_at
    from repro_pipeline.terminal import wide_console

    rows, before = [], None
    for one in made:
        scores = scores_at(project, one.scores)
        change = (
            change_between(project, paper, before, one.scores)
            if before and before != one.scores
            else None
        )
        rows.append(
            {
                "scoring": one.number,
                "at": one.at.isoformat(timespec="seconds"),
                "rubric": scores.rubric[:12] if scores else "?",
                "evidence": scores.evidence[:12] if scores else "?",
                "says": scores.headline if scores else "cannot be read by this version",
                "changed": change.sentence if change else "-",
            }
        )
        before = one.scores
    if as_json:
        print(json.dumps(rows, indent=1))
    else:
        _table(wide_console(), rows)
    return OK


def _print_scoring(project: Project, paper: str, one: Scoring, *, as_json: bool) -> int:
    """One scoring as it was, with the rubric that it was made under."""
    from repro_pipeline.errors import IntegrityError
    from repro_pipeline.scoring.current import rubric_text
    from repro_pipeline.scoring.explain import explain
    from repro_pipeline.scoring.history import scores_at

    scores = scores_at(project, one.scores)
    if scores is None:
        raise IntegrityError(
            "these scores cannot be read any more.",
            where=f"artifact {one.scores}",
            hint="They were removed, or an earlier version of the program made them.",
        )
    rubric = rubric_text(project, scores.rubric)
    if as_json:
        print(json.dumps({"scores": scores.model_dump(mode="json"), "rubric": rubric}, indent=1))
        return OK
    print(f"Scoring {one.number} of {paper}, {one.at.isoformat(timespec='seconds')}:")
    print("\n".join(f"  {line}" for line in explain(scores)))
    print(f"Under the rubric {scores.rubric[:12]}:")
    print("\n".join(f"  {line}" for line in rubric.splitlines()))
    return OK
