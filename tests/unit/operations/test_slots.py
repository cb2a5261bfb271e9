"""Places for runs that all processes of a host share."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from repro_pipeline.config import Slots
from resources.slots import HostSlots, make_slots

HOLDER = """
import sys, time
from repro_pipeline.config import Slots
from resources.slots import HostSlots
with HostSlots(Slots(folder=sys.argv[1], count=int(sys.argv[2]))).hold() as gpus:
    print("held", flush=True)
    time.sleep(600)
"""


def slots(folder: Path, **more) -> HostSlots:
    return HostSlots(Slots(folder=str(folder), **more))


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen]:
    """Another process that holds the only place."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path), "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def test_a_place_that_another_process_holds_is_waited_for_until_given_up(tmp_path, holder):
    looks = iter(range(3))
    with slots(tmp_path, count=1).hold(lambda: next(looks, None) is None) as place:
        assert place is None


def test_a_killed_holder_frees_its_place(tmp_path, holder):
    holder.send_signal(signal.SIGKILL)
    with slots(tmp_path, count=1).hold() as place:
        assert place == ()


def test_never_more_than_the_count_at_once_and_all_come_through(tmp_path):
    now, most, done, lock = 0, 0, 0, threading.Lock()

    def work() -> None:
        nonlocal now, most, done
        with slots(tmp_path, count=2).hold():
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(0.05)
            with lock:
                now -= 1
                done += 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, done) == (2, 6)


def test_each_run_has_a_graphics_card_of_its_own(tmp_path):
    shared = slots(tmp_path, gpus=[0, 3], count=8)
    with shared.hold() as first, shared.hold() as second:
        assert {first, second} == {(0,), (3,)}
        with shared.hold(lambda: True) as third:
            assert third is None


def test_without_slots_nothing_is_waited_for():
    free = make_slots(None)
    with free.hold() as first, free.hold() as second, free.hold(lambda: True) as third:
        assert (first, second, third) == ((), (), None)
