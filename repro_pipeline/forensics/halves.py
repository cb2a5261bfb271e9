"""Test rows changed by halves: whether each is judged by itself, and by a model that never saw it.

A mean over test rows is the sum of what each row adds. Change one half A of them, the other half B, and
both: with models that do not depend on the test rows, v + v(AB) = v(A) + v(B), to the last digits,
whatever the model, the data and the change. Labels that chose, trained or corrected anything break
this; so does a result on one row that depends on the inputs of others (a scaler fitted on them).
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from repro_pipeline.claims.model import Claim
from repro_pipeline.findings import Finding
from repro_pipeline.forensics.counts import as_share, is_rate, is_whole
from repro_pipeline.forensics.spoil import Spoiler, Unspoilt, as_number, is_blank, write_spoilt
from repro_pipeline.frozen import Frozen
from repro_pipeline.wording import number

Kind = Literal["test_labels", "test_inputs"]
Part = Literal["a", "b", "ab", "all"]
PARTS: tuple[Part, ...] = ("a", "b", "ab")
"""One half, the other half, both."""
WAYS: tuple[tuple[Kind, Part], ...] = (
    *(("test_labels", part) for part in (*PARTS, "all")),
    *(("test_inputs", part) for part in PARTS),
)
"""What is made: `all` is one and the same change of all labels."""
_ADDITIVE = re.compile(
    r"acc|err|misclass|log_?loss|nll|cross_?entropy|(?<!r)mse|mae|brier|loss", re.I
)
_NOT_ADDITIVE = re.compile(r"balanced|macro|weighted|rmse|root|relative|auc|f1|median|max", re.I)
_ELSEWHERE = re.compile(r"train|valid|dev(?!i)|cross|fold|cv\b|oob|bag", re.I)
_TOLERANCE = 1e-6


class _Halved(Spoiler):
    """Changes the labels or the inputs of one half of the rows, or of both, always in the same way."""

    by_column = True

    def __init__(self, kind: Kind, part: Part, rows: Collection[int] | None, seed: str) -> None:
        super().__init__("labels" if kind == "test_labels" else "noise", rows, random.Random(seed))
        self.kind, self.part, self.seed = kind, part, seed
        self.changed = False
        self.inputs: list[list[float]] = []
        self.label: Sequence[Any] | None = None
        """The one column of labels, of a table."""
        self.sure = True

    def column(self, values: Sequence[Any], *, label: bool) -> list[Any]:
        label = label if self.label is None else values is self.label
        if label != (self.kind == "test_labels"):
            return list(values)
        rows = [n for n in range(len(values)) if self.rows is None or n in self.rows]
        halves = random.Random(self.seed)
        first = {n for n in rows if halves.random() < 0.5}
        wanted = {"a": first, "b": set(rows) - first}.get(self.part, set(rows))
        easier = first if self.part != "all" else ()
        changed = self._labels(values, easier) if label else self._other(values)
        kept = {n for n, value in enumerate(values) if label and is_blank(value)}
        result = [changed[n] if n in wanted - kept else value for n, value in enumerate(values)]
        self.changed |= result != list(values)
        return result

    def look(
        self, names: Sequence[str], columns: Sequence[Sequence[Any]], labels: Collection[int]
    ) -> None:
        if not labels:
            return
        classes = [place for place in labels if _few_kinds(columns[place])]
        label = (classes if len(classes) == 1 else sorted(labels))[-1]
        self.sure = len(labels) == 1 or len(classes) == 1
        self.label = columns[label]
        numbers = [
            [as_number(value) for value in column]
            for place, column in enumerate(columns)
            if place != label
        ]
        self.inputs = [column for column in numbers if None not in column]

    def _labels(self, values: Sequence[Any], easier: Collection[int]) -> list[Any]:
        """Every class replaced by the next one, but in the easier rows by one that the inputs tell;
        so other models do best on each half. Labels of many kinds come in another order.
        """
        known = {value for value in values if not is_blank(value)}
        kinds = sorted(known, key=lambda v: (str(type(v)), v))
        if not _few_kinds(values):
            return [values[n] for n in self._order(len(values))]
        after = dict(zip(kinds, (*kinds[1:], kinds[0]), strict=True))
        told = told_by(self.inputs, values, self.seed) if self.inputs and easier else ()
        return [told[n] if n in easier and told else after.get(v, v) for n, v in enumerate(values)]

    def _other(self, values: Sequence[Any]) -> list[Any]:
        """Every input as if measured elsewhere: another row's, moved and stretched."""
        spoiler = Spoiler("noise", None, random.Random(self.seed))
        return spoiler.column(values, label=False)

    def _order(self, count: int) -> list[int]:
        order = list(range(count))
        random.Random(self.seed).shuffle(order)
        return order


def _few_kinds(values: Sequence[Any]) -> bool:
    """Whether values may be classes."""
    return len(set(values)) <= max(20, math.isqrt(len(values)))


def told_by(inputs: Sequence[Sequence[float]], labels: Sequence[Any], seed: str) -> list[Any]:
    """For each row a class that a sum of its inputs tells: of random weights, each of the sign in
    which the input goes with the most frequent class. `inputs` are columns.
    """
    import numpy as np

    x = np.array(inputs, dtype=float).T
    x = (x - x.mean(0)) / np.where(x.std(0) > 0, x.std(0), 1.0)
    known = [label for label in labels if not is_blank(label)]
    (first, _), *others = Counter(known).most_common()
    if not others:
        return list(labels)
    mine = np.array([label == first for label in labels])
    rest = np.array([label != first and not is_blank(label) for label in labels])
    signs = np.sign(x[mine].mean(0) - x[rest].mean(0))
    weights = np.array([random.Random(f"{seed}:{n}").random() for n in range(len(signs))])
    total = x @ (signs * weights)
    ranks = [others[n % len(others)][0] for n in range(len(labels))]
    return [first if t > 0 else rank for t, rank in zip(total, ranks, strict=True)]


def spoil_half(
    source: Path, target: Path, kind: Kind, part: Part, rows: Collection[int] | None
) -> bool:
    """Write a copy in which the test rows of a part are changed (None: all rows are test rows).

    Returns whether the labels are surely the labels. Raises Unspoilt where that is not possible.
    """
    spoiler = _Halved(kind, part, rows, f"{kind}:{source.name}")
    certain = write_spoilt(source, target, spoiler)
    if not spoiler.changed:
        raise Unspoilt
    return certain and spoiler.sure


class Halves(Frozen):
    """One experiment with its test rows changed: the values of the same seed, None where it failed."""

    kind: Kind
    experiment: str
    before: dict[str, float]
    after: dict[Part, dict[str, float]]
    alone: bool
    """Whether the changed files hold test rows only."""
    classes: int | None
    """How many classes the labels have, where it is known."""
    rows: int | None
    """How many test rows there are, where it is known."""


def findings(
    all_halves: Sequence[Halves], claims: Mapping[str, Claim], moved: Collection[str]
) -> Iterator[Finding]:
    """What the halves show, of code that repeats itself. `moved` are the claims that answered to a
    change of other data.
    """
    complete = [one for one in all_halves if set(one.after) >= set(PARTS)]
    inputs = {
        (one.experiment, name)
        for one in complete
        if one.kind == "test_inputs"
        for name in one.before
        if len(set(_values(one, name))) == 1
    }
    for one in complete:
        for name in one.before:
            values = _values(one, name)
            if name not in claims or len(values) <= len(PARTS):
                continue
            if len(set(values)) > 1:
                yield from _added_up(one, claims[name], values)
                yield from _turned(one, claims[name])
            elif one.kind == "test_labels" and (one.experiment, name) in inputs:
                yield from _unused(one, claims[name], moved)


def _values(one: Halves, name: str) -> list[float]:
    """A claim's values: nothing changed, one half, the other, both; those that there are."""
    return [v[name] for v in (one.before, *(one.after[part] for part in PARTS)) if name in v]


def _unused(one: Halves, claim: Claim, moved: Collection[str]) -> Iterator[Finding]:
    named = f"{claim.id} {claim.metric} {claim.dataset or ''}"
    if is_rate(claim) and not _ELSEWHERE.search(named):
        yield Finding(
            kind="test_rows_unused",
            evidence=f"{claim.id} in {one.experiment} is the same to the bit with other inputs and "
            "labels for all test rows: it is measured on something else.",
            severity="suspect" if one.alone and claim.id in moved else "unverified",
            claims=(claim.id,),
        )


def _added_up(one: Halves, claim: Claim, values: Sequence[float]) -> Iterator[Finding]:
    named = f"{claim.id} {claim.metric}"
    if not _ADDITIVE.search(named) or _NOT_ADDITIVE.search(named):
        return
    if _adds_up(values) or _adds_up([value * value for value in values]):
        return
    v, a, b, both = values
    shown = f"{number(v)}, {number(a)}, {number(b)} and {number(both)}"
    if one.kind == "test_inputs":
        yield Finding(
            kind="test_rows_together",
            evidence=f"With other inputs in none, one half, the other half and all of the test rows, "
            f"{claim.id} is {shown}; it does not add up: a result on one row depends on others.",
            severity="unverified",
            claims=(claim.id,),
        )
        return
    yield Finding(
        kind="test_labels_used",
        evidence=f"With other labels for none, one half, the other half and all of the test rows, "
        f"{claim.id} is {shown}; it does not add up: these labels do more than be compared with "
        "predictions.",
        severity="suspect" if one.alone and _counted(one, claim, values) else "unverified",
        claims=(claim.id,),
    )


def _adds_up(values: Sequence[float]) -> bool:
    """Whether what the halves change adds up; of a root mean square, its square does."""
    v, a, b, both = values
    return abs(v + both - a - b) <= _TOLERANCE * max(map(abs, values))


def _counted(one: Halves, claim: Claim, values: Sequence[float]) -> bool:
    """Whether values are plain counts over all test rows."""
    shares = [as_share(claim, value) for value in values]
    return is_rate(claim) and one.rows is not None and is_whole(shares, one.rows)


def _turned(one: Halves, claim: Claim) -> Iterator[Finding]:
    """Of two classes, what is right for one is wrong for the other: v + v(all turned) = 1."""
    turned = one.after.get("all", {}).get(claim.id)
    if turned is None or one.classes != 2 or not is_rate(claim):
        return
    values = [one.before[claim.id], turned]
    total = sum(as_share(claim, value) for value in values)
    if abs(total - 1) > _TOLERANCE:
        yield Finding(
            kind="test_labels_used",
            evidence=f"With the two classes of all test rows exchanged, {claim.id} is "
            f"{number(turned)}, before {number(values[0])}: predictions that do not know the labels "
            "are right in the one case where they are wrong in the other.",
            severity="suspect" if one.alone and _counted(one, claim, values) else "unverified",
            claims=(claim.id,),
        )
