"""PaperBench's rubrics: a tree of requirements with weights, read from `rubric.json` and never changed.

The format is that of Starace et al. 2025. A leaf has a category and is graded; every other node is
the weighted mean of its children. Ids are not unique in the published rubrics, so a node is named by
its JSON path.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field, ValidationError, model_validator

from repro_pipeline.errors import FileFormatError
from repro_pipeline.frozen import Frozen
from repro_pipeline.jsonfile import read_json

LARGEST = 64 << 20
"""Bytes of a rubric; the largest published one has 2."""
DEEPEST = 60
"""Levels of a rubric; the deepest published one has 10."""
_MOST = 10
"""Faults that are told at once."""

Weight = Annotated[int | float, Field(ge=0)]


class Category(StrEnum):
    """What a leaf asks for."""

    DEVELOPMENT = "Code Development"
    """Is it implemented?"""
    EXECUTION = "Code Execution"
    """Does running `reproduce.sh` lead to it?"""
    RESULT = "Result Analysis"
    """Is what `reproduce.sh` wrote evidence of it?"""


class TaskNode(Frozen):
    """A requirement: a leaf with a category, or the weighted mean of its sub-tasks."""

    id: str
    requirements: str
    weight: Weight
    """Against its siblings."""
    sub_tasks: tuple[TaskNode, ...] = ()
    task_category: Category | None = None
    finegrained_task_category: str | None = None

    @model_validator(mode="after")
    def _leaf_or_not(self) -> TaskNode:
        if self.sub_tasks and self.task_category:
            raise ValueError("a node with sub_tasks has no task_category")
        if not self.sub_tasks and not self.task_category:
            raise ValueError("a leaf needs a task_category")
        return self


class GradedNode(TaskNode):
    """A node as PaperBench's judges leave it: with a score, and why."""

    sub_tasks: tuple[GradedNode, ...] = ()
    score: Annotated[float, Field(ge=0, le=1)] | None = None
    """None where it was not graded."""
    valid_score: bool | float = True
    """Whether the judge could grade it; published trees also write 1.0."""
    explanation: str = ""
    judge_metadata: Any = None


Node = TypeVar("Node", bound=TaskNode)


def read_tree(path: Path, model: type[Node] = TaskNode) -> Node:
    """Read a rubric, or a graded tree. Raises FileFormatError, with JSON paths."""
    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except OSError as error:
        raise FileFormatError(f"cannot be read: {error.strerror}.", where=str(path)) from None
    if len(content) > LARGEST:
        raise FileFormatError(f"is larger than {LARGEST >> 20} MiB.", where=str(path))
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise FileFormatError("is not UTF-8.", where=str(path)) from None
    return parse_tree(text, model, name=str(path))


def parse_tree(text: str, model: type[Node] = TaskNode, *, name: str) -> Node:
    """Like `read_tree`, from text; `name` stands for the file in errors."""
    value = read_json(text, name)
    if not isinstance(value, dict):
        raise FileFormatError("must be one JSON object, the root node.", where=name)
    if _depth(value) > DEEPEST:
        raise FileFormatError(f"is nested deeper than {DEEPEST} levels.", where=name)
    try:
        return model.model_validate_json(text, strict=True)
    except ValidationError as error:
        faults = error.errors(include_url=False)
    told = [f"{name}: {_sentence(fault)}" for fault in faults[:_MOST]]
    if len(faults) > _MOST:
        told.append(f"{name}: There are {len(faults) - _MOST} more faults.")
    raise FileFormatError("\n".join(told))


def walk(root: Node, path: str = "$", depth: int = 0) -> Iterator[tuple[str, int, Node]]:
    """Every node with its JSON path and its depth, parents before children, in the file's order."""
    yield path, depth, root
    for index, child in enumerate(root.sub_tasks):
        yield from walk(child, f"{path}.sub_tasks[{index}]", depth + 1)


def leaves(root: Node) -> Iterator[tuple[str, Node]]:
    """Every leaf with its JSON path."""
    for path, _, node in walk(root):
        if not node.sub_tasks:
            yield path, node


def shared_ids(root: TaskNode) -> dict[str, tuple[str, ...]]:
    """The ids that several nodes have, with these nodes' paths."""
    paths: dict[str, list[str]] = {}
    for path, _, node in walk(root):
        paths.setdefault(node.id, []).append(path)
    return {name: tuple(found) for name, found in paths.items() if len(found) > 1}


def weight_of(node: TaskNode) -> Fraction:
    """A weight as it is written: 0.1 is a tenth."""
    return Fraction(str(node.weight))


def _depth(value: Any) -> int:
    deepest, open_nodes = 0, [(value, 1)]
    while open_nodes:
        node, depth = open_nodes.pop()
        deepest = max(deepest, depth)
        children = node.get("sub_tasks") if isinstance(node, dict) else None
        open_nodes += [(child, depth + 1) for child in children or () if isinstance(child, dict)]
    return deepest


def _sentence(fault: Any) -> str:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault["loc"])
    for union in (".int", ".float"):  # the forms of a number are no part of the path
        place = place.removesuffix(union)
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "missing":
        message = "is missing"
    elif fault["type"] == "extra_forbidden":
        message = "is no key of a rubric"
    return f"${place}: {message}."
