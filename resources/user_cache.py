"""Answers from outside, kept per user: none is asked for twice, and no server is hurried."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/repro-pipeline`, by default in `~/.cache`; shared by the user's projects."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "repro-pipeline"


class Cache:
    """Files by a key, each with a note. One whose digest is no longer its own counts as absent."""

    def __init__(self, folder: Path, *, seconds: float = float("inf")) -> None:
        self._folder, self._seconds = folder, seconds

    def get(self, key: str) -> tuple[Path, str] | None:
        """The file and its note; None if it is absent, older than the cache's seconds, or altered."""
        path, about = self._paths(key)
        try:
            known = json.loads(about.read_text(encoding="utf-8"))
            if time.time() - known["at"] > self._seconds or sha256_of(path) != known["sha256"]:
                return None
            return path, known["note"]
        except (OSError, ValueError, KeyError):
            return None

    def put(self, key: str, file: Path, note: str = "") -> None:
        """Keep a copy of a file, in place of the key's last."""
        path, about = self._paths(key)
        self._folder.mkdir(parents=True, exist_ok=True)
        known = {"sha256": sha256_of(file), "note": note, "at": time.time()}
        with tempfile.TemporaryDirectory(dir=self._folder) as fresh:
            shutil.copyfile(file, Path(fresh, "file"))
            Path(fresh, "about").write_text(json.dumps(known), encoding="utf-8")
            Path(fresh, "file").replace(path)
            Path(fresh, "about").replace(about)

    def _paths(self, key: str) -> tuple[Path, Path]:
        name = hashlib.sha256(key.encode()).hexdigest()
        return self._folder / name, self._folder / f"{name}.json"


def sha256_of(path: Path) -> str:
    """The digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def one_at_a_time(
    lock: Path, interval: float, sleep: Callable[[float], None] = time.sleep
) -> Iterator[None]:
    """Hold a lock of all the user's processes; begin at least `interval` seconds after the last."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        try:
            last = float(file.read())
        except ValueError:
            last = 0.0
        wait = min(last + interval - time.time(), interval)  # a clock set back costs one interval
        if wait > 0:
            sleep(wait)
        file.truncate(0)
        file.write(repr(time.time()))
        file.flush()
        yield


@contextmanager
def one_of(
    locks: Sequence[Path], *, given_up: Callable[[], bool] = lambda: False, pause: float = 0.2
) -> Iterator[Path | None]:
    """Hold one of some locks, whoever else wants them; wait for one to be free.

    A lock is free once its holder let go or died. None where it was given up before one was free.
    """
    for lock in locks:
        lock.parent.mkdir(parents=True, exist_ok=True)
    while not given_up():
        for lock in locks:
            with lock.open("w") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                yield lock
                return
        time.sleep(pause)
    yield None
