"""The blind judge inside the loop: what is still open, found by code, without any reported value.

It knows the claims' ids and what ran; it never compares a result with the paper's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from repro_pipeline.agent.standing import Standing
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.ledger.runs import ExperimentKind
from repro_pipeline.pysource import parsed

LISTED = 12


def open_points(
    standing: Standing,
    tree: str,
    made: Implementation | str,
    tests: Mapping[str, str],
) -> tuple[str, ...]:
    """What has to be done before the work counts as complete, a sentence each.

    `made` is the code as it stands, or why it cannot be loaded; `tests` are the test files' texts.
    """
    if isinstance(made, str):
        return (f"The code does not load as a submission: {made}",)
    found = []
    if made.uncovered:
        found.append(f"No experiment covers the claims: {_listed(made.uncovered)}.")
    found += _of_tests(standing, tree, tests)
    found += _of_sample(standing, tree, made)
    if standing.compared is None:
        found.append("The paper's points were not yet compared with the code.")
    return tuple(found)


def doubts(standing: Standing, made: Implementation | str) -> tuple[str, ...]:
    """What may be right as it is, but has to be looked at, a sentence each."""
    found = [
        f"Point {check.point}: {check.verdict}. {check.note}"
        for check in standing.points.values()
        if check.verdict in {"mismatch", "absent"}
    ]
    for name, run in standing.sample.items():
        values = list(run.get("values", {}).values()) if run["ok"] else []
        if len(values) > 1 and _known(values[0]) and all(one == values[0] for one in values):
            found.append(f"{name} gives the same values whatever the seed. Is it deterministic?")
    if isinstance(made, Implementation):
        found += _idle_changes(standing, made)
    return tuple(found)


def _of_tests(standing: Standing, tree: str, tests: Mapping[str, str]) -> Iterable[str]:
    if not tests:
        yield "There are no unit tests (tests/test_*.py)."
        return
    without = [path for path, text in tests.items() if not _asserts(text)]
    if without:
        yield f"These test files assert nothing: {_listed(without)}."
    if standing.tests is None or standing.tests["tree"] != tree:
        yield "The unit tests did not run since the last change of the code."
    elif standing.tests["failed"] or not standing.tests["passed"]:
        yield f"Unit tests fail: {_listed(standing.tests['failed']) or 'none passed'}."


def _of_sample(standing: Standing, tree: str, made: Implementation) -> Iterable[str]:
    stale = [
        one.id for one in made.experiments if standing.sample.get(one.id, {}).get("tree") != tree
    ]
    if stale:
        yield f"Not run on the sample since the last change of the code: {_listed(stale)}."
    failed = [
        one.id
        for one in made.experiments
        if one.id not in stale and not standing.sample[one.id]["ok"]
    ]
    if failed:
        yield f"These fail on the sample: {_listed(failed)}."


def _idle_changes(standing: Standing, made: Implementation) -> Iterable[str]:
    """Experiments whose one changed factor changes no value, seed by seed."""
    for one in made.experiments:
        if one.kind not in {ExperimentKind.ABLATION, ExperimentKind.SENSITIVITY}:
            continue
        own, base = (
            standing.sample.get(name or "", {}).get("values", {}) for name in (one.id, one.of)
        )
        seeds = own.keys() & base.keys()
        if seeds and all(_known(own[s]) and _same(own[s], base[s]) for s in seeds):
            changed = ", ".join(one.change or {})
            yield f"In {one.id} the change of {changed} changes no value of {one.of}."


def _known(values: Mapping[str, Any]) -> bool:
    """Whether values were shown: those from sealed labels are not."""
    return "[sealed]" not in values.values()


def _same(own: Mapping[str, Any], base: Mapping[str, Any]) -> bool:
    common = own.keys() & base.keys()
    if common:
        return all(own[claim] == base[claim] for claim in common)
    return set(own.values()) <= set(base.values())


def _asserts(text: str) -> int:
    """The assertions of a test file; 0 for one that is no Python."""
    try:
        tree = parsed(text)
    except SyntaxError:
        return 0
    raising = {"raises", "assert_allclose", "assert_array_equal", "approx"}
    return sum(
        isinstance(node, ast.Assert)
        or (isinstance(node, ast.Attribute) and (node.attr in raising or "assert" in node.attr))
        for node in ast.walk(tree)
    )


def _listed(names: Sequence[str]) -> str:
    more = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {more} more" if more > 0 else "")
