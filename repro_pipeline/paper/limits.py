"""Work on a file that nobody has vouched for, in a process of its own with bounded time and memory.

The process has limits of the kernel on its memory and CPU time and is ended by the clock. It is no
sandbox: it can read and write what its user can. The readers do not run what they read.
"""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro_pipeline.errors import PaperError


@dataclass(frozen=True)
class Limits:
    """Seconds by the clock, bytes of address space, bytes of result."""

    seconds: float = 300
    memory: int = 4 << 30
    result: int = 200 << 20


DEFAULT_LIMITS = Limits()


def run_limited(module: str, arguments: list[str], limits: Limits, *, what: str) -> Any:
    """The JSON that `python -m module ARGUMENTS RESULT` leaves in the file RESULT.

    The module reports a user's error as `{"error": {"what", "where", "hint"}}`, which is raised
    here as PaperError, as are a crash, a breach of a limit and a result that is no JSON. `what`
    names the file in messages.
    """
    with tempfile.TemporaryDirectory(prefix="repro-read-") as folder:
        result = Path(folder) / "result.json"
        bounds = [str(limits.memory), str(int(limits.seconds) + 5), str(limits.result)]
        command = [__name__, *bounds, module, *arguments, str(result)]
        code, message = _run(command, limits, Path(folder))
        if code is None:
            raise PaperError(
                f"was not read within {limits.seconds:.0f} seconds.",
                where=what,
                hint="If the file is sound, give the paper in another format.",
            )
        if code == 0 and result.is_file():
            return _loaded(result, limits, what)
    raise PaperError(_death(code, message, limits), where=what)


def serve(arguments: list[str], work) -> None:
    """The other side: writes what `work(*arguments)` returns, or its PaperError, as JSON.

    The last argument is the file to write to.
    """
    *given, result = arguments
    try:
        answer = work(*given)
    except PaperError as error:
        answer = {"error": {"what": error.what, "where": error.where, "hint": error.hint}}
    Path(result).write_text(json.dumps(answer, allow_nan=False), encoding="utf-8")


def _run(command: list[str], limits: Limits, folder: Path) -> tuple[int | None, str]:
    """Exit status (None: out of time) and the last line that the process wrote to its errors."""
    log = folder / "errors.txt"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            start_new_session=True,
        )
        try:
            code: int | None = process.wait(timeout=limits.seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    with log.open("rb") as errors:
        errors.seek(max(0, log.stat().st_size - 2000))
        lines = errors.read().decode(errors="replace").strip().splitlines()
    return code, lines[-1] if lines else ""


def _limit(memory: int, cpu_seconds: int, file_size: int) -> None:
    """Bounds on the present process, that a bomb meets before it harms the host."""
    import resource

    bounds = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_CPU: cpu_seconds,
        resource.RLIMIT_FSIZE: file_size,
        resource.RLIMIT_CORE: 0,
    }
    for kind, bound in bounds.items():
        _, hard = resource.getrlimit(kind)
        least = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (least, least))


def _loaded(result: Path, limits: Limits, what: str) -> Any:
    if result.stat().st_size >= limits.result:
        raise PaperError("gives a document too large to keep.", where=what)
    try:
        answer = json.loads(result.read_text(encoding="utf-8"))
    except ValueError:
        raise PaperError("its reader broke off.", where=what) from None
    if isinstance(answer, dict) and set(answer) == {"error"}:
        raise (
            PaperError(**answer["error"])
            if "what" in answer["error"]
            else PaperError("cannot be read.", where=what)
        )
    return answer


def _death(code: int | None, message: str, limits: Limits) -> str:
    if "MemoryError" in message or "bad_alloc" in message or code == -signal.SIGKILL:
        return f"needs more than {limits.memory >> 20} MiB to read."
    if code == -signal.SIGXCPU:
        return f"needs more than {limits.seconds:.0f} seconds of computing to read."
    if code is not None and code < 0:
        return f"its reader was ended by {signal.Signals(-code).name}."
    return f"its reader failed ({message[:300]})." if message else "its reader failed."


if __name__ == "__main__":
    _limit(*(int(bound) for bound in sys.argv[1:4]))
    sys.argv = sys.argv[4:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
