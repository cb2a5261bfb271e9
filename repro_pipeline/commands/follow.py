"""What a paper's runs print, while they run: `repro log ID --follow`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from repro_pipeline.errors import UserError

if TYPE_CHECKING:
    from repro_pipeline.project import Project

_LOOK = 0.5  # seconds between two looks
_QUIET = 6  # looks without anybody at work: between two stages nobody is for a moment
_AT_ONCE = 1 << 16  # bytes of a log that are read at a look


def follow(project: Project, paper: str) -> None:
    """Print a line of each run now and then, until nobody is at work on the paper."""
    from repro_pipeline.experiment.runs import NAME
    from repro_pipeline.experiment.tail import Tail

    tails: dict[Path, Tail] = {}
    seen: dict[Path, int] = {}
    quiet = 0
    while quiet < _QUIET:
        quiet = 0 if _at_work(project, paper) else quiet + 1
        for log in sorted((project.state / "scratch" / paper).glob("run-*/log")):
            try:
                if log not in tails:
                    tails[log] = Tail((log.parent / NAME).read_text(), _print)
                seen[log] = _pass_on(log, seen.get(log, 0), tails[log])
            except OSError:  # the run ended meanwhile
                continue
        time.sleep(_LOOK)


def _pass_on(log: Path, start: int, tail) -> int:
    """Give the tail what the log gained, its end alone where that is much; where it ends."""
    with log.open("rb") as stream:
        end = stream.seek(0, 2)
        stream.seek(max(start, end - _AT_ONCE))
        if piece := stream.read(_AT_ONCE):
            tail(piece)
    return end


def _at_work(project: Project, paper: str) -> bool:
    try:
        with project.locked(paper, wait=False):
            return False
    except UserError:
        return True


def _print(line: str) -> None:
    print(line, flush=True)
