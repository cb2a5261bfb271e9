"""Leaves of a PaperBench rubric that a judge model grades, each on evidence that code checks.

A judge is shown what its leaf's category is about: the code for Code Development; code, script and
log for Code Execution; and for Result Analysis only the script, its log and files that it wrote. It
quotes before it decides, `met` without a quote that stands in those files is no answer, and the
majority of k samples decides. A leaf without one stays ungraded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import Field

from repro_pipeline.asking.prompt import Block
from repro_pipeline.asking.questions import Asks, shown
from repro_pipeline.errors import UserError
from repro_pipeline.evidence.spans import CodeSpan, code_fault
from repro_pipeline.frozen import Frozen
from repro_pipeline.paperbench.reproduce import LOG, SCRIPT, Reproduced
from repro_pipeline.paperbench.score import Grade
from repro_pipeline.paperbench.tree import Category, TaskNode, leaves
from repro_pipeline.status import Status

SHOWN = 120_000
"""Characters of files in one question."""
PROMPT = "judge-paperbench"

_QUESTIONS = {
    Category.DEVELOPMENT: "Does the code implement this? A description or a stub is no implementation.",
    Category.EXECUTION: "Did the run of reproduce.sh, by its log, carry this out successfully?",
    Category.RESULT: "Do the files that reproduce.sh wrote give this result?",
}


class LeafAnswer(Frozen):
    """What a judge says of a leaf; the evidence comes first."""

    evidence: Annotated[tuple[CodeSpan, ...], Field(max_length=5)]
    """Lines of the shown files that the decision rests on."""
    reasoning: Annotated[str, Field(max_length=2000)]
    met: bool


def by_rule(root: TaskNode, script: bool, reproduced: Reproduced | None) -> dict[str, Grade]:
    """The grades that need no judge: nothing was executed, or nothing was written.

    Without a `reproduce.sh` no execution or result leaf is met; where its run wrote no file, no
    result leaf is. A script that was not run decides nothing.
    """
    if not script:
        return _all(root, {Category.EXECUTION, Category.RESULT}, f"There is no {SCRIPT}.")
    if reproduced is None or reproduced.files:
        return {}
    ended = "" if reproduced.status is Status.OK else f" ({reproduced.reason})"
    return _all(root, {Category.RESULT}, f"The run of {SCRIPT} wrote no file{ended}.")


def judge_leaves(
    todo: Iterable[tuple[str, TaskNode]],
    code: Mapping[str, str],
    reproduced: Reproduced | None,
    ask: Asks,
    *,
    samples: int = 1,
) -> tuple[dict[str, Grade], str | None]:
    """Grades of leaves by JSON path; and why it was stopped before the end, where it was.

    Execution and result leaves are left out where the script was not run: nobody saw it.
    """
    grades: dict[str, Grade] = {}
    for path, leaf in todo:
        files = visible(leaf.task_category, code, reproduced)
        if files is None:
            continue
        answers: list[LeafAnswer] = []
        try:
            for _ in range(samples):
                answers.append(_asked(leaf, files, ask))
        except UserError as error:
            if not answers:
                return grades, f"Stopped at {path}: {error.what}"
        grades[path] = decide(answers, files)
    return grades, None


def visible(
    category: Category, code: Mapping[str, str], reproduced: Reproduced | None
) -> dict[str, str] | None:
    """The files that a leaf of this category may be judged by; None where there are none to see."""
    if category is Category.DEVELOPMENT:
        return dict(code)
    if reproduced is None:
        return None
    run = {LOG: reproduced.log, **({SCRIPT: code[SCRIPT]} if SCRIPT in code else {})}
    if category is Category.EXECUTION:
        return {**code, **run}
    return {**reproduced.written, **run}


def decide(answers: Iterable[LeafAnswer], files: Mapping[str, str]) -> Grade:
    """The majority of the answers that count; a tie, or none, is no grade."""
    votes: list[bool] = []
    places: list[str] = []
    faults: list[str] = []
    for answer in answers:
        found = [(span, code_fault(span, files)) for span in answer.evidence]
        sound = [str(span) for span, fault in found if fault is None]
        if answer.met and not sound:
            faults += [fault for _, fault in found if fault] or ["no evidence was given"]
            continue
        votes.append(answer.met)
        places += sound
    for_it = sum(votes)
    if 2 * for_it == len(votes):
        why = "; ".join(dict.fromkeys(faults)) or "the samples are divided"
        return Grade(score=None, by="judge", evidence=f"No grade: {why}.")
    said = f"{for_it} of {len(votes)} samples say met"
    at = f" ({', '.join(dict.fromkeys(places))})" if places else ""
    void = f"; {len(faults)} void" if faults else ""
    return Grade(score=float(2 * for_it > len(votes)), by="judge", evidence=f"{said}{at}{void}.")


def _asked(leaf: TaskNode, files: Mapping[str, str], ask: Asks) -> LeafAnswer:
    text, left_out = shown(files, leaf.requirements, SHOWN)
    kind = "own" if leaf.task_category is Category.DEVELOPMENT else "output"
    return ask(
        prompt=PROMPT,
        values={
            "question": _QUESTIONS[leaf.task_category],
            "requirement": Block("requirement", leaf.requirements, "own"),
            "files": Block("files", text, kind),
            "left_out": ", ".join(left_out) or "none",
        },
        answer_model=LeafAnswer,
        check=lambda answer: None,
    )


def _all(root: TaskNode, categories: set[Category], why: str) -> dict[str, Grade]:
    return {
        path: Grade(score=0, by="execution", evidence=why)
        for path, leaf in leaves(root)
        if leaf.task_category in categories
    }
