"""JSON as it is written by hand and by programs: what is not sound is refused with its place."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.errors import FileFormatError
from repro_pipeline.jsonfile import NotFiniteError, read_json


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"a": 1,\n "b": }', "f.json:2: is no valid JSON: Expecting value."),
        ("", "f.json:1: is no valid JSON: Expecting value."),
        ('{"a": 1} x', "f.json:1: is no valid JSON: Extra data."),
        ('{"a": 1, "a": 2}', "f.json: is no usable JSON: the key 'a' stands twice."),
        ('[{"b": {"c": 1, "c": 1}}]', "f.json: is no usable JSON: the key 'c' stands twice."),
        ("[" * 100_000, "f.json: is no usable JSON: it is nested too deeply."),
        ('{"a":' * 100_000, "f.json: is no usable JSON: it is nested too deeply."),
    ],
)
def test_what_is_no_sound_json_is_refused(text, sentence):
    with pytest.raises(FileFormatError) as error:
        read_json(text, "f.json")
    assert str(error.value) == sentence
    assert not isinstance(error.value, NotFiniteError)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_a_number_that_is_not_finite_is_refused_by_name(number):
    with pytest.raises(NotFiniteError, match=f"holds {number}, which is no finite number"):
        read_json(f'{{"a": [{number}]}}', "f.json")


def test_a_number_of_more_digits_than_python_reads_is_refused():
    with pytest.raises(FileFormatError, match="no usable JSON"):
        read_json("1" * 5000, "f.json")


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.text()
        | st.floats(allow_nan=False).filter(math.isfinite),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=10,
    )
)
def test_all_sound_json_is_read_as_it_is(value):
    assert read_json(json.dumps(value), "f.json") == value
