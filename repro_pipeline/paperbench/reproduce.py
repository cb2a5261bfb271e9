"""Run a submission's `reproduce.sh` in the sandbox, and tell the files that it wrote from all others.

A result counts only where the script's own run wrote it. Stamps can be set to anything, so the files
are compared by content: what was there before, with the same bytes, was not written by the run, even
if the script touched it. (A script that only copies a finished result under another name still
counts as its writer: the judge sees the script.)
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from repro_pipeline.errors import UserError
from repro_pipeline.ports import Runner
from repro_pipeline.sandbox.outputs import printable
from repro_pipeline.sandbox.policy import Limits, Mount, SandboxPolicy, default_environment
from repro_pipeline.status import Status

SCRIPT = "reproduce.sh"
LOG = "reproduce.log"
LARGEST = 1 << 20
"""Bytes of a file that is shown to a judge."""
MOST_FILES = 2000

_DEVELOPMENT = {".py", ".r", ".jl", ".c", ".h", ".cc", ".cpp", ".cu", ".java", ".rs", ".go", ".sh"}
_SETTINGS = {".cfg", ".ini", ".json", ".toml", ".yaml", ".yml", ".txt", ".md", ".rst"}
_TABLES = {
    ".csv",
    ".tsv",
    ".json",
    ".jsonl",
    ".txt",
    ".md",
    ".html",
    ".tex",
    ".log",
    ".yaml",
    ".yml",
}
_HIDDEN = {".git", ".venv", "venv", "node_modules", "__pycache__", ".eggs"}


@dataclass(frozen=True)
class Reproduced:
    """What running `reproduce.sh` came to."""

    status: Status
    reason: str
    seconds: float
    log: str
    """What it printed, its middle left out where that is long."""
    written: Mapping[str, str] = field(default_factory=dict)
    """Text files that it wrote or changed, by path: results."""
    files: int = 0
    """Files that it wrote or changed, of whatever kind."""


def has_script(submission: Path) -> bool:
    """Whether there is a script to run."""
    return (submission / SCRIPT).is_file()


def texts(submission: Path) -> dict[str, str]:
    """The submission's code and settings, by path; nothing of it counts as a result."""
    return _texts(submission, _files(submission), _DEVELOPMENT | _SETTINGS)


def reproduce(
    submission: Path,
    runner: Runner,
    *,
    seconds: float,
    python: Path | None = None,
    mounts: Sequence[Mount] = (),
) -> Reproduced:
    """Run the script on a private copy; nothing is written to the submission itself.

    `python` is the interpreter that the script finds first, `mounts` are what it lies in. There is no
    network. Raises UserError where there is no script, SandboxUnavailable where there is no sandbox.
    """
    if not has_script(submission):
        raise UserError(f"there is no {SCRIPT}.", where=str(submission))
    with tempfile.TemporaryDirectory(prefix="repro-paperbench-") as place:
        work, out, log = (Path(place) / name for name in ("work", "out", "log"))
        shutil.copytree(submission, work, symlinks=True)
        out.mkdir()
        before = _digests(work)
        policy = SandboxPolicy(mounts=tuple(mounts), limits=Limits(wall_clock=seconds))
        if python is not None:
            programs = Path(runner.inside(python, policy, workdir=work, out=out)).parent
            path = f"{programs}:{default_environment('', '')['PATH']}"
            policy = policy.model_copy(update={"environment": {"PATH": path}})
        ended = runner.run(["bash", SCRIPT], policy, workdir=work, out=out, log=log)
        after = _digests(work)
        changed = [name for name, found in after.items() if before.get(name) != found]
        return Reproduced(
            status=ended.status,
            reason=ended.reason,
            seconds=ended.seconds,
            log=_log(log),
            written=_texts(work, changed, _TABLES),
            files=len(changed),
        )


def _files(folder: Path) -> list[str]:
    """Regular files below a folder, links and tool folders left out, in order of names."""
    found = []
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        if not _HIDDEN & set(inner.parts) and path.is_file() and not path.is_symlink():
            found.append(inner.as_posix())
    return found


def _digests(folder: Path) -> dict[str, str]:
    found = {}
    for name in _files(folder):
        with (folder / name).open("rb") as stream:
            found[name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found


def _texts(folder: Path, names: list[str], endings: set[str]) -> dict[str, str]:
    found = {}
    for name in names[:MOST_FILES]:
        path = folder / name
        if path.suffix.lower() in endings and path.stat().st_size <= LARGEST:
            found[name] = printable(path.read_bytes())
    return found


def _log(path: Path) -> str:
    text = printable(path.read_bytes()) if path.exists() else ""
    half = LARGEST // 8
    return text if len(text) <= 2 * half else f"{text[:half]}\n[…]\n{text[-half:]}"
