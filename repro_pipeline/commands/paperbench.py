"""`repro paperbench`: show a PaperBench rubric, and score a submission by one."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import repro_pipeline
from repro_pipeline.commands.exits import OK
from repro_pipeline.commands.parser import command, family
from repro_pipeline.errors import UserError

if TYPE_CHECKING:
    from repro_pipeline.paperbench.facts import Facts
    from repro_pipeline.paperbench.reproduce import Reproduced
    from repro_pipeline.paperbench.score import Grade, RubricScore
    from repro_pipeline.paperbench.tree import TaskNode


def add_to(commands) -> None:
    """Add these to the parser."""
    paperbench = family(
        commands, "paperbench", "show a PaperBench rubric; score a submission by it"
    )
    one = command(paperbench, show, "show")
    one.add_argument("rubric", type=Path, metavar="RUBRIC", help="a rubric.json")
    one.add_argument("--depth", type=int, default=2, metavar="N", help="levels shown (default 2)")
    one.add_argument("--leaves", action="store_true", help="list the leaves with id and path")
    one = command(paperbench, grade, "grade")
    one.add_argument("--rubric", type=Path, required=True, metavar="FILE", help="a rubric.json")
    one.add_argument("--submission", type=Path, metavar="DIR", help="the submission's folder")
    one.add_argument(
        "--grades",
        type=Path,
        metavar="FILE",
        help="grades.yaml (`repro schema grades.yaml`), or a graded tree of PaperBench (.json)",
    )
    one.add_argument("--paper", metavar="ID", help="a scored paper of this project: its evidence")
    one.add_argument("--code-only", action="store_true", help="Code Development leaves alone")
    one.add_argument(
        "--reproduce", action="store_true", help="run the submission's reproduce.sh in the sandbox"
    )
    one.add_argument(
        "--timeout", default="1h", metavar="TIME", help="the most that it may take (default 1h)"
    )
    one.add_argument(
        "--judge",
        type=int,
        metavar="N",
        help="ask this project's judge model about the N heaviest leaves that nothing else grades",
    )
    one.add_argument(
        "--samples", type=int, default=1, metavar="K", help="answers a leaf (default 1)"
    )
    one.add_argument("--json", action="store_true", help="print one JSON object")


def show(options: argparse.Namespace) -> int:
    """The tree of a rubric, with each node's share of the whole, and counts by category."""
    from repro_pipeline.paperbench.score import leaf_shares
    from repro_pipeline.paperbench.tree import leaves, read_tree, shared_ids, walk

    root = read_tree(options.rubric)
    shares = leaf_shares(root)
    for path, depth, node in walk(root):
        if options.leaves and not node.sub_tasks:
            print(f"{node.id}  {path}  [{node.task_category}]  {node.requirements}")
        elif not options.leaves and depth <= options.depth:
            below = [p for p in shares if p == path or p.startswith(f"{path}.")]
            share = float(sum(shares[p] for p in below))
            kind = f"[{node.task_category}]" if node.task_category else f"({len(below)} leaves)"
            print(f"{'  ' * depth}{share:7.2%}  {_short(node.requirements)}  {kind}")
    counted = Counter(leaf.task_category for _, leaf in leaves(root))
    print("\n" + "; ".join(f"{category}: {count} leaves" for category, count in counted.items()))
    for name, paths in shared_ids(root).items():
        print(f"The id {name} stands {len(paths)} times: {', '.join(paths)}")
    return OK


def grade(options: argparse.Namespace) -> int:
    """Score a submission by a rubric: what is not graded leaves both sums, and is told.

    Leaves are graded by the grades file, by the metrics and runs of a scored paper, and by whether
    reproduce.sh ran and wrote anything; what is left, by a judge model where --judge asks for it.
    """
    from repro_pipeline.paperbench.facts import grades_by_number
    from repro_pipeline.paperbench.judge import by_rule
    from repro_pipeline.paperbench.reproduce import has_script
    from repro_pipeline.paperbench.score import score_tree
    from repro_pipeline.paperbench.tree import read_tree

    root = read_tree(options.rubric)
    submission = options.submission
    if submission is not None and not submission.is_dir():
        raise UserError("no such folder.", where=str(submission))
    facts = _facts(options.paper)
    grades: dict[str, Grade] = {}
    reproduced = None
    if submission is not None:
        script = has_script(submission)
        if options.reproduce and script:
            reproduced = _reproduced(submission, options.timeout)
        grades |= by_rule(root, script, reproduced)
    grades |= grades_by_number(root, facts)
    notes: list[str] = []
    if options.grades is not None:
        given, notes = _given(options.grades, root, facts)
        grades |= given
    if options.judge is not None:
        judged, told = _judged(options, root, grades, reproduced)
        grades |= judged
        notes = [*notes, *told]
    score = score_tree(root, grades, code_only=options.code_only)
    if options.json:
        print(json.dumps(_as_json(options, score, reproduced, notes), indent=1))
    else:
        print("\n".join(_lines(score, reproduced, notes)))
    return OK


def _facts(paper: str | None) -> Facts:
    from repro_pipeline.paperbench.facts import Facts

    if paper is None:
        return Facts()
    from repro_pipeline.commands import opening
    from repro_pipeline.evidence.model import Evidence
    from repro_pipeline.scoring.model import Scores
    from repro_pipeline.stages import latest, output_of

    project = opening.project_here()
    opening.must_know(project, [paper])
    rows = [latest(project, paper, stage) for stage in ("experiment_ledger", "scores")]
    if any(row is None or row.output is None for row in rows):
        raise UserError(
            f"'{paper}' has not been scored.",
            where="--paper",
            hint=f"Score it with `repro run {paper}`.",
        )
    evidence, scores = rows
    return Facts.of(output_of(project, evidence, Evidence), output_of(project, scores, Scores))


def _given(path: Path, root: TaskNode, facts: Facts) -> tuple[dict[str, Grade], list[str]]:
    """The grades of a file, and what must be said of them."""
    from repro_pipeline.paperbench.facts import GradesFile, grades_from_file
    from repro_pipeline.paperbench.score import grades_of, other_weights
    from repro_pipeline.paperbench.tree import GradedNode, read_tree
    from repro_pipeline.yamlfile import load_model

    if path.suffix != ".json":
        entries = load_model(path, GradesFile)
        return grades_from_file(root, entries, facts, name=str(path)), []
    graded = read_tree(path, GradedNode)
    try:
        grades = grades_of(graded, root)
    except ValueError as error:
        raise UserError(f"{error}.", where=str(path)) from None
    other = other_weights(graded, root)
    told = f"{path.name} gives {len(other)} nodes another weight; the rubric's weights count."
    return grades, [told] if other else []


def _judged(
    options: argparse.Namespace,
    root: TaskNode,
    grades: Mapping[str, Grade],
    reproduced: Reproduced | None,
) -> tuple[dict[str, Grade], list[str]]:
    """What the project's judge says of the heaviest leaves without a grade, and what must be said."""
    from functools import partial

    from repro_pipeline.asking.ask import Desk, ask, no_guard
    from repro_pipeline.commands import opening
    from repro_pipeline.ledger.events import PROJECT_CHAIN
    from repro_pipeline.paperbench.judge import judge_leaves
    from repro_pipeline.paperbench.reproduce import texts
    from repro_pipeline.paperbench.score import leaf_shares
    from repro_pipeline.paperbench.tree import leaves

    if options.submission is None:
        raise UserError("needs --submission: there is nothing to judge.", where="--judge")
    if options.judge < 1 or options.samples < 1:
        raise UserError("must be at least 1.", where="--judge, --samples")
    project = opening.project_here()
    if project.config.models.judge is None:
        raise UserError(
            "no judge model is configured.",
            where="repro.yaml: models",
            hint="Name one: `judge: {model: …}`.",
        )
    if not project.config.send_to_models.code:
        raise UserError("no code may be sent to models.", where="repro.yaml: send_to_models.code")
    desk = Desk.of(
        project,
        PROJECT_CHAIN,  # no paper's: the project's budget holds for all such questions
        project.config.budget,
        guard=no_guard,  # a rubric names results itself, and the code is finished
        actor=f"code:repro-pipeline/{repro_pipeline.__version__}",
    )
    shares = leaf_shares(root, code_only=options.code_only)
    heaviest = sorted((p for p in shares if p not in grades), key=lambda p: -shares[p])
    by_path = dict(leaves(root))
    found, stopped = judge_leaves(
        [(path, by_path[path]) for path in heaviest[: options.judge]],
        texts(options.submission),
        reproduced,
        partial(ask, desk, step="paperbench", role="judge"),
        samples=options.samples,
    )
    left = len(heaviest) - len(found)
    told = [f"The judge was asked about {len(found)} leaves; {left} stay ungraded."]
    return found, told + ([stopped] if stopped else [])


def _reproduced(submission: Path, timeout: str) -> Reproduced:
    """Run the script, in an environment of what the submission says it needs."""
    from pydantic import TypeAdapter, ValidationError

    from repro_pipeline.environment.build import environment_mounts, host_python
    from repro_pipeline.environment.make import make_environment
    from repro_pipeline.paperbench.reproduce import reproduce
    from repro_pipeline.quantities import Seconds
    from resources.artifact_store import FsspecArtifactStore
    from resources.runners import make_runner
    from resources.user_cache import cache_folder

    try:
        seconds = TypeAdapter(Seconds).validate_python(timeout)
    except ValidationError:
        raise UserError(
            f"'{timeout}' is no duration.", where="--timeout", hint="Write it as 90s, 10m or 2h."
        ) from None
    runner = make_runner("bubblewrap")
    runner.enforcement()
    cache = cache_folder() / "environments"
    with tempfile.TemporaryDirectory(prefix="repro-paperbench-") as place:
        built = make_environment(submission, None, store=FsspecArtifactStore(place), cache=cache)
    return reproduce(
        submission,
        runner,
        seconds=seconds,
        python=host_python(built, cache),
        mounts=environment_mounts(built, cache),
    )


def _as_json(
    options: argparse.Namespace, score: RubricScore, reproduced: Reproduced | None, notes: list[str]
) -> dict:
    ran = None
    if reproduced is not None:
        ran = {
            "status": str(reproduced.status),
            "reason": reproduced.reason,
            "seconds": reproduced.seconds,
            "files": reproduced.files,
            "written": sorted(reproduced.written),
        }
    return {
        "rubric": str(options.rubric),
        **score.model_dump(mode="json"),
        "reproduce": ran,
        "notes": notes,
    }


def _lines(score: RubricScore, reproduced: Reproduced | None, notes: list[str]) -> list[str]:
    variant = "Code Development only" if score.code_only else "all categories"
    if score.score is None:
        lines = [f"Not scored ({variant}): no leaf is graded."]
    else:
        lines = [
            f"Score {score.score:.4f} = {score.exact} ({variant}), over {score.graded_weight:.1%} of "
            f"the rubric's weight; between {score.lowest:.4f} and {score.highest:.4f} for all of it."
        ]
    if reproduced is not None:
        lines.append(
            f"reproduce.sh: {reproduced.status} ({reproduced.reason}), wrote {reproduced.files} files."
        )
    lines += [*notes, ""]
    for one in score.categories:
        lines.append(
            f"{one.category}: {_number(one.score)}, {one.graded_leaves} of {one.leaves} leaves "
            f"graded, {one.share:.1%} of the weight"
        )
    lines.append("")
    for node in score.top:
        lines.append(
            f"  {_number(node.score)}  graded {node.graded:4.0%}  {_short(node.requirements)}"
        )
    by = Counter(leaf.grade.by for leaf in score.leaves if leaf.grade)
    undecided = [leaf for leaf in score.leaves if leaf.grade and leaf.grade.score is None]
    lines.append(
        "\nGraded by: " + (", ".join(f"{who} {n}" for who, n in sorted(by.items())) or "nothing")
    )
    lines += [f"No grade: {leaf.path}: {leaf.grade.evidence}" for leaf in undecided[:10]]
    return lines


def _number(score: float | None) -> str:
    return "not scored" if score is None else f"{score:.4f}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:99]}…"
