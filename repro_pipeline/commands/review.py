"""`repro review`: what was drawn for review by people, and their decisions."""

from __future__ import annotations

import argparse
import getpass
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from repro_pipeline.choices import choices, listed
from repro_pipeline.commands import opening
from repro_pipeline.commands.exits import OK
from repro_pipeline.commands.parser import command
from repro_pipeline.errors import UserError

if TYPE_CHECKING:
    from repro_pipeline.ledger.rows import ReviewRow
    from repro_pipeline.project import Project
    from repro_pipeline.scoring.model import ReviewItem, Scores
    from repro_pipeline.scoring.rubric import Rubric

DECISIONS = ("confirmed", "overturned", "unclear")
LOG_LINES = 8
"""Lines of a log that are shown."""
LOGS = 3
"""Runs whose logs are shown: those that failed first."""


def add_to(commands) -> None:
    """Add it to the parser."""
    one = command(commands, review, "review")
    one.add_argument("paper", nargs="?", metavar="ID")
    one.add_argument("claim", nargs="?", metavar="CLAIM", help="a claim that was drawn")
    one.add_argument("--decision", choices=DECISIONS, help="of the claim; asked for by default")
    one.add_argument("--reason", help="why, in a sentence")
    one.add_argument("--reviewer", help="your name; by default the user's")
    one.add_argument(
        "--open",
        action="store_true",
        help="show verdict, producer and other reviews first; it is recorded as not blind",
    )


def review(options: argparse.Namespace) -> int:
    """List the claims drawn for review, or show one and record a decision on it.

    A decision is on the claim: confirmed, the runs support the paper's value; overturned, they
    contradict it; unclear, neither. Where the rubric says double-blind (the default), scores,
    verdict, producer and other reviews are hidden until the decision stands.
    """
    from repro_pipeline.scoring.current import read_rubric

    project = opening.project_here()
    rubric, _ = read_rubric(project)
    reviewer = _name(getpass.getuser() if options.reviewer is None else options.reviewer)
    if options.paper is not None:
        opening.must_know(project, [options.paper])
    blind = rubric.review.double_blind and not options.open
    if options.claim is None:
        if options.decision or options.reason:
            raise UserError(
                "a decision is on one claim.", hint="Write `repro review ID CLAIM --decision …`."
            )
        return _list(project, options.paper, reviewer, rubric, blind=blind)
    drawn = _drawn(project, options.paper, options.claim, rubric)
    if standing := [d for d in drawn.row.decisions if d.reviewer == reviewer]:
        raise UserError(
            f"{reviewer} decided on '{options.claim}' already: {standing[0].decision}.",
            hint="A decision is not changed; another person can review it (--reviewer).",
        )
    if blind and _was_opened(project, drawn, reviewer):
        raise UserError(
            f"{reviewer} was shown the verdict on '{options.claim}' already.",
            hint="Decide with --open; it is recorded as not blind.",
        )
    return _decide(project, drawn, rubric, reviewer, options, blind=blind)


def _name(reviewer: str) -> str:
    """A reviewer's name in one spelling. Raises UserError for none."""
    name = " ".join(unicodedata.normalize("NFC", reviewer).split())
    if not name or not name.isprintable():
        raise UserError("a review needs the name of who reviews.", hint="Give it: --reviewer NAME.")
    return name


def _was_opened(project: Project, drawn: _Drawn, reviewer: str) -> bool:
    shown = (event.content for event in project.ledger.events(drawn.paper, kinds={"review_opened"}))
    of_this = (drawn.row.claim, drawn.row.bound_to, reviewer)
    return any((one.claim, one.scores, one.reviewer) == of_this for one in shown)


def _record_opened(project: Project, drawn: _Drawn, reviewer: str) -> None:
    """Before anything is shown: who stops then, and decides later, has seen it all the same."""
    from repro_pipeline.ledger.events import ReviewOpened

    opened = ReviewOpened(claim=drawn.row.claim, scores=drawn.row.bound_to, reviewer=reviewer)
    project.ledger.append(drawn.paper, opened, actor=f"human:{reviewer}")


@dataclass(frozen=True)
class _Drawn:
    """A claim that was drawn from a paper's latest scores."""

    paper: str
    scores: Scores
    row: ReviewRow

    @property
    def item(self) -> ReviewItem:
        from repro_pipeline.scoring.review import item_of

        return item_of(self.row)


def _list(
    project: Project, paper: str | None, reviewer: str, rubric: Rubric, *, blind: bool
) -> int:
    """One line per claim that was drawn, and how far reviewers agree."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    from repro_pipeline.report.words import words
    from repro_pipeline.scoring.current import agreement_in, sampling_phase
    from repro_pipeline.terminal import wide_console

    hidden = () if blind else ("Reviewed", "Verdict", "Why")
    table = Table("Paper", "Claim", "Reviews", "Yours", *hidden, box=SIMPLE_HEAD)
    papers = [paper] if paper else opening.papers_of(project)
    for drawn in (one for name in papers for one in _all_drawn(project, name)):
        row, verdicts = drawn.row, {v.claim: v.verdict for v in drawn.scores.verdicts}
        yours = [d.decision for d in row.decisions if d.reviewer == reviewer]
        if not (blind or yours):
            _record_opened(project, drawn, reviewer)
        told = () if blind else (row.status, words(verdicts[row.claim]), row.why)
        cells = (drawn.paper, row.claim, str(len(row.decisions)), *(yours or ["waiting"]), *told)
        table.add_row(*map(escape, cells))
    if not table.row_count:
        print(_none_drawn(project, papers, rubric))
        return OK
    wide_console().print(table)
    found, rule = agreement_in(project), rubric.review
    kappa = "not defined yet" if found.kappa is None else f"{found.kappa:.2f}"
    print(f"Agreement: kappa {kappa} over {found.claims} claims with two reviews or more.")
    print(
        f"Sampling is in the {sampling_phase(project)} phase; it is stable from "
        f"{rule.stable_after} such claims and kappa {rule.stable_kappa:g} on."
    )
    if blind:
        print("Verdicts and other reviews are hidden until you have decided.")
    return OK


def _decide(
    project: Project,
    drawn: _Drawn,
    rubric: Rubric,
    reviewer: str,
    options: argparse.Namespace,
    *,
    blind: bool,
) -> int:
    """Show the evidence, ask for what was not given, record it."""
    from repro_pipeline.ledger.events import ReviewDecided
    from repro_pipeline.report.review_sheet import QUESTION, open_lines

    hidden = open_lines(drawn.scores, drawn.item)
    if not blind:
        _record_opened(project, drawn, reviewer)
    for line in [*_sheet(project, drawn, rubric), *([] if blind else hidden)]:
        print(line)
    if not options.decision:
        print(QUESTION)
    decision = options.decision or _ask("Decision", DECISIONS)
    reason = (options.reason if options.reason is not None else _ask("Reason")).strip()
    if not reason:
        raise UserError("a decision needs a reason.", hint='Give it: --reason "…".')
    decided = ReviewDecided(
        claim=drawn.row.claim,
        scores=drawn.row.bound_to,
        reviewer=reviewer,
        decision=decision,
        reason=reason,
        blind=blind,
    )
    event = project.ledger.append(drawn.paper, decided, actor=f"human:{reviewer}")
    if (stands := event.content.decision) != decision:
        raise UserError(
            f"{reviewer} decided on '{drawn.row.claim}' meanwhile: {stands}.",
            hint="A decision is not changed; another person can review it (--reviewer).",
        )
    print(f"Recorded as event {event.seq} of {drawn.paper}: {decision}.")
    for line in hidden if blind else []:
        print(line)
    print(f"`repro rescore {drawn.paper}` brings it into the report.")
    return OK


def _sheet(project: Project, drawn: _Drawn, rubric: Rubric) -> list[str]:
    from repro_pipeline.evidence.model import Evidence
    from repro_pipeline.ledger.logs import tail
    from repro_pipeline.paper.model import Paper
    from repro_pipeline.report.facts import claim_runs
    from repro_pipeline.report.review_sheet import blind_sheet
    from repro_pipeline.stages import latest, output_of
    from repro_pipeline.status import Status
    from repro_pipeline.tree import Tree

    evidence, paper = (
        output_of(project, latest(project, drawn.paper, stage), model)
        for stage, model in (("experiment_ledger", Evidence), ("parsed_paper", Paper))
    )
    runs = claim_runs(evidence, drawn.row.claim)
    logged = sorted(
        (run for run in runs if run.counted.log),
        key=lambda run: run.counted.status is Status.OK,
    )
    logs = {}
    for run in logged[:LOGS]:
        with project.store.open(run.counted.log) as stream:
            logs[run.run_key] = tail(stream, LOG_LINES)
    files = ()
    if evidence.code_tree:
        tree = Tree.model_validate_json(project.store.get(evidence.code_tree))
        files = tuple(file.path for file in tree.files)
    return blind_sheet(
        paper,
        evidence,
        evidence.claims.claim(drawn.row.claim),
        runs,
        tolerance=rubric.dimensions.metric_parity.threshold,
        logs=logs,
        files=files,
    )


def _ask(what: str, choices: tuple[str, ...] = ()) -> str:
    """Ask until the answer is one of the choices, where there are some."""
    among = f" ({', '.join(choices)})" if choices else ""
    try:
        while (said := input(f"{what}{among}: ").strip()) not in (choices or (said,)):
            print(f"'{said}' is none of them.")
    except EOFError:
        raise UserError(
            f"no {what.lower()} was given; nothing was recorded.",
            hint="Give --decision and --reason.",
        ) from None
    return said


def _drawn(project: Project, paper: str, claim: str, rubric: Rubric) -> _Drawn:
    all_drawn = _all_drawn(project, paper)
    for one in all_drawn:
        if one.row.claim == claim:
            return one
    scored = _scored(project, paper)
    claims = [verdict.claim for verdict in scored.verdicts] if scored else []
    if claims and claim not in claims:
        hint = choices(claim, claims, lead="It has")
        raise UserError(f"'{paper}' has no claim '{claim}'.", hint=hint)
    names = [one.row.claim for one in all_drawn]
    raise UserError(
        f"the claim '{claim}' of '{paper}' was not drawn for review.",
        hint=f"Drawn were: {listed(names)}. The draw follows from the rubric and the scores."
        if names
        else _none_drawn(project, [paper], rubric),
    )


def _none_drawn(project: Project, papers: list[str], rubric: Rubric) -> str:
    """Why there is no claim of these papers to review: none was scored yet, or the draw took none."""
    from repro_pipeline.scoring.model import ReviewQueue
    from repro_pipeline.stages import latest, output_of
    from repro_pipeline.wording import counted, percent

    rows = [row for paper in papers if (row := latest(project, paper, "review_queue"))]
    queues = [output_of(project, row, ReviewQueue) for row in rows if row.output]
    if not queues:
        return "No claim was drawn for review yet. Claims are drawn by `repro run`."
    whose = "its" if len(papers) == 1 else "the"
    claims = counted(sum(queue.sampled_from for queue in queues), "claim")
    rates = {percent(getattr(rubric.review.rates, queue.phase)) for queue in queues}
    return (
        f"None of {whose} {claims} was drawn (rate {' or '.join(sorted(rates))}; `review.rates` in "
        f"{project.config.rubric})."
    )


def _all_drawn(project: Project, paper: str) -> list[_Drawn]:
    """The claims drawn from the latest scores of a paper, in the order of the draw."""
    from repro_pipeline.scoring.current import reviews_of
    from repro_pipeline.stages import latest

    scores = _scored(project, paper)
    if scores is None:
        return []
    stored = latest(project, paper, "scores").output
    rows = (row for row in reviews_of(project, paper) if row.scores == stored)
    return [_Drawn(paper, scores, row) for row in rows]


def _scored(project: Project, paper: str) -> Scores | None:
    """The latest scores of a paper; None where it has none."""
    from repro_pipeline.scoring.model import Scores
    from repro_pipeline.stages import latest, output_of

    row = latest(project, paper, "scores")
    return output_of(project, row, Scores) if row and row.output else None
