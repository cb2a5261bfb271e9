"""Why a command failed, from its exit code and the end of its log: a code, a sentence, a signature."""

from __future__ import annotations

import hashlib
import re
import signal

from repro_pipeline.status import Reason, Status

SENTENCE = 300
"""Characters of a program's own words that a sentence quotes at most."""
NEAR = 25
"""Lines that may follow a traceback that ended the program; an earlier one was survived."""

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")
_FRAME = re.compile(r'^\s*File "([^"]+)", line \d+(?:, in (.+))?$')
_RAISED = re.compile(r"^(?:[A-Za-z_]\w*\.)*([A-Z]\w*)(?:: (.*))?$")
_MODULE = re.compile(r"No module named '?([\w.]+)")

_NORMAL = (
    (re.compile(r"0x[0-9a-fA-F]+"), "ADDRESS"),
    (re.compile(r"(?:[A-Za-z]:)?(?:[/\\][^\s/\\'\":,;()]+)+[/\\]?"), "PATH"),
    (re.compile(r"\b[0-9a-f]{12,}\b"), "HASH"),
    (re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"), "N"),
)

_OUT_OF_MEMORY = re.compile(
    r"MemoryError|std::bad_alloc|out of memory|OutOfMemory|Cannot allocate memory|Unable to allocate",
    re.IGNORECASE,
)
_NO_NETWORK = re.compile(
    r"Name or service not known|Temporary failure in name resolution|Network is unreachable"
    r"|Failed to establish a new connection|Could not resolve host|getaddrinfo failed"
)
_DISK_FULL = re.compile(r"No space left on device|Disk quota exceeded|\[Errno (?:27|28|122)\]")


def signature(log_tail: str) -> str | None:
    """A hash that the same failure has again, whatever its paths, lines, addresses and numbers.

    Of the traceback that ended the program: exception, message, and the files and functions that
    it passed; without one, of the last line. None for an empty log.
    """
    lines = _lines(log_tail)
    if not lines:
        return None
    found = _last_traceback(lines)
    parts = [_normal(lines[-1])]
    if found:
        name, message, frames = found
        parts = [name, _normal(message), *frames]
    return hashlib.sha256("\n".join(parts).encode(errors="replace")).hexdigest()[:16]


def reason_from(exit_code: int | None, status: Status, log_tail: str, said: str = "") -> Reason:
    """Why a run ended otherwise than well. `said` is what its runner says of the end.

    Codes: timed_out, cancelled, out_of_memory, limit_reached, disk_full, network_refused,
    import_error, exception:<Type>, killed_by_signal, command_not_found, nonzero_exit.
    """
    if status in {Status.TIMED_OUT, Status.CANCELLED}:
        default = "It ran out of time." if status is Status.TIMED_OUT else "It was cancelled."
        return Reason(code=str(status), sentence=said or default)
    if status is Status.BUDGET_EXHAUSTED:
        code = "out_of_memory" if "memory" in said.lower() else "limit_reached"
        return Reason(code=code, sentence=said or "It reached a limit of the sandbox.")
    code, sentence = _failure(exit_code, _lines(log_tail), said)
    return Reason(code=code, sentence=sentence, signature=signature(log_tail))


def _failure(exit_code: int | None, lines: list[str], said: str) -> tuple[str, str]:
    found = _last_traceback(lines)
    end = "\n".join(lines[-NEAR:])
    words = f"{found[0]}: {found[1]}".rstrip(": ") if found else (lines[-1] if lines else "")
    quoted = _shortened(words)
    if _OUT_OF_MEMORY.search(end):
        return "out_of_memory", f"It ran out of memory: {quoted}"
    if _DISK_FULL.search(end):
        return "disk_full", f"It found no room to write: {quoted}"
    if _NO_NETWORK.search(end):
        return "network_refused", f"It tried to reach the network, which it has not: {quoted}"
    if found and found[0] in {"ModuleNotFoundError", "ImportError"}:
        module = _MODULE.search(found[1])
        missing = f"The module '{module[1]}' is not installed." if module else quoted
        return "import_error", missing
    if found:
        return f"exception:{found[0]}", quoted
    if exit_code is not None and (number := exit_code - 128 if exit_code > 128 else -exit_code) > 0:
        return "killed_by_signal", f"It was ended by {_signal_name(number)}."
    if exit_code in {126, 127}:
        return "command_not_found", f"The command cannot be started: {quoted or said}"
    ending = (
        f"It ended with exit code {exit_code}" if exit_code is not None else said or "It failed"
    )
    return "nonzero_exit", f"{ending.rstrip('.')}: {quoted}" if quoted else f"{ending.rstrip('.')}."


def _lines(log_tail: str) -> list[str]:
    lines = (_ESCAPES.sub("", line).rstrip() for line in log_tail.splitlines())
    return [line for line in lines if line]


def _last_traceback(lines: list[str]) -> tuple[str, str, list[str]] | None:
    """Exception, message, and `file:function` of each frame of the last traceback near the end."""
    for end in range(len(lines) - 1, max(-1, len(lines) - 1 - NEAR), -1):
        raised = _RAISED.match(lines[end])
        if not raised:
            continue
        frames = []
        start = end - 1
        while start >= 0 and (lines[start].startswith((" ", "\t"))):
            if frame := _FRAME.match(lines[start]):
                name = frame[1].replace("\\", "/").rpartition("/")[2]
                frames.append(f"{name}:{frame[2] or ''}")
            start -= 1
        if frames:
            return raised[1], raised[2] or "", frames[::-1]
    return None


def _normal(text: str) -> str:
    for pattern, word in _NORMAL:
        text = pattern.sub(word, text)
    return text


def _shortened(text: str) -> str:
    return text if len(text) <= SENTENCE else text[: SENTENCE - 1] + "…"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
