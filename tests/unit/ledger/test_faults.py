"""Killed writers, full disks, torn files, stopped servers: nothing acknowledged is ever lost."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from children import fork, kill, wait
from ledger_examples import warning

from repro_pipeline.errors import LedgerError
from repro_pipeline.ledger.chain import verify_chain
from resources.ledger_sql import SqlLedger

ACTOR = "code:0.1.0"
KILLS = int(os.environ.get("REPRO_LEDGER_KILLS", "200"))


def append_for_ever(url: str, chain: str, life: str, pipe: int) -> None:
    """Append numbered events, and say each after it was acknowledged."""
    ledger = SqlLedger(url)
    number = 0
    while True:
        ledger.append(chain, warning(f"{life}:{number}"), actor=ACTOR)
        os.write(pipe, f"{life}:{number}\n".encode())
        number += 1


def test_kill_9_at_random_moments_loses_nothing_acknowledged(url, request):
    """Two writers on one chain and one on another live and die again and again."""
    seed = int(os.environ.get("REPRO_LEDGER_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
    print(f"kills: {KILLS}, seed: {seed} (set REPRO_LEDGER_SEED to repeat the draws)")
    chance = random.Random(seed)
    SqlLedger(url).close()
    read, write = os.pipe()
    said: list[str] = []
    places = ("shared", "shared", "own")
    living: dict[int, int] = {}
    for life in range(KILLS):
        for slot, chain in enumerate(places):
            if slot not in living:
                name = f"{chain}-{life}-{slot}"
                living[slot] = fork(lambda c=chain, n=name: append_for_ever(url, c, n, write))
        time.sleep(chance.expovariate(1 / 0.02))
        kill(living.pop(chance.randrange(len(places))))
        said += _drain(read)
    for pid in living.values():
        kill(pid)
    said += _drain(read)
    os.close(read)
    os.close(write)

    ledger = SqlLedger(url)
    kept: list[str] = []
    for chain in ledger.chains():
        events = list(ledger.stored(chain))
        assert verify_chain(chain, events) == ()
        texts = [event.payload["sentence"] for event in events]
        assert len(texts) == len(set(texts))
        kept += texts
        for life in {text.rpartition(":")[0] for text in texts}:
            own = [text for text in texts if text.rpartition(":")[0] == life]
            assert own == [f"{life}:{number}" for number in range(len(own))]
    assert len(said) > KILLS, "the writers were killed before they wrote anything"
    assert set(said) <= set(kept)
    # At most the one event that each writer was at when it died was kept and not said.
    assert len(kept) - len(said) <= KILLS + len(places)
    ledger.close()


def _drain(pipe: int) -> list[str]:
    """All lines in the pipe. A line is one write below PIPE_BUF, so none is torn."""
    os.set_blocking(pipe, False)
    text = b""
    try:
        while piece := os.read(pipe, 1 << 16):
            text += piece
    except BlockingIOError:
        pass
    return text.decode().splitlines()


def filled(folder: Path, count: int) -> SqlLedger:
    ledger = SqlLedger(f"sqlite:///{folder / 'ledger.sqlite'}")
    for number in range(count):
        ledger.append("forests", warning(f"{number} {'x' * 500}"), actor=ACTOR)
    return ledger


@pytest.mark.parametrize("damage", ["truncated", "zeroed", "flipped"])
def test_a_torn_end_of_the_log_costs_only_the_events_in_it(tmp_path, damage):
    """As after a loss of power: the file as it stands on disk, its log torn at any place."""
    (tmp_path / "live").mkdir()
    ledger = filled(tmp_path / "live", 60)
    whole = list(ledger.stored("forests"))
    wal = (tmp_path / "live" / "ledger.sqlite-wal").read_bytes()
    assert len(wal) > 100_000
    chance = random.Random(5)
    lengths = set()
    for number in range(25):
        copy = tmp_path / f"copy{number}"
        copy.mkdir()
        shutil.copy(tmp_path / "live" / "ledger.sqlite", copy)
        at = chance.randrange(len(wal) // 4, len(wal))
        torn = {
            "truncated": wal[:at],
            "zeroed": wal[:at] + bytes(len(wal) - at),
            "flipped": wal[:at] + bytes([wal[at] ^ 1]) + wal[at + 1 :],
        }[damage]
        (copy / "ledger.sqlite-wal").write_bytes(torn)
        survivor = SqlLedger(f"sqlite:///{copy / 'ledger.sqlite'}")
        events = list(survivor.stored("forests"))
        assert events == whole[: len(events)]
        lengths.add(len(events))
        survivor.append("forests", warning("afterwards"), actor=ACTOR)
        assert verify_chain("forests", survivor.stored("forests")) == ()
        survivor.close()
    assert len(lengths) > 5
    assert max(lengths) < len(whole) or damage == "flipped"
    ledger.close()


def test_a_damaged_database_file_is_said_or_found(tmp_path):
    filled(tmp_path, 60).close()
    path = tmp_path / "ledger.sqlite"
    content = path.read_bytes()
    whole = list(SqlLedger(f"sqlite:///{path}").stored("forests"))
    anchor = SqlLedger(f"sqlite:///{path}").head("forests")
    chance = random.Random(6)
    noticed = 0
    for _ in range(40):
        at = chance.randrange(100, len(content))
        path.write_bytes(content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :])
        try:
            ledger = SqlLedger(f"sqlite:///{path}")
            events = list(ledger.stored("forests"))
            breaks = verify_chain("forests", events, [anchor])
            assert breaks or events == whole  # the byte lay in free space
            noticed += bool(breaks)
            ledger.close()
        except LedgerError:
            noticed += 1
    assert noticed > 20


def _until_refused(url: str, chain: str, most: int, pipe: int) -> None:
    ledger = SqlLedger(url)
    for number in range(most):
        try:
            ledger.append(chain, warning(f"{number} {'x' * 3000}"), actor=ACTOR)
        except LedgerError as error:
            os.write(pipe, f"{error}\n".encode())
            return
        os.write(pipe, f"{number}\n".encode())


def _check_after_full_disk(url: str, pipe: int) -> None:
    *numbers, sentence = _drain(pipe)
    assert "disk" in sentence
    assert len(numbers) > 5
    ledger = SqlLedger(url)
    kept = [int(event.payload["sentence"].split()[0]) for event in ledger.events("forests")]
    assert kept == list(range(len(kept)))
    assert len(kept) in {len(numbers), len(numbers) + 1}
    ledger.append("forests", warning("with room again"), actor=ACTOR)
    assert verify_chain("forests", ledger.stored("forests")) == ()
    ledger.close()


def test_a_file_that_may_not_grow_is_said_and_loses_nothing(tmp_path):
    url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    SqlLedger(url).close()
    read, write = os.pipe()

    def work() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        _until_refused(url, "forests", 1000, write)

    assert wait(fork(work)) == 0
    _check_after_full_disk(url, read)


def test_a_full_disk_is_said_and_loses_nothing(tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(small)]
    if (
        not shutil.which("mount")
        or subprocess.run(mount, capture_output=True, check=False).returncode
    ):
        pytest.skip("no small disk: mounting needs root")
    try:
        url = f"sqlite:///{small / 'ledger.sqlite'}"
        SqlLedger(url).close()
        read, write = os.pipe()
        assert wait(fork(lambda: _until_refused(url, "forests", 1000, write))) == 0
        *numbers, sentence = _drain(read)
        assert "disk" in sentence
        ledger = SqlLedger(url)
        kept = [int(event.payload["sentence"].split()[0]) for event in ledger.events("forests")]
        assert kept == list(range(len(kept)))
        assert len(kept) in {len(numbers), len(numbers) + 1}
        assert verify_chain("forests", ledger.stored("forests")) == ()
        ledger.close()
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.parametrize("folder_too", [False, True])
def test_a_read_only_ledger_is_said_when_written_to(folder_too):
    """In a process without the rights of root, and in a folder that it can reach."""
    place = Path(tempfile.mkdtemp())
    filled(place, 3).close()
    url = f"sqlite:///{place / 'ledger.sqlite'}"
    (place / "ledger.sqlite").chmod(0o444)
    place.chmod(0o555 if folder_too else 0o777)

    def work() -> None:
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        if folder_too:  # SQLite needs room beside the file even to read
            with pytest.raises(LedgerError, match=r"read-only"):
                SqlLedger(url)
            return
        ledger = SqlLedger(url)
        assert len(list(ledger.events("forests"))) == 3
        with pytest.raises(LedgerError, match=r"read-only"):
            ledger.append("forests", warning("more"), actor=ACTOR)

    try:
        assert wait(fork(work)) == 0
    finally:
        place.chmod(0o755)
        shutil.rmtree(place)


def test_postgresql_stopped_and_started_in_the_middle(postgres):
    url = postgres.place()
    ledger = SqlLedger(url)
    for number in range(3):
        ledger.append("forests", warning(str(number)), actor=ACTOR)
    postgres.stop()
    with pytest.raises(LedgerError) as caught:
        ledger.append("forests", warning("3"), actor=ACTOR)
    assert caught.value.hint
    postgres.start()
    for number in range(2, 5):
        ledger.append("forests", warning(str(number)), actor=ACTOR)
    postgres.stop()
    postgres.start()
    ledger.append("forests", warning("5"), actor=ACTOR)  # it was away, and nobody noticed
    assert [e.payload["sentence"] for e in ledger.events("forests")] == list("012345")
    assert verify_chain("forests", ledger.stored("forests")) == ()
    ledger.close()


def test_sqlite_waits_for_a_writer_that_holds_it(tmp_path):
    ledger = filled(tmp_path, 1)
    script = (
        "import sqlite3, sys, time\n"
        "connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "connection.execute('BEGIN IMMEDIATE')\n"
        "print('held', flush=True)\n"
        "time.sleep(1)\n"
        "connection.execute('COMMIT')\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "ledger.sqlite")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        assert len(list(ledger.events("forests"))) == 1
        assert ledger.append("forests", warning("waited"), actor=ACTOR).seq == 2
    ledger.close()
