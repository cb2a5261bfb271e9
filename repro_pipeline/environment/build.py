"""Builds an environment from its lock alone, once per lock and interpreter, and keeps it read-only.

An environment lives at `<cache>/<key>/venv`, and at `/env` inside a sandbox. It is built beside that
place, under a name of each builder's own, and renamed when complete, so one that stands there is
whole. Builders of one environment wait for each other on a lock file, which they alone hold: what a
builder starts is ended with it, however it ends.

Files are copies of those in uv's cache beside it: a hard link would let a change in one environment
reach the cache and all others. Read-only is what keeps the same user from changing them by mistake;
against hostile code the sandbox mounts them read-only. No code of a package runs while it is built.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from repro_pipeline.environment.fingerprint import (
    fingerprint,
    installed_packages,
    site_packages,
)
from repro_pipeline.environment.interpreter import Interpreter, find_interpreter
from repro_pipeline.environment.model import BuiltEnvironment, EnvironmentLock, Fingerprint
from repro_pipeline.environment.uv_command import run_uv, yanked_in
from repro_pipeline.errors import BuildError
from repro_pipeline.frozen import Frozen, Sha256, digest
from repro_pipeline.sandbox.policy import RESERVED, Mount
from repro_pipeline.tied import tied

ENV = Path("/env")
"""Where a sandboxed run sees its environment."""

_MARKER = "environment.json"
_COMPILING = 1800.0  # seconds after which an environment goes on without the rest of its bytecode
_COMPILE = """
import compileall, os, re, sys
part, parts, *folders = sys.argv[1:]
files = [os.path.join(at, name) for top in folders for at, _, names in os.walk(top) for name in names]
for path in sorted(files)[int(part)::int(parts)]:
    compileall.compile_file(path, quiet=2, rx=re.compile("/tests?/"))
"""


class _Marker(Frozen):
    """What a complete environment was when it was built."""

    interpreter: Interpreter | None
    """None where only the packages' files lie here."""
    packages: dict[str, str]
    listing: Sha256
    yanked: dict[str, str] = {}
    """Packages that their authors had withdrawn when they were installed, with the reasons."""


def build(
    lock_text: str,
    *,
    lock: EnvironmentLock,
    cache: Path,
    variables: Mapping[str, str] | None = None,
) -> BuiltEnvironment:
    """The environment of a lock, from the cache where it stands there unchanged.

    Only wheels with the lock's hashes are installed. An environment whose files or packages are no
    longer what was built is built anew, with a note. `variables` are those that runs get, for the
    fingerprint. Raises BuildError.
    """
    interpreter = find_interpreter(lock.python, cache=cache)
    key = digest([lock.sha256, interpreter.model_dump(mode="json")])
    folder = cache.absolute() / key
    notes = _standing(folder, lock_text, lock, interpreter, interpreter.version)
    return BuiltEnvironment(
        lock=lock,
        path=key,
        fingerprint=fingerprint(folder / "venv" / "bin" / "python", variables or {}),
        yanked=_marker(folder).yanked,
        notes=notes,
    )


def build_outside(
    lock_text: str, seen: Fingerprint, *, lock: EnvironmentLock, cache: Path
) -> BuiltEnvironment:
    """The environment of a lock whose Python is not this host's: its packages' files, to be read.

    `seen` is its fingerprint where it runs. Raises BuildError, also where other packages are there
    than the lock's.
    """
    key = digest([lock.sha256, seen.python])
    folder = cache.absolute() / key
    notes = _standing(folder, lock_text, lock, None, seen.python)
    differing = sorted(dict(seen.packages.items() ^ _marker(folder).packages.items()))
    if differing:
        raise BuildError(
            f"the image holds other packages than the lock's ({', '.join(differing)})."
        )
    return BuiltEnvironment(
        lock=lock, path=key, fingerprint=seen, yanked=_marker(folder).yanked, notes=notes
    )


def environment_mounts(built: BuiltEnvironment, cache: Path) -> tuple[Mount, ...]:
    """What a sandbox must show read-only: the environment at `/env`, its base Python at its place.

    A base Python in a folder of the system needs no mount. Raises BuildError where the environment
    is not in the cache, or where its Python lies below a folder that the sandbox makes itself.
    """
    folder = cache.absolute() / built.path
    environment = Mount(source=folder / "venv", target=ENV)
    interpreter = _marker(folder).interpreter
    if interpreter is None:
        raise BuildError("the environment is in an image alone.", where=str(folder))
    prefix = interpreter.prefix
    if prefix.is_relative_to("/usr"):
        return (environment,)
    if any(prefix.is_relative_to(place) for place in RESERVED):
        raise BuildError(
            "a sandbox cannot show this Python at its own place.",
            where=str(prefix),
            hint="Install Python elsewhere.",
        )
    return environment, Mount(source=prefix, target=prefix)


def host_python(built: BuiltEnvironment, cache: Path) -> Path:
    """The path of the environment's Python outside a sandbox."""
    return cache.absolute() / built.path / "venv" / "bin" / "python"


def remove_environment(path: Path) -> None:
    """Remove a read-only folder of the cache, where it exists."""
    if not path.exists():
        return
    for folder, _, _ in os.walk(path):
        Path(folder).chmod(0o755)
    shutil.rmtree(path)


def _standing(
    folder: Path,
    lock_text: str,
    lock: EnvironmentLock,
    interpreter: Interpreter | None,
    python: str,
) -> tuple[str, ...]:
    """Have an environment stand at `folder`; notes on what had to be done again."""
    if hashlib.sha256(lock_text.encode()).hexdigest() != lock.sha256:
        raise BuildError("the lock's text is not the one that was described.")
    with _exclusive(folder.with_name(f"{folder.name}.lock")):
        changed = _what_changed(folder)
        if changed is not None:
            _build(folder, lock_text, interpreter, python)
    return (f"built anew: {changed}",) if changed else ()


def _build(folder: Path, lock_text: str, interpreter: Interpreter | None, python: str) -> None:
    """Build for an interpreter; without one, lay out the packages for that version of Python."""
    cache = folder.parent
    for left in folder.parent.glob(f"{folder.name}.*.partial"):
        with contextlib.suppress(OSError):  # one that its builder's last process is just leaving
            remove_environment(left)
    partial = folder.with_name(f"{folder.name}.{uuid.uuid4().hex[:12]}.partial")
    partial.mkdir(parents=True)
    venv, lock_file = partial / "venv", partial / "requirements.lock"
    lock_file.write_text(lock_text, encoding="utf-8")
    if interpreter is not None:
        base = ["--relocatable", "--python", str(interpreter.executable)]
        run_uv(["venv", "--quiet", *base, str(venv)], cache=cache)
        yanked = _install(lock_file, ["--python", str(venv / "bin" / "python")], cache)
        _compile(venv)
    else:
        packages = venv / "lib" / "python3" / "site-packages"
        packages.mkdir(parents=True)
        where = ["--target", str(packages), "--python-version", python, "--python", sys.executable]
        yanked = _install(lock_file, where, cache)
    _make_read_only(venv)
    marker = _Marker(
        interpreter=interpreter,
        packages=installed_packages(site_packages(venv / "bin" / "python")),
        listing=_listing(venv),
        yanked=yanked,
    )
    (partial / _MARKER).write_text(marker.model_dump_json(indent=1), encoding="utf-8")
    remove_environment(folder)
    partial.rename(folder)


def _install(lock_file: Path, where: list[str], cache: Path) -> dict[str, str]:
    """From the cache alone where it suffices: with hashes, a cached wheel is the fetched one.

    What is known of withdrawn packages is as old as the cache then.
    """
    command = ["pip", "sync", "--require-hashes", "--no-build", "--strict"]
    command += ["--allow-empty-requirements", "--link-mode", "copy", *where, str(lock_file)]
    said: list[str] = []
    try:
        run_uv([*command, "--offline"], cache=cache, told=said.append)
    except BuildError:
        run_uv(command, cache=cache, told=said.append)
    return yanked_in(said[-1])


def _compile(venv: Path) -> None:
    """Write bytecode now, since no run can: an import of a large package takes half the time.

    Packages' tests are left out, and files that do not compile stay as they are. One process for each
    processor: those that compileall starts by itself would outlive this one.
    """
    python = venv / "bin" / "python"
    command = [python, "-I", "-S", "-c", _COMPILE]
    parts, until = os.cpu_count() or 1, time.monotonic() + _COMPILING
    running: list[subprocess.Popen] = []
    try:
        for part in range(parts):
            words = tied([*command, str(part), str(parts), *site_packages(python)])
            silent = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
            running.append(subprocess.Popen(words, env={}, **silent))
        with contextlib.suppress(subprocess.TimeoutExpired):
            for process in running:
                process.wait(max(0.0, until - time.monotonic()))
    finally:
        for process in running:
            process.kill()
            process.wait()


def _what_changed(folder: Path) -> str | None:
    """None where an environment stands unchanged; else what changed, empty where none stands."""
    if not folder.exists():
        return ""
    try:
        marker = _marker(folder)
    except BuildError as error:
        return str(error)
    venv = folder / "venv"
    seen = installed_packages(site_packages(venv / "bin" / "python"))
    differing = sorted(dict(seen.items() ^ marker.packages.items()))
    if differing:
        return f"its packages were changed ({', '.join(differing)})."
    return None if _listing(venv) == marker.listing else "its files were changed."


def _marker(folder: Path) -> _Marker:
    try:
        return _Marker.model_validate_json((folder / _MARKER).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BuildError(
            "the environment is not in the cache.", where=str(folder), hint="Build it again."
        ) from None
    except (OSError, ValidationError):
        raise BuildError("the environment's marker cannot be read.", where=str(folder)) from None


def _listing(venv: Path) -> str:
    """Digest of path, size and time of change of every file: a mended time hides a change."""
    lines = []
    for folder, folders, files in os.walk(venv):
        folders.sort()
        for name in sorted(files):
            path = Path(folder) / name
            state = path.lstat()
            lines.append(f"{path.relative_to(venv)}\0{state.st_size}\0{state.st_mtime_ns}")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _make_read_only(venv: Path) -> None:
    for folder, _, files in os.walk(venv, topdown=False):
        for name in files:
            path = Path(folder) / name
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & 0o555)
        Path(folder).chmod(0o555)


@contextlib.contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    """Hold a file lock; the kernel drops it when this process ends, since no child inherits it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
