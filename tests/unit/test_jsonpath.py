"""Paths lead to the values that they name, and a path that is not understood is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.jsonpath import EACH, parse_path, values_at

VALUE = {
    "results": [{"accuracy": 0.5}, {"accuracy": 0.75, "top-1 error": 2}],
    "folds": {"a": {"loss": 1}, "b": {"loss": 3}},
    "0": "a key",
    "final.loss": 4,
    "history": [5, 6, 7],
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("$.results[0].accuracy", [0.5]),
        ("$.results[*].accuracy", [0.5, 0.75]),
        ("$.results[1]['top-1 error']", [2]),
        ('$["final.loss"]', [4]),
        ("$.final.loss", []),
        ("$.history[-1]", [7]),
        ("$.history[-3]", [5]),
        ("$.history[-4]", []),
        ("$.history[3]", []),
        ("$.history[*]", [5, 6, 7]),
        ("$.folds.*.loss", [1, 3]),
        ("$.folds[*].loss", [1, 3]),
        ("$.0", ["a key"]),
        ("$[0]", []),
        ("$.history.0", []),
        ("$.history[0].x", []),
        ("$.history[0][*]", []),
        ("$.nothing", []),
        ("$", [VALUE]),
    ],
)
def test_a_path_leads_to_these_values(path, values):
    assert values_at(VALUE, parse_path(path)) == values


@pytest.mark.parametrize(
    "path",
    ["", "accuracy", "$.", "$..a", "$.a[", "$.a[x]", "$[]", "$.a b", "$a", "$.a]", "$['a]", "a.$"],
)
def test_a_path_that_is_not_understood_is_refused(path):
    with pytest.raises(ValueError, match=r"is not understood from .* on; write it as"):
        parse_path(path)


KEYS = st.text(min_size=1, max_size=6).filter(lambda key: "'" not in key)
STEPS = st.lists(KEYS | st.integers(-3, 3), max_size=5)


@given(STEPS, st.integers())
def test_a_value_put_at_a_path_is_found_there_and_nowhere_else(steps, leaf):
    value = leaf
    for step in reversed(steps):
        if isinstance(step, str):
            value = {step: value, step + "!": "other"}
        else:
            items = ["other"] * 4
            items[step] = value
            value = items
    path = "$" + "".join(f"['{s}']" if isinstance(s, str) else f"[{s}]" for s in steps)
    assert parse_path(path) == tuple(steps)
    assert values_at(value, parse_path(path)) == [leaf]


@given(st.lists(st.integers(), max_size=6))
def test_each_gives_all_values_in_order(items):
    assert values_at({"a": items}, ("a", EACH)) == items
    assert values_at({str(n): item for n, item in enumerate(items)}, (EACH,)) == items


@given(st.text(max_size=12))
def test_any_text_is_a_path_or_refused(text):
    try:
        steps = parse_path("$" + text)
    except ValueError:
        return
    assert values_at({"a": [1]}, steps) is not None
