"""The score of a PaperBench rubric: leaves' grades carried up by weight, exactly.

A node's score is sum(w_i s_i) / sum(w_i) over its children. What is not graded leaves both sums: each
leaf has the share of the whole that the weights above it give, and the score is what the graded leaves
earned of their shares together. So one graded leaf never speaks for its ungraded siblings, and the
graded share, which stands beside every score, says how much of the rubric it speaks for. Sums are
made in whole fractions: the same grades give the same score in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from repro_pipeline.frozen import Frozen
from repro_pipeline.paperbench.tree import (
    Category,
    GradedNode,
    TaskNode,
    leaves,
    walk,
    weight_of,
)


class Grade(Frozen):
    """What a leaf was given, by whom, on which evidence."""

    score: Annotated[float, Field(ge=0, le=1)] | None
    """None: it could not be decided, for the reason that `evidence` gives."""
    by: Literal["metrics", "execution", "judge", "person", "file"]
    evidence: str


class LeafScore(Frozen):
    """One leaf of the rubric."""

    path: str
    id: str
    category: Category
    requirements: str
    share: float
    """Of the whole rubric, by the weights above it."""
    grade: Grade | None
    """None where nothing graded it."""


class NodeScore(Frozen):
    """One node of the rubric."""

    path: str
    id: str
    requirements: str
    score: float | None
    """Over what is graded below it; None where nothing is."""
    graded: float
    """The share of its weight that is graded."""


class CategoryScore(Frozen):
    """The leaves of one category."""

    category: Category
    leaves: int
    graded_leaves: int
    share: float
    """Of the whole rubric."""
    score: float | None


class RubricScore(Frozen):
    """A submission's score under a PaperBench rubric."""

    code_only: bool
    score: float | None
    """Over the graded leaves; None where none is."""
    exact: str | None
    """The same as a fraction."""
    graded_weight: float
    """The share of the rubric's weight that was graded; the score speaks for this much."""
    lowest: float
    """The score if every ungraded leaf failed."""
    highest: float
    """The score if every ungraded leaf passed."""
    categories: tuple[CategoryScore, ...]
    top: tuple[NodeScore, ...]
    """The root's children."""
    leaves: tuple[LeafScore, ...]


def score_tree(
    root: TaskNode, grades: Mapping[str, Grade], *, code_only: bool = False
) -> RubricScore:
    """The score of a rubric from the grades of its leaves, by JSON path.

    `code_only` counts Code Development alone, as PaperBench's variant does: other leaves, and nodes
    without any leaf left, are taken out of the tree.
    """
    shares = leaf_shares(root, code_only=code_only)
    scores = {p: Fraction(str(g.score)) for p, g in grades.items() if g.score is not None}
    of_leaves = dict(leaves(root))
    found = tuple(
        LeafScore(
            path=path,
            id=of_leaves[path].id,
            category=of_leaves[path].task_category,
            requirements=of_leaves[path].requirements,
            share=float(share),
            grade=grades.get(path),
        )
        for path, share in shares.items()
    )
    earned, graded = _sums(shares, scores, shares)
    exact = earned / graded if graded else None
    return RubricScore(
        code_only=code_only,
        score=_float(exact),
        exact=None if exact is None else str(exact),
        graded_weight=float(graded),
        lowest=float(earned),
        highest=float(earned + 1 - graded),
        categories=tuple(_categories(found, shares, scores)),
        top=tuple(_top(root, shares, scores)),
        leaves=found,
    )


def counts(leaf: TaskNode, *, code_only: bool) -> bool:
    """Whether a leaf takes part in the variant."""
    return not code_only or leaf.task_category is Category.DEVELOPMENT


def grades_of(root: GradedNode, rubric: TaskNode) -> dict[str, Grade]:
    """The leaves' grades in a graded tree of PaperBench's form, for its rubric.

    The weights that count are the rubric's (the published graded trees have those of an older
    version, see `other_weights`). Raises ValueError where the nodes differ. A score that its judge
    called invalid is none.
    """
    given, wanted = dict(leaves(root)), dict(leaves(rubric))
    odd = given.keys() ^ wanted.keys() or {
        path for path in wanted if given[path].id != wanted[path].id
    }
    if odd:
        raise ValueError(f"it is of another rubric: see {min(odd)}")
    return {
        path: Grade(
            score=leaf.score if leaf.valid_score else None, by="file", evidence=leaf.explanation
        )
        for path, leaf in given.items()
        if leaf.score is not None
    }


def other_weights(root: GradedNode, rubric: TaskNode) -> list[str]:
    """The paths of the nodes to which a graded tree gives another weight than the rubric."""
    ours = {path: weight_of(node) for path, _, node in walk(rubric)}
    return [p for p, _, node in walk(root) if p in ours and weight_of(node) != ours[p]]


def leaf_shares(root: TaskNode, *, code_only: bool = False) -> dict[str, Fraction]:
    """The share of the whole that each leaf has by the weights above it, by JSON path.

    The shares sum to 1, unless all children of some node weigh 0: nobody can earn its weight.
    """
    counting = {path for path, leaf in leaves(root) if counts(leaf, code_only=code_only)}
    alive = _with_ancestors(counting)
    shares: dict[str, Fraction] = {}

    def descend(node: TaskNode, path: str, share: Fraction) -> None:
        if not node.sub_tasks:
            shares[path] = share
        parts = [
            (child, place, weight_of(child))
            for n, child in enumerate(node.sub_tasks)
            if (place := f"{path}.sub_tasks[{n}]") in alive
        ]
        total = sum((weight for _, _, weight in parts), Fraction(0))
        for child, place, weight in parts:
            descend(child, place, share * weight / total if total else Fraction(0))

    if "$" in alive:
        descend(root, "$", Fraction(1))
    return shares


def _with_ancestors(paths: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        place = path
        while place and place not in found:
            found.add(place)
            place = place.rpartition(".")[0]
    return found


def _sums(
    shares: Mapping[str, Fraction], scores: Mapping[str, Fraction], paths: Iterable[str]
) -> tuple[Fraction, Fraction]:
    """Earned and graded shares of some leaves."""
    graded = [path for path in paths if path in scores]
    earned = sum((shares[path] * scores[path] for path in graded), Fraction(0))
    return earned, sum((shares[path] for path in graded), Fraction(0))


def _categories(
    found: Sequence[LeafScore],
    shares: Mapping[str, Fraction],
    scores: Mapping[str, Fraction],
) -> Iterator[CategoryScore]:
    for category in Category:
        paths = [leaf.path for leaf in found if leaf.category is category]
        earned, graded = _sums(shares, scores, paths)
        if paths:
            yield CategoryScore(
                category=category,
                leaves=len(paths),
                graded_leaves=sum(path in scores for path in paths),
                share=float(sum(shares[path] for path in paths)),
                score=_float(earned / graded if graded else None),
            )


def _top(
    root: TaskNode, shares: Mapping[str, Fraction], scores: Mapping[str, Fraction]
) -> Iterator[NodeScore]:
    for index, child in enumerate(root.sub_tasks):
        place = f"$.sub_tasks[{index}]"
        paths = [path for path in shares if path == place or path.startswith(f"{place}.")]
        share = sum((shares[path] for path in paths), Fraction(0))
        earned, graded = _sums(shares, scores, paths)
        if paths:
            yield NodeScore(
                path=place,
                id=child.id,
                requirements=child.requirements,
                score=_float(earned / graded if graded else None),
                graded=float(graded / share) if share else 0.0,
            )


def _float(exact: Fraction | None) -> float | None:
    return None if exact is None else float(exact)
