"""Leaves of a PaperBench rubric that code can grade: by a claim's metric, by what ran, by a person.

Which claim or experiment a leaf stands for is said in a grades file, which its user writes and no
submission does. Without an entry, a result leaf is a claim's only where its number, printed to at
least three digits, is that claim's alone, and the leaf names the claim's method or data set.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field, model_validator

from repro_pipeline.bundle.terms import ClaimId
from repro_pipeline.claims.model import Claim
from repro_pipeline.errors import FileFormatError
from repro_pipeline.evidence.model import Evidence
from repro_pipeline.frozen import Frozen, Slug
from repro_pipeline.paper.numbers import find_numbers
from repro_pipeline.paperbench.score import Grade
from repro_pipeline.paperbench.tree import Category, TaskNode, leaves, shared_ids
from repro_pipeline.scoring.model import ClaimVerdict, Scores
from repro_pipeline.status import Status, Verdict
from repro_pipeline.wording import number, percent, plain

TOLERANCE = 0.05
"""Relative, for a leaf's number that is not the claim's own: as metric_parity has it by default."""

Relation = Literal["about", "below", "above"]


class LeafEntry(Frozen):
    """What is known of one leaf: its grade, or the claim or experiment that gives it."""

    leaf: str
    """Its id, or its JSON path where the rubric has the id twice."""
    score: Annotated[float, Field(ge=0, le=1)] | None = None
    by: str | None = None
    """Who graded it."""
    evidence: str | None = None
    claim: ClaimId | None = None
    """The claim whose value the leaf's number is held against."""
    experiment: Slug | None = None
    """The experiment that must have run to its end."""

    @model_validator(mode="after")
    def _one_of(self) -> LeafEntry:
        if sum(given is not None for given in (self.score, self.claim, self.experiment)) != 1:
            raise ValueError("needs one of `score`, `claim` and `experiment`")
        if (self.score is None) != (self.by is None) or (self.score is None) != (
            self.evidence is None
        ):
            raise ValueError(
                "a `score` needs `by` (who gave it) and `evidence`, and nothing else does"
            )
        return self


class GradesFile(Frozen):
    """`grades.yaml`: what people, claims and experiments say of a rubric's leaves."""

    schema_: Annotated[Literal[1], Field(alias="schema")] = 1
    leaves: tuple[LeafEntry, ...]


@dataclass(frozen=True)
class Facts:
    """What was found about a submission, by claim and by experiment."""

    claims: Mapping[str, Claim] = field(default_factory=dict)
    verdicts: Mapping[str, ClaimVerdict] = field(default_factory=dict)
    executed: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Experiment → runs that ended well, runs made."""

    @classmethod
    def of(cls, evidence: Evidence, scores: Scores) -> Facts:
        """The facts of a scored paper."""
        runs: dict[str, tuple[int, int]] = {one.id: (0, 0) for one in evidence.experiments}
        for run in evidence.runs:
            well, made = runs.get(run.experiment, (0, 0))
            runs[run.experiment] = well + (run.counted.status is Status.OK), made + 1
        return cls(
            claims={claim.id: claim for claim in evidence.claims.claims},
            verdicts={verdict.claim: verdict for verdict in scores.verdicts},
            executed=runs,
        )


@dataclass(frozen=True)
class NamedNumber:
    """The one result that a leaf names."""

    value: float
    quantum: float
    relation: Relation
    percent: bool


def grades_from_file(
    root: TaskNode, file: GradesFile, facts: Facts, *, name: str
) -> dict[str, Grade]:
    """The grades that the entries give, by JSON path. Raises FileFormatError."""
    grades: dict[str, Grade] = {}
    for index, entry in enumerate(file.leaves):
        where = f"{name}: leaves[{index}]"
        path, leaf = _leaf(root, entry.leaf, where)
        if path in grades:
            raise FileFormatError(f"the leaf {path} has an entry already.", where=where)
        if entry.score is not None:
            said = f"{entry.by}: {entry.evidence}"
            grades[path] = Grade(score=entry.score, by="person", evidence=said)
        elif entry.experiment is not None:
            grades[path] = _executed(entry.experiment, leaf, facts, where)
        else:
            grades[path] = _measured(entry.claim, leaf, facts, where)
    return grades


def grades_by_number(root: TaskNode, facts: Facts) -> dict[str, Grade]:
    """The grades of result leaves whose number is one claim's alone, by JSON path."""
    grades = {}
    for path, leaf in leaves(root):
        named = named_number(leaf.requirements)
        if leaf.task_category is Category.RESULT and named and named.relation == "about":
            claim = claim_of(leaf, named, tuple(facts.claims.values()))
            if claim is not None:
                grades[path] = grade_number(named, claim, facts.verdicts[claim.id])
    return grades


def claim_of(leaf: TaskNode, named: NamedNumber, claims: Sequence[Claim]) -> Claim | None:
    """The only claim that reports the leaf's number, if the leaf names its method or data set."""
    if round(abs(named.value) / named.quantum) < 100:
        return None
    same = [
        claim
        for claim in claims
        if claim.value is not None
        and abs(claim.value - named.value) <= 1e-9 * abs(named.value)
        and not (named.percent and claim.unit not in {None, "percent"})
    ]
    if len(same) != 1:
        return None
    text = leaf.requirements.lower()
    names = [name.lower() for name in (same[0].method, same[0].dataset) if name]
    return same[0] if any(name in text for name in names) else None


def grade_number(named: NamedNumber, claim: Claim, verdict: ClaimVerdict) -> Grade:
    """The grade of a leaf's number by a claim's reproduced value.

    Where the leaf's number is the reported one, the claim's verdict is the grade, and an
    inconclusive one is none. Otherwise the value is held against the number.
    """
    said = f"{claim.id}: {number(verdict.value)}" if verdict.value is not None else claim.id
    if verdict.verdict is Verdict.NOT_RUN or verdict.value is None:
        return Grade(score=0, by="metrics", evidence=f"{claim.id} has no value.")
    own = claim.value is not None and abs(claim.value - named.value) <= named.quantum / 2
    if named.relation == "about" and own:
        score = {Verdict.REPRODUCED: 1, Verdict.NOT_REPRODUCED: 0}.get(verdict.verdict)
        return Grade(score=score, by="metrics", evidence=f"{said}, {plain(verdict.verdict)}.")
    met = {
        "about": abs(verdict.value - named.value)
        <= max(TOLERANCE * abs(named.value), named.quantum / 2),
        "below": verdict.value < named.value,
        "above": verdict.value > named.value,
    }[named.relation]
    against = f"{named.relation} {number(named.value)}"
    within = f" within {percent(TOLERANCE)}" if named.relation == "about" else ""
    return Grade(score=met, by="metrics", evidence=f"{said}, wanted {against}{within}.")


_RELATIONS: dict[Relation, str] = {
    "below": r"below|under|less than|lower than|smaller than",
    "above": r"above|over|more than|greater than|higher than|exceed(?:s|ing)?",
    "about": r"approximately|approx\.?|roughly|around|about|close to|~|≈|\\sim|\\approx",
}
_MEASURED = re.compile(
    r"\b(accuracy|score|error|loss|rate|return|reward|performance|F1|AUC|BLEU|MSE|RMSE|FID\S*|LPIPS"
    r"|perplexity|average|mean|improvement)\b[^.;]{0,40}?\b(of|is|was|to|at)\s*$",
    re.IGNORECASE,
)


def named_number(text: str) -> NamedNumber | None:
    """The result that a requirement names: the only number that it compares with, else None.

    A number counts where a word of comparison stands before it (`around 59`, `below 0.75`) or a
    measure's name (`an accuracy of 65.26%`); settings (`10-shot`, `s=0`) do not. A sentence that denies
    something is left to a judge.
    """
    found = []
    for start, end, quantity in find_numbers(text):
        if quantity.value is None or not (quantum := _quantum(text[start:end])):
            continue
        relation = _relation(text[max(0, start - 80) : start])
        if relation and not re.search(r"[A-Za-z]", text[start : end + 1]):  # not 1k
            is_percent = bool(re.match(r"\s*\\?%", text[end:])) or text[start:end].endswith("%")
            found.append(NamedNumber(quantity.value, quantum, relation, is_percent))
    denied = re.search(r"n't\b|\b(not|never|no)\b", text, re.IGNORECASE)
    return found[0] if len(found) == 1 and not denied else None


def _relation(before: str) -> Relation | None:
    for relation, pattern in _RELATIONS.items():
        if re.search(rf"(?:^|[\s(])(?:{pattern})\s*\$?$", before, re.IGNORECASE):
            return relation
    return "about" if _MEASURED.search(before) else None


def _quantum(printed: str) -> float | None:
    match = re.search(r"\d+(?:\.(\d+))?", printed)
    return 10.0 ** -len(match[1] or "") if match else None


def _leaf(root: TaskNode, name: str, where: str) -> tuple[str, TaskNode]:
    by_path = dict(leaves(root))
    if name in by_path:
        return name, by_path[name]
    found = [(path, leaf) for path, leaf in by_path.items() if leaf.id == name]
    if len(found) == 1:
        return found[0]
    if found:
        paths = ", ".join(shared_ids(root)[name])
        raise FileFormatError(
            f"the rubric has the id '{name}' {len(found)} times.",
            where=where,
            hint=f"Name the leaf by its path: {paths}.",
        )
    raise FileFormatError(
        f"the rubric has no leaf '{name}'.",
        where=where,
        hint="`repro paperbench show --leaves` lists ids and paths.",
    )


def _executed(experiment: str, leaf: TaskNode, facts: Facts, where: str) -> Grade:
    if leaf.task_category is not Category.EXECUTION:
        raise FileFormatError(
            f"the leaf asks for {leaf.task_category}, which no run alone shows.", where=where
        )
    if experiment not in facts.executed:
        known = ", ".join(facts.executed) or "none: name the scored paper with --paper"
        raise FileFormatError(
            f"there is no experiment '{experiment}'.", where=where, hint=f"There are: {known}."
        )
    well, made = facts.executed[experiment]
    said = f"{well} of {made} runs of {experiment} ended well."
    return Grade(score=float(well > 0), by="execution", evidence=said)


def _measured(claim: str, leaf: TaskNode, facts: Facts, where: str) -> Grade:
    if claim not in facts.claims:
        known = ", ".join(facts.claims) or "none: name the scored paper with --paper"
        raise FileFormatError(
            f"there is no claim '{claim}'.", where=where, hint=f"There are: {known}."
        )
    named = named_number(leaf.requirements)
    if named is None:
        raise FileFormatError(
            "the leaf does not name one number that a value could be held against.",
            where=where,
            hint="Grade it by `score`.",
        )
    return grade_number(named, facts.claims[claim], facts.verdicts[claim])
