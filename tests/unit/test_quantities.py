"""Durations and sizes are what they say, and nothing else is taken for one."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from repro_pipeline.quantities import Bytes, Seconds

SECONDS = TypeAdapter(Seconds)
BYTES = TypeAdapter(Bytes)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90.0),
        ("10m", 600.0),
        ("2h", 7200.0),
        ("1d", 86400.0),
        ("1.5h", 5400.0),
        ("0.1s", 0.1),
        (" 2 h ", 7200.0),
        (90, 90.0),
        (0.5, 0.5),
    ],
)
def test_a_duration_is_a_number_of_seconds_or_a_text_with_a_unit(text, seconds):
    assert SECONDS.validate_python(text) == seconds


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1B", 1),
        ("512MiB", 512 << 20),
        ("4GiB", 4 << 30),
        ("1.5GiB", 3 << 29),
        ("2TiB", 2 << 40),
        ("9007199254B", 9007199254),
        ("0.5KiB", 512),
        (4096, 4096),
    ],
)
def test_a_size_is_a_number_of_bytes_or_a_text_with_a_unit(text, size):
    found = BYTES.validate_python(text)
    assert (found, type(found)) == (size, int)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "90",
        "h",
        "2hours",
        "2H",
        "1h30m",
        "1:30",
        "-1h",
        "+1h",
        "1e3s",
        "nans",
        "infs",
        "1_0s",
        "٢h",
        "0s",
        0,
        -1,
        float("nan"),
        "9" * 400 + "d",
        "1." + "0" * 400 + "1s",
    ],
)
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ValidationError):
        SECONDS.validate_python(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "4",
        "4GB",
        "4gib",
        "4G",
        "-1GiB",
        "0B",
        0,
        -1,
        "0.5B",
        "1.5B",
        "1.0001KiB",
        "1.0000001KiB",
        "9" * 400 + "TiB",
    ],
)
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValidationError):
        BYTES.validate_python(text)


@pytest.mark.parametrize("value", [1.5, float("inf"), float("nan"), True])
def test_a_number_that_is_no_whole_number_of_bytes_is_no_size(value):
    with pytest.raises(ValidationError):
        BYTES.validate_json(
            str(value).lower().replace("inf", "Infinity").replace("nan", "NaN"), strict=True
        )
    if value is not True:
        with pytest.raises(ValidationError):
            BYTES.validate_python(value)


@pytest.mark.parametrize(
    ("adapter", "text", "example"), [(SECONDS, "soon", "10m"), (BYTES, "much", "4GiB")]
)
def test_the_refusal_says_how_to_write_it(adapter, text, example):
    with pytest.raises(
        ValidationError, match=f"'{text}' is not understood; write it as .*{example}"
    ):
        adapter.validate_python(text)


@given(st.integers(1, 10**9), st.sampled_from([("B", 0), ("KiB", 10), ("MiB", 20), ("GiB", 30)]))
def test_a_size_is_exact(number, unit):
    name, power = unit
    assert BYTES.validate_python(f"{number}{name}") == number << power


@given(st.text())
def test_any_text_is_a_duration_or_refused(text):
    for adapter in (SECONDS, BYTES):
        with contextlib.suppress(ValidationError):
            assert adapter.validate_python(text) > 0
