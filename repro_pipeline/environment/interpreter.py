"""Which Python of this host an environment is built on: what the code asks for, never a download."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from repro_pipeline.environment.fingerprint import ask
from repro_pipeline.environment.uv_command import run_uv
from repro_pipeline.errors import BuildError
from repro_pipeline.frozen import Frozen

OWN = f"{sys.version_info.major}.{sys.version_info.minor}"


class Interpreter(Frozen):
    """A Python of this host."""

    executable: Path
    version: str
    prefix: Path
    """The folder that holds it with its standard library."""


def find_interpreter(wanted: str | None, *, cache: Path) -> Interpreter:
    """The Python that fits `wanted`: a version (3.8, 3.8.18) or a specifier (>=3.8,<3.12).

    By default the pipeline's own minor version. Of several, those that an unprivileged user can
    reach come first (a sandbox runs as one), then the pipeline's own minor version, then the
    newest. Raises BuildError that lists what there is.
    """
    fits = wanted_versions((wanted or "").strip() or OWN)
    installed = _installed(cache)
    fitting = [(version, path) for version, path in installed if fits.contains(version)]
    if not fitting:
        there = ", ".join(sorted({str(version) for version, _ in installed})) or "none"
        raise BuildError(
            f"no Python {wanted or OWN} on this host.",
            hint=f"Installed: {there}. Install one, or name another version (`code: python`).",
        )
    version, path = max(fitting, key=_preference)
    prefix = ask(path, "import sys; print(sys.base_prefix)").strip()
    return Interpreter(executable=path, version=str(version), prefix=Path(prefix))


def wanted_versions(wanted: str) -> SpecifierSet:
    """The versions that a wanted version or specifier admits. Raises BuildError."""
    text = wanted.strip()
    try:
        if text[:1].isdigit() and "," not in text and "*" not in text:
            exact = len(Version(text).release) >= 3
            return SpecifierSet(f"=={text}" if exact else f"=={text}.*", prereleases=True)
        return SpecifierSet(text, prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        raise BuildError(
            f"'{wanted}' is no Python version.", hint="Write it as 3.11 or as >=3.8,<3.12."
        ) from None


def releases(minor: int) -> list[str]:
    """Versions of Python 3.<minor>, those to come among them."""
    return [f"3.{minor}.{micro}" for micro in range(30)]


def python_for(wanted: str | None, *, cache: Path, minors: Sequence[int] = ()) -> str:
    """The version that a lock is made for: `wanted` where it is one, else of what is found.

    Where `minors` are given (8 is Python 3.8), one of them that fits, whatever this host has: our own,
    else the newest.
    """
    if wanted and wanted.strip()[:1].isdigit() and "," not in wanted and "*" not in wanted:
        wanted_versions(wanted)
        return wanted.strip()
    if minors:
        fits = wanted_versions((wanted or "").strip() or OWN)
        fitting = [minor for minor in minors if any(map(fits.contains, releases(minor)))]
        if not fitting:
            raise BuildError(f"no Python is known that fits '{wanted}'.")
        return OWN if int(OWN[2:]) in fitting else f"3.{max(fitting)}"
    return ".".join(find_interpreter(wanted, cache=cache).version.split(".")[:2])


def _preference(candidate: tuple[Version, Path]) -> tuple[bool, bool, Version]:
    version, path = candidate
    return _reachable(path), f"{version.major}.{version.minor}" == OWN, version


def _installed(cache: Path) -> list[tuple[Version, Path]]:
    """Interpreters on PATH, of pyenv, and the pipeline's own; without shims and repeats."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    folders = [str(Path(sys.base_prefix) / "bin")]
    folders += [part for part in os.environ.get("PATH", "").split(":") if part]
    folders += [str(folder) for folder in sorted(pyenv.glob("versions/*/bin"))]
    path = ":".join(folder for folder in folders if not folder.endswith("/shims"))
    listed = run_uv(
        ["python", "list", "--only-installed", "--output-format", "json"], cache=cache, path=path
    )
    found: dict[Path, Version] = {}
    for item in json.loads(listed):
        executable = Path(item["path"])
        if item["implementation"] == "cpython" and not _in_venv(executable):
            found.setdefault(executable.resolve(), Version(item["version"]))
    return [(version, path) for path, version in found.items()]


def _in_venv(executable: Path) -> bool:
    return (executable.parent.parent / "pyvenv.cfg").exists()


def _reachable(path: Path) -> bool:
    """Whether every user may enter all folders above a file."""
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in path.parents)
