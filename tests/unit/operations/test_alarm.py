"""The limit on a stage's time."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from repro_pipeline.alarm import OutOfTime, at_most


def test_a_block_that_takes_too_long_is_left():
    with pytest.raises(OutOfTime), at_most(0.05):
        try:
            time.sleep(60)
        except Exception:
            pytest.fail("taken for a failure")


def test_a_block_in_time_leaves_no_alarm_behind():
    before = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)[0]
    with at_most(1000):
        pass
    after = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)[0]
    assert after[0] is before[0]
    assert after[1] <= before[1]


def test_an_alarm_that_was_set_still_rings():
    with pytest.raises(OutOfTime), at_most(0.2):
        with at_most(100):
            pass
        time.sleep(60)


def test_elsewhere_than_in_the_main_thread_nothing_is_limited():
    ended = threading.Event()

    def work() -> None:
        with at_most(0.01):
            time.sleep(0.1)
        ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended.is_set()
