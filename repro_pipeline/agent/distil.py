"""Of a program's output what matters to whoever has to mend it: bounded, without noise."""

from __future__ import annotations

import re

from repro_pipeline.sandbox.outputs import printable

MOST = 3000
"""Characters of a distilled output."""
_FRAME = re.compile(r'^\s*File "([^"]+)", line \d+')
_FOREIGN = ("site-packages", "dist-packages", "/lib/python", "<frozen", "_pytest", "/usr/lib")
_MARKS = re.compile(r"^\s*[~^]+\s*$")
"""What Python draws below a line of code."""
_ENDS = re.compile(r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit)\b")
_SUMMARY = re.compile(
    r"^(?:FAILED|ERROR) |^E  |^=+ .*(?:passed|failed|error)|^\d+ (?:passed|failed)"
)


def distilled(output: bytes | str, *, most: int = MOST) -> str:
    """The end of an output: its last traceback without foreign frames, else its last lines.

    Repeated lines are said once. Control characters are spelled out.
    """
    text = printable(output if isinstance(output, bytes) else output.encode(errors="replace"))
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    lines = _once([line for line in lines if not _MARKS.match(line)])
    start = max((n for n, line in enumerate(lines) if line.startswith("Traceback ")), default=None)
    tests = [line for line in lines if _SUMMARY.match(line)]
    if tests:
        chosen = tests[-40:]
    elif start is not None:
        chosen = [*lines[max(0, start - 3) : start], *_own_frames(lines[start:])]
    else:
        chosen = lines[-40:]
    kept = "\n".join(line[:500] for line in chosen)
    return kept if len(kept) <= most else "[…]\n" + kept[len(kept) - most + 4 :]


def names_only(output: bytes | str) -> str:
    """Of an output that may hold private data: only which exception it was, and where."""
    text = output.decode(errors="replace") if isinstance(output, bytes) else output
    frames = re.findall(r'File "[^"]*?([^/"\\]+)", line (\d+)', text)[-5:]
    raised = [line.split(":")[0] for line in text.splitlines() if _ENDS.match(line)][-1:]
    parts = [f"{file}:{line}" for file, line in frames] + raised
    return "[output withheld] " + (" ".join(parts) or "nothing was raised")


def _own_frames(lines: list[str]) -> list[str]:
    """A traceback without the frames of installed packages, the innermost of which is kept."""
    kept: list[str] = []
    dropped: list[str] = []
    foreign = False
    for line in lines:
        if frame := _FRAME.match(line):
            foreign = any(part in frame[1] for part in _FOREIGN)
            if foreign:
                dropped = []
        elif not line.startswith((" ", "\t")):
            if foreign and dropped:
                kept += ["  […]", *dropped]
            foreign, dropped = False, []
        (dropped if foreign else kept).append(line)
    return kept


def _once(lines: list[str]) -> list[str]:
    kept: list[str] = []
    repeats = 0
    for line in [*lines, None]:
        if kept and line == kept[-1]:
            repeats += 1
            continue
        if repeats:
            kept.append(f"[the line before, {repeats} times more]")
            repeats = 0
        if line is not None:
            kept.append(line)
    return kept
