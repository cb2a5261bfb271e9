"""Of an output what matters: the last traceback, the failed tests, no noise, bounded."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.agent.distil import MOST, distilled, names_only

TRACEBACK = """step 1
Traceback (most recent call last):
  File "/work/experiment.py", line 10, in <module>
    main()
    ^^^^^^
  File "/env/lib/python3.11/site-packages/numpy/core.py", line 1, in dot
    return a
  File "/env/lib/python3.11/site-packages/numpy/deep.py", line 2, in check
    raise ValueError("shapes (3,) and (4,) not aligned")
ValueError: shapes (3,) and (4,) not aligned
"""


def test_a_traceback_keeps_the_code_s_own_frames_and_the_innermost_foreign_one():
    shown = distilled("noise\n" * 1000 + TRACEBACK)
    assert "experiment.py" in shown and "deep.py" in shown and "core.py" not in shown
    assert "^" not in shown
    assert shown.endswith("ValueError: shapes (3,) and (4,) not aligned")
    assert "999 times more" in distilled("noise\n" * 1000)


def test_of_tests_the_failures_and_the_summary_are_kept():
    output = (
        "....F\n"
        + "x\n" * 50
        + "E   assert 1 == 2\nFAILED tests/test_a.py::test_b - assert\n1 failed, 4 passed in 0.1s\n"
    )
    shown = distilled(output)
    assert shown.splitlines() == [
        "E   assert 1 == 2",
        "FAILED tests/test_a.py::test_b - assert",
        "1 failed, 4 passed in 0.1s",
    ]


def test_private_output_is_named_and_not_shown():
    said = names_only(TRACEBACK.replace("shapes", "patient 17: shapes"))
    assert "patient" not in said and "ValueError" in said and "experiment.py:10" in said


@given(st.binary(max_size=20_000))
def test_any_output_is_bounded_and_cannot_steer_a_terminal(output):
    shown = distilled(output)
    assert len(shown) <= MOST
    assert not any(ord(c) < 32 and c not in "\n\t" for c in shown)


def test_the_end_of_a_long_output_is_what_is_kept():
    shown = distilled("".join(f"line {n} {'x' * 400}\n" for n in range(1000)))
    assert len(shown) <= MOST and "line 999" in shown and "line 900" not in shown
