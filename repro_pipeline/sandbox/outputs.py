"""What hostile code left behind, made fit to be read: files, and text for a terminal."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from repro_pipeline.sandbox.folders import DEEPEST, walk

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Refused:
    """An entry of an output folder that is not to be collected, and why."""

    path: Path
    why: str


def safe_outputs(out: Path, limit_bytes: int) -> tuple[Path, ...]:
    """The regular files in a folder that may be collected, sorted by name.

    No links, fifos, sockets or devices, no files with a second name, no names that are not
    printable UTF-8; their sizes, holes counted, are no more than `limit_bytes` together.
    `refused_outputs` lists the rest.
    """
    return _sorted_out(out, limit_bytes)[0]


def refused_outputs(out: Path, limit_bytes: int) -> tuple[Refused, ...]:
    """What `safe_outputs` leaves out, each with the reason."""
    return _sorted_out(out, limit_bytes)[1]


def printable(text: bytes) -> str:
    """Output of a run as text that cannot steer a terminal: control characters are spelled out.

    Line ends and tabs stay, a carriage return before a line end is dropped.
    """
    plain = text.decode("utf-8", errors="replace").replace("\r\n", "\n")
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), plain)


def _sorted_out(out: Path, limit_bytes: int) -> tuple[tuple[Path, ...], tuple[Refused, ...]]:
    files, refused, room = [], [], limit_bytes
    for path, info in sorted(walk(out), key=lambda entry: str(entry[0])):
        why = _fault(str(path.relative_to(out)), info, room)
        if why:
            refused.append(Refused(path, why))
        elif stat.S_ISREG(info.st_mode):
            files.append(path)
            room -= info.st_size
    return tuple(files), tuple(refused)


def _fault(name: str, info: os.stat_result, room: int) -> str:
    """Why an entry is refused; empty for a sound file or folder."""
    if not name.isprintable():  # surrogates, which stand for bytes that are no UTF-8, are not
        return "its name is not printable UTF-8"
    if stat.S_ISDIR(info.st_mode):
        return "it is nested too deep" if name.count("/") >= DEEPEST - 1 else ""
    if not stat.S_ISREG(info.st_mode):
        return "it is no regular file"
    if info.st_nlink > 1:
        return "it has a second name"
    return "there is no room for it" if info.st_size > room else ""
