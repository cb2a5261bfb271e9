"""What a run may do and use, and how far a host enforces it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from repro_pipeline.errors import SandboxUnavailable, UserError
from repro_pipeline.frozen import Frozen
from repro_pipeline.quantities import Bytes, Seconds
from repro_pipeline.status import Status

WORK = Path("/work")
"""Where a sandboxed run sees its working copy of the code."""

OUT = Path("/out")
"""Where a sandboxed run leaves its results."""

RESERVED = (WORK, OUT, *map(Path, ("/proc", "/dev", "/usr", "/lib", "/lib64", "/bin", "/sbin")))
"""Folders of the sandbox in which no mount can lie."""


class Enforcement(StrEnum):
    """How a limit holds: by the kernel, by a supervisor that polls and kills, or not at all."""

    HARD = "hard"
    WATCHED = "watched"
    UNAVAILABLE = "unavailable"

    def meets(self, wanted: Enforcement) -> bool:
        """Whether this is at least as strong as `wanted`."""
        order = [Enforcement.UNAVAILABLE, Enforcement.WATCHED, Enforcement.HARD]
        return order.index(self) >= order.index(wanted)


LIMIT_NAMES = (
    "wall_clock",
    "memory",
    "processes",
    "open_files",
    "output",
    "scratch",
    "cpus",
    "network",
    "filesystem",
    "system_calls",
)
"""What a runner says its enforcement of."""


def _mount_target(target: Path) -> Path:
    if not target.is_absolute() or ".." in target.parts or target == Path("/"):
        raise ValueError(f"'{target}' is no absolute path below /")
    for folder in RESERVED:
        if target.is_relative_to(folder):
            raise ValueError(f"'{target}' lies in {folder}, which the sandbox makes itself")
    return target


class Mount(Frozen):
    """A read-only input: a path of the host, seen at a path of the sandbox."""

    source: Path
    target: Annotated[Path, AfterValidator(_mount_target)]


class Limits(Frozen):
    """The most that one run may use, over its whole process tree unless said otherwise."""

    wall_clock: Seconds = 3600.0
    memory: Bytes = 4 << 30
    processes: Annotated[int, Field(gt=0)] = 256
    """Processes and threads."""
    open_files: Annotated[int, Field(ge=32)] = 1024
    """Per process."""
    output: Bytes = 2 << 30
    """Bytes in the writable folders and the log together; also the largest single file."""
    scratch: Bytes = 1 << 30
    """Bytes in /tmp, and again in /dev/shm. Both are held in memory and counted there."""
    cpus: Annotated[float, Field(gt=0)] | None = None
    """Processors' worth of time; None for no limit."""


class SandboxPolicy(Frozen):
    """All that a run is given. There is no network and no host environment.

    A download step reaches an egress proxy outside by a socket among its mounts; nothing else does.
    """

    mounts: tuple[Mount, ...] = ()
    limits: Limits = Limits()
    environment: dict[str, str] = {}
    """Variables beside (and over) those of `default_environment`."""
    gpus: tuple[Annotated[int, Field(ge=0)], ...] = ()
    """The NVIDIA cards of the host that the run may use, by number; by default none is seen."""
    image: str | None = None
    """The container image that is the run's system; None for the runner's own."""
    minimum: dict[str, Enforcement] = {}
    """Per limit the least enforcement that will do; a runner that holds less refuses."""


class RunOutcome(Frozen):
    """How a sandboxed command ended."""

    status: Status
    """ok, failed, timed_out, cancelled, or budget_exhausted where a limit ended it."""
    exit_code: int | None
    """128 + n where signal n ended the command; None where the supervisor did."""
    reason: str
    seconds: float
    cpu_seconds: float | None = None
    """User and system time of the whole tree."""
    peak_memory_bytes: int | None = None
    """Of the whole tree, without the page cache; sampled, so a short peak can be missed."""
    output_bytes: int | None = None
    """In the writable folders and the log, at the end."""
    enforcement: dict[str, Enforcement] = {}
    """What held in this run, per name of LIMIT_NAMES."""


THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
"""Thread counts of numerical libraries: one each, so that sums are made in one order."""


DETERMINISM = {
    "PYTHONHASHSEED": "0",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",  # cuBLAS sums in one order (its documentation, 2.1.4)
    "TF_DETERMINISTIC_OPS": "1",
}
"""What makes two runs of one configuration alike, without the code's help."""


def default_environment(home: str, tmp: str) -> dict[str, str]:
    """The variables that every run has, whatever the host's environment."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": tmp,
        "XDG_CACHE_HOME": f"{home}/.cache",
        "MPLCONFIGDIR": f"{home}/.cache/matplotlib",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        **DETERMINISM,
        "CUDA_VISIBLE_DEVICES": "",  # no card, unless the policy names one
        **dict.fromkeys(THREADS, "1"),
    }


def seen_at(path: Path, policy: SandboxPolicy, *, workdir: Path, out: Path) -> str:
    """Where a sandboxed run sees a path of the host.

    The nearest of the working folder, the output folder and the mounts decides. Raises UserError
    for a path that the run does not see.
    """
    path = path.absolute()
    views = [(workdir, WORK), (out, OUT), *((m.source, m.target) for m in policy.mounts)]
    holding = [(src.absolute(), dst) for src, dst in views if path.is_relative_to(src.absolute())]
    if holding:
        source, target = max(holding, key=lambda view: len(view[0].parts))
        return str(target / path.relative_to(source))
    if path.is_relative_to("/usr") or path.is_relative_to("/bin"):
        return str(path)
    raise UserError(
        f"the run does not see '{path}'.", hint="Add a mount for it, or put it into the code."
    )


def refuse_image(policy: SandboxPolicy, runner: str) -> None:
    """Raise SandboxUnavailable where a policy names an image, for a runner that knows none."""
    if policy.image is not None:
        raise SandboxUnavailable(
            f"the policy wants the image '{policy.image}', and {runner} runs no images.",
            hint="Choose the runner docker.",
        )


def refuse_below(minimum: Mapping[str, Enforcement], held: Mapping[str, Enforcement]) -> None:
    """Raise SandboxUnavailable where `held` is weaker than `minimum` in any limit."""
    for name, wanted in minimum.items():
        has = held.get(name, Enforcement.UNAVAILABLE)
        if not has.meets(wanted):
            raise SandboxUnavailable(
                f"the policy wants {name} {wanted}, and here it is {has}.",
                hint="Choose another runner or host, or lower the policy's minimum.",
            )
