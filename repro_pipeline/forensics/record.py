"""What the hook wrote down in a run: read back, without trusting the files."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from repro_pipeline.frozen import Frozen
from repro_pipeline.sandbox.policy import Mount

HOOK = Mount(source=Path(__file__).parent / "hook", target=Path("/opt/record"))
"""Mounted in every run, on its PYTHONPATH."""
FOLDER = ".record"
"""In the working directory of a run."""
_BYTES = 8 << 20
_PROCESSES = 64


class Entry(Frozen):
    """One thing that the code of a run did."""

    event: str
    about: str
    where: str = ""
    """The line of the run's own code, `file:line`."""


class Record(Frozen):
    """What a run did, as far as its Python processes wrote it down."""

    entries: tuple[Entry, ...] = ()
    processes: int = 0
    ended: int = 0
    """Processes that wrote their end."""
    slept: float = 0.0
    """Seconds that the code itself slept."""

    def of(self, *events: str) -> Iterator[Entry]:
        """The entries of these kinds."""
        return (entry for entry in self.entries if entry.event in events)


def prepare(workdir: Path, mode: str) -> None:
    """Make the folder of the record; every run's has a mode, so that none can be told by it."""
    folder = workdir / FOLDER
    folder.mkdir(exist_ok=True)
    folder.chmod(0o777)
    (folder / "mode").write_text(mode, encoding="utf-8")
    (folder / "mode").chmod(0o666)


def variables(hook: str, folder: str) -> Mapping[str, str]:
    """The variables of every run by which the hook is found, from its and the record's places."""
    return {"PYTHONPATH": hook, "RUN_RECORD": folder}


def collect(workdir: Path) -> bytes:
    """The record as lines; empty where nothing was written. Links and oversize files are left out."""
    folder = workdir / FOLDER
    if folder.is_symlink() or not folder.is_dir():
        return b""
    parts = []
    names = sorted((one.name for one in folder.iterdir() if one.name.isdigit()), key=int)
    for name in names[:_PROCESSES]:
        path = folder / name
        try:
            file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        with os.fdopen(file, "rb") as stream:
            if stat.S_ISREG(os.fstat(file).st_mode):
                parts.append(b'["process", null, null]\n' + stream.read(_BYTES))
    return b"\n".join(parts)


def parse(content: bytes) -> Record:
    """The record from its lines; what is no line of the hook is left out."""
    entries, processes, ended, slept = [], 0, 0, 0.0
    for line in content.splitlines():
        event, about, where = _line(line)
        if event == "process":
            processes += 1
        elif event == "end" and isinstance(about, dict):
            ended += 1
            slept += _number(about.get("slept"))
        elif event and isinstance(about, str):
            entries.append(Entry(event=event, about=about, where=str(where or "")))
    return Record(entries=tuple(entries), processes=processes, ended=ended, slept=slept)


def _line(line: bytes) -> tuple[str, Any, Any]:
    try:
        event, about, where = json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return "", None, None
    return (event if isinstance(event, str) else ""), about, where


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e9 else 0.0
