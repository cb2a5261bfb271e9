"""Models at borders cannot change, know their keys, and have one byte string per value."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from repro_pipeline.bundle.task import Budget
from repro_pipeline.frozen import Frozen, Misfit, Sha256, Slug, canonical_json, digest

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=4
        )
    ),
    max_leaves=12,
)


def shuffled(value, random):
    """The same value with the keys of its mappings in another order."""
    if isinstance(value, dict):
        keys = list(value)
        random.shuffle(keys)
        return {key: shuffled(value[key], random) for key in keys}
    return [shuffled(item, random) for item in value] if isinstance(value, list) else value


@given(JSON, st.randoms())
def test_the_order_of_keys_does_not_count_and_nothing_is_lost(value, random):
    assert digest(shuffled(value, random)) == digest(value)
    assert json.loads(canonical_json(value)) == value


@given(JSON, JSON)
def test_different_values_have_different_bytes(one, other):
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (canonical_json(one) == canonical_json(other)) == same


def test_the_canonical_form_and_its_digest_are_these_for_ever():
    value = {"b": [1, 2.5, None, True], "a": "ü"}
    assert canonical_json(value) == '{"a":"ü","b":[1,2.5,null,true]}'.encode()
    assert digest(value) == hashlib.sha256(canonical_json(value)).hexdigest()
    assert digest(Budget(usd=5)) == digest(
        {"usd": 5.0, "tokens": None, "wall_clock": None, "experiments": None, "steps": None}
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [{"a": float("-inf")}]])
def test_what_is_not_finite_has_no_canonical_form(value):
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical_json(value)


class Example(Frozen):
    value: float
    free: dict = {}


def test_a_frozen_model_refuses_change_unknown_keys_and_what_is_not_finite():
    example = Example(value=1)
    with pytest.raises(ValidationError, match="frozen"):
        example.value = 2
    with pytest.raises(ValidationError, match="Extra inputs"):
        Example(value=1, other=2)
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValidationError, match="finite"):
            Example(value=value)
    with pytest.raises(ValueError, match="JSON compliant"):
        digest(Example(value=1, free={"x": float("nan")}))


def test_a_default_mapping_is_not_shared_between_models():
    one = Example(value=1)
    one.free["x"] = 1
    assert Example(value=1).free == {}


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("random-forests-2001", True),
        ("a", True),
        ("2001.05_x", True),
        ("a" * 100, True),
        ("a" * 101, False),
        ("", False),
        (".hidden", False),
        ("-x", False),
        ("..", False),
        ("a/b", False),
        ("a b", False),
        ("A", False),
        ("ä", False),
        ("a\n", False),
    ],
)
def test_a_slug_is_safe_as_a_folder_and_in_an_address(text, fits):
    assert accepts(Slug, text) == fits


@pytest.mark.parametrize(
    ("text", "fits"),
    [("a" * 64, True), ("0" * 63, False), ("A" * 64, False), ("a" * 64 + "\n", False)],
)
def test_a_sha256_is_64_lower_case_hexadecimal_digits(text, fits):
    assert accepts(Sha256, text) == fits


def test_a_misfit_knows_its_place():
    fault = Misfit("is wrong", "claims", 3)
    assert (str(fault), fault.place) == ("is wrong", ("claims", 3))


def accepts(kind, value):
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError:
        return False
    return True
