"""Run a capsule's code in the sandbox, on a copy without its results: what is there after, the run wrote."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from repro_pipeline.corebench.answers import LOG
from repro_pipeline.frozen import Frozen, Sha256
from repro_pipeline.ports import ArtifactStore, Runner
from repro_pipeline.sandbox.outputs import printable, safe_outputs
from repro_pipeline.sandbox.policy import Limits, Mount, SandboxPolicy, default_environment
from repro_pipeline.status import Status

LARGEST = 4 << 20
"""Bytes of a file in which an answer is looked for."""
_KEPT = 1 << 30
_LOG_SHOWN = 2 << 20


class CapsuleRun(Frozen):
    """How a capsule's run ended, and what it left."""

    status: Status
    reason: str
    seconds: float
    files: dict[str, Sha256]
    """Digest of each file in results/."""


def run_capsule(
    capsule: Path,
    command: Sequence[str],
    runner: Runner,
    *,
    seconds: float,
    python: Path,
    mounts: Sequence[Mount],
    store: ArtifactStore,
    keep: Path | None = None,
) -> tuple[CapsuleRun, dict[str, str]]:
    """The run, and its output as texts by name (`stdout`: what it printed).

    Its data are found at `../data` from code/, and at /data. There is no network. `keep` is a new
    folder for the results. Raises SandboxUnavailable where there is no sandbox.
    """
    with tempfile.TemporaryDirectory(prefix="repro-capsule-") as place:
        work, out, log = (Path(place) / name for name in ("work", "out", "log"))
        shutil.copytree(capsule, work, symlinks=True, ignore=_top(capsule, "results"))
        results = work / "results"
        results.mkdir()
        out.mkdir()
        data = capsule / "data"
        seen = [Mount(source=data, target=Path("/data"))] if data.is_dir() else []
        policy = SandboxPolicy(mounts=(*mounts, *seen), limits=Limits(wall_clock=seconds))
        programs = Path(runner.inside(python, policy, workdir=work, out=out)).parent
        path = f"{programs}:{default_environment('', '')['PATH']}"
        policy = policy.model_copy(update={"environment": {"PATH": path}})
        ended = runner.run(list(command), policy, workdir=work, out=out, log=log)
        texts, digests = collect(results, store)
        if log.is_file():
            with log.open("rb") as stream:
                texts[LOG] = printable(stream.read(_LOG_SHOWN))
        if keep is not None:
            _keep(results, log, keep)
    run = CapsuleRun(status=ended.status, reason=ended.reason, seconds=ended.seconds, files=digests)
    return run, texts


def collect(results: Path, store: ArtifactStore) -> tuple[dict[str, str], dict[str, str]]:
    """The texts of a folder by name, and each file's digest; links and what is no file are left out."""
    texts, digests = {}, {}
    for path in _left_in(results):
        name = path.relative_to(results).as_posix()
        digests[name] = store.put_file(path)
        content = path.read_bytes() if path.stat().st_size <= LARGEST else b"\0"
        if b"\0" not in content:
            texts[name] = printable(content)
    return texts, digests


def _top(folder: Path, name: str):
    return lambda at, names: [name] if Path(at) == folder and name in names else []


def _left_in(results: Path) -> tuple[Path, ...]:
    """The files of a folder; none where a run put a link in its place, which names files of this host."""
    return () if results.is_symlink() else safe_outputs(results, _KEPT)


def _keep(results: Path, log: Path, keep: Path) -> None:
    for path in _left_in(results):
        goal = keep / "results" / path.relative_to(results)
        goal.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, goal)
    if log.is_file():
        keep.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(log, keep / "log.txt")
