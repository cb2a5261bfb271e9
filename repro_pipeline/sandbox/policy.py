"""What a run may do and use, and how far a host enforces it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from repro_pipeline.frozen import Frozen
from repro_pipeline.quantities import Bytes, Seconds
from repro_pipeline.status import Status


class Enforcement(StrEnum):
    """How a limit holds: by the kernel, by a supervisor that polls and kills, or not at all."""

    HARD = "hard"
    WATCHED = "watched"
    UNAVAILABLE = "unavailable"


class Mount(Frozen):
    """A read-only input: a path of the host, seen at a path of the sandbox."""

    source: Path
    target: Path


class Limits(Frozen):
    """The most that one run may use, over its whole process tree unless said otherwise."""

    wall_clock: Seconds = 3600.0
    memory: Bytes = 4 << 30
    processes: int = 256
    open_files: int = 1024
    """Per process."""
    output: Bytes = 2 << 30
    """Bytes in the writable folders together."""
    cpus: float | None = None


class SandboxPolicy(Frozen):
    """All that a run is given. There is no network and no host environment."""

    mounts: tuple[Mount, ...] = ()
    limits: Limits = Limits()
    environment: dict[str, str] = {}


class RunOutcome(Frozen):
    """How a sandboxed command ended."""

    status: Status
    """ok, failed, timed_out, cancelled, or budget_exhausted where a limit ended it."""
    exit_code: int | None
    reason: str
    seconds: float
    cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None
    enforcement: dict[str, Enforcement] = {}
    """Per limit (wall_clock, memory, processes, open_files, output, network, filesystem)."""
