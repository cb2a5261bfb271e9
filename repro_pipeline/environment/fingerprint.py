"""What of a host and an environment can change a number, read without running any package's code."""

from __future__ import annotations

import ast
import hashlib
import json
import subprocess
from collections.abc import Iterable, Mapping
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.utils import canonicalize_name

from repro_pipeline.environment.model import Fingerprint
from repro_pipeline.errors import BuildError
from repro_pipeline.pysource import parsed
from repro_pipeline.sandbox.gpu import driver_version, installed_gpus
from repro_pipeline.tied import tied

HOST_SCRIPT = """
import json, platform
print(json.dumps({
    "python": platform.python_version(),
    "implementation": platform.python_implementation(),
    "platform": platform.platform(),
    "libc": " ".join(platform.libc_ver()).strip() or "unknown",
    "machine": platform.processor() or platform.machine(),
}))
"""


def fingerprint(python_executable: Path, variables: Mapping[str, str]) -> Fingerprint:
    """The fingerprint of the environment of an interpreter, with the variables that runs get.

    The interpreter is started in isolation (`-I -S`), so that no start-up file of a package runs;
    packages and BLAS are read from the files of the environment. Raises BuildError when the
    interpreter does not start.
    """
    host = json.loads(ask(python_executable, HOST_SCRIPT))
    name, flags = cpu(host.pop("machine"))
    folders = site_packages(python_executable)
    return Fingerprint(
        **host,
        cpu=name,
        cpu_flags=flags,
        packages=installed_packages(folders),
        variables=dict(sorted(variables.items())),
        blas=_blas(folders),
        gpus=tuple(gpu.model for gpu in installed_gpus()),
        gpu_driver=driver_version(),
    )


def ask(python_executable: Path, code: str) -> str:
    """What a script prints in an isolated interpreter (`-I -S`). Raises BuildError."""
    try:
        return subprocess.run(
            tied([python_executable, "-I", "-S", "-c", code]),
            capture_output=True,
            text=True,
            check=True,
            env={},
        ).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", None) or str(error)
        raise BuildError(
            f"the Python does not start: {said.strip()}", where=str(python_executable)
        ) from None


def site_packages(python_executable: Path) -> list[Path]:
    """The package folders of the environment that an interpreter belongs to."""
    prefix = python_executable.parent.parent
    return sorted(prefix.glob("lib*/python3*/site-packages"))


def installed_packages(folders: list[Path]) -> dict[str, str]:
    """Version per installed package (names normalised, sorted), read from its metadata.

    Raises BuildError as `named_packages` does.
    """
    return {name: one.version for name, one in sorted(named_packages(folders).items())}


def named_packages(folders: Iterable[Path]) -> dict[str, Distribution]:
    """The installed packages by their normalised names.

    Raises BuildError for one whose metadata name no package or no version, or for two of one name in a
    folder: a package that brings such metadata could hide what it is, or what another is.
    """
    found: dict[str, Distribution] = {}
    for folder in dict.fromkeys(folder.resolve() for folder in folders):
        here: dict[str, Distribution] = {}
        for one in distributions(path=[str(folder)]):
            try:
                # The backport of the library takes its place once anything imports it: None, no
                # empty message, where metadata are empty, and an error for a key that is not there.
                told = one.metadata or {}
                name, version = told.get("Name"), told.get("Version")
            except UnicodeDecodeError:
                name = version = None
            if not name or not version:
                raise BuildError("a package has no name or no version.", where=str(folder))
            if canonicalize_name(name) in here:
                raise BuildError(f"the package '{name}' is installed twice.", where=str(folder))
            here[canonicalize_name(name)] = one
        found = here | found
    return found


def cpu(otherwise: str) -> tuple[str, str]:
    """The CPU's name, and the digest of its sorted feature flags."""
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    pairs = [line.partition(":")[::2] for line in lines if ":" in line]
    values = {key.strip(): value.strip() for key, value in reversed(pairs)}
    flags = sorted((values.get("flags") or values.get("Features") or "").split())
    name = values.get("model name") or otherwise
    return name, hashlib.sha256(" ".join(flags).encode()).hexdigest()


def _blas(folders: list[Path]) -> str | None:
    """Name and version of numpy's BLAS, from the text of its configuration; None without numpy."""
    for folder in folders:
        path = folder / "numpy" / "__config__.py"
        if path.is_file():
            return blas_of(path.read_text(encoding="utf-8", errors="replace"))
    return None


def blas_of(text: str) -> str:
    """Name and version of the BLAS in the text of `numpy/__config__.py`.

    From numpy >= 1.26 a nested table, from older ones the assignment `blas_opt_info = {...}`.
    """
    try:
        tree = parsed(text)
    except SyntaxError:
        return "unknown"
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            table = _constant_items(node).get("blas")
            if isinstance(table, ast.Dict):
                items = _constant_items(table)
                words = [items.get(key) for key in ("name", "version")]
                return " ".join(str(one.value) for one in words if isinstance(one, ast.Constant))
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            libraries = _constant_items(node.value).get("libraries")
            if "blas_opt_info" in names and libraries is not None:
                return " ".join(ast.literal_eval(libraries))
    return "unknown"


def _constant_items(node: ast.Dict) -> dict[str, ast.expr]:
    pairs = zip(node.keys, node.values, strict=True)
    return {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}
