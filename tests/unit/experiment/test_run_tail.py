"""The live tail of runs: bounded and harmless, whatever a run prints."""

from __future__ import annotations

import random
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.experiment.tail import Tail


class Time:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def tail(**bounds) -> tuple[Tail, list[str], Time]:
    said: list[str] = []
    clock = Time()
    return Tail("twonorm, seed 1", said.append, clock=clock, **bounds), said, clock


def test_lines_are_said_whole_and_by_name():
    one, said, _ = tail(pause=0)
    for piece in (b"epoch ", b"1\nepo", b"ch 2\n", b"\n\n", b"no end yet"):
        one(piece)
    assert said == ["twonorm, seed 1 | epoch 1", "twonorm, seed 1 | epoch 2"]


def test_a_line_a_second_and_the_latest():
    one, said, clock = tail()
    one(b"1\n2\n3\n")
    one(b"4\n5\n")
    clock.now = 1.0
    one(b"6\n")
    assert [text.partition("| ")[2] for text in said] == ["(2 lines) 3", "(2 lines) 6"]


def test_there_is_an_end():
    one, said, clock = tail(most=3)
    for number in range(100):
        clock.now += 2
        one(b"%d\n" % number)
    assert len(said) == 3 and said[-1].endswith("2, and no more of it here")


def test_a_bar_of_progress_is_its_latest_state():
    one, said, _ = tail()
    one(b"\r 10%|#   |\r 50%|##  |\r100%|####|\n")
    assert said == ["twonorm, seed 1 | (2 lines) 100%|####|"]


def test_escapes_and_noise_do_no_harm():
    one, said, clock = tail()
    for piece in (
        b"\x1b[2J\x1b]0;owned\x07red\x9b31m\n",
        b"a\tb" + random.Random(1).randbytes(10_000) + b"\n",
        b"\xff\xfe\n",
    ):
        clock.now += 2
        one(piece)
    assert len(said) == 3
    for text in said:
        assert len(text) < 300 and "Cc" not in {*map(unicodedata.category, text)}, text


@given(st.lists(st.binary(max_size=5000), max_size=20))
def test_whatever_comes_is_bounded(pieces: list[bytes]):
    one, said, clock = tail(pause=0, most=5)
    for piece in pieces:
        clock.now += 1
        one(piece)
    assert len(said) <= 5
    assert all(len(text) < 300 for text in said)
    assert "Cc" not in {unicodedata.category(character) for text in said for character in text}
    assert len(one._begun) <= 4096


def test_a_flood_is_not_kept():
    one, said, _ = tail()
    for _ in range(50):
        one(b"x" * (1 << 20))
    one(b"\n")
    assert len(said) == 1 and len(said[0]) < 300
