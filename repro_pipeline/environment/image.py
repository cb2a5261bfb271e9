"""An environment as a container image: a Dockerfile from the lock alone, and what runs in the image.

The environment lies at `/env`, made with the base image's own Python, from wheels with the lock's
hashes; no code of a package runs while it is built. A first stage installs, so that neither pip nor
the settings by which it reached its index are in the image.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from packaging.utils import canonicalize_name

from repro_pipeline.environment.build import (
    ENV,
    build_outside,
    environment_mounts,
    host_python,
)
from repro_pipeline.environment.fingerprint import HOST_SCRIPT, blas_of, cpu
from repro_pipeline.environment.model import BuiltEnvironment, EnvironmentLock, Fingerprint
from repro_pipeline.environment.requirement_lines import parse_entries
from repro_pipeline.errors import BuildError
from repro_pipeline.frozen import digest
from repro_pipeline.ports import Images
from repro_pipeline.sandbox.policy import Mount

LOCK_NAME, CERTIFICATES = "requirements.lock", "certificates.pem"
SETTINGS = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST")
"""Build arguments by which pip reaches its index."""

STAGE_LABEL = "repro_pipeline.stage"
"""On the first stage's image, which is of no use afterwards."""

PYTHON = ENV / "bin" / "python"
"""The environment's interpreter in an image."""

_IMAGE = re.compile(r"[A-Za-z0-9][\w.:/@-]*", re.ASCII)
_BREAK = re.compile(r"[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]|\r(?!\n)")
_VERSION = re.compile(r"\d+(\.\w+)*", re.ASCII)

_SCRIPT = (
    HOST_SCRIPT
    + """
import glob, io
numpy, packages = None, {}
for folder in sorted(glob.glob("/env/lib*/python3*/site-packages")):
    for name in glob.glob(folder + "/*.dist-info/METADATA"):
        lines = io.open(name, encoding="utf-8", errors="replace").read().split("\\n\\n")[0]
        told = dict(line.split(": ", 1) for line in lines.splitlines() if ": " in line)
        packages[told["Name"]] = told["Version"]
    for name in glob.glob(folder + "/numpy/__config__.py"):
        numpy = io.open(name, encoding="utf-8", errors="replace").read()
print(json.dumps({"packages": packages, "numpy": numpy}))
"""
)


def dockerfile(lock_text: str, *, base: str, python: str, certificates: bool = False) -> str:
    """The Dockerfile of an environment; beside it lies the lock as `requirements.lock`.

    `base` is the image that it is built upon, `python` the version that it must have (3.11, 3.11.7).
    With `certificates`, a file `certificates.pem` lies there too, and pip trusts these alone.
    Raises BuildError for a base or a version that would be read as instructions, and for a lock with
    lines that only pip sees.
    """
    if not _IMAGE.fullmatch(base):
        raise BuildError(f"{base!r} is no name of an image.", hint="Correct `docker: base`.")
    if not _VERSION.fullmatch(python):
        raise BuildError(f"{python!r} is no version of Python.", hint="Write it as 3.11.")
    if found := _BREAK.search(lock_text):
        raise BuildError(
            f"holds {found[0]!r}, which begins a line for pip and none for others.",
            where=f"{LOCK_NAME}:{lock_text.count(chr(10), 0, found.start()) + 1}",
            hint="Take it out.",
        )
    named = {canonicalize_name(e.requirement.name) for e in parse_entries(lock_text, LOCK_NAME)}
    unlocked = [name for name in ("pip", "setuptools", "wheel") if name not in named]
    trust = f"--cert /build/{CERTIFICATES} " if certificates else ""
    parts = len(python.split("."))
    check = (
        f'import sys; have = ".".join(map(str, sys.version_info[:{parts}])); '
        f'sys.exit(0 if have == "{python}" else "the base image has Python " + have + ", not {python}")'
    )
    steps = [f"python3 -c '{check}'", f"python3 -m venv {'' if named else '--without-pip '}{ENV}"]
    if named:
        steps.append(
            f"{PYTHON} -m pip install --no-cache-dir --no-deps --require-hashes "
            f"--only-binary :all: {trust}-r /build/{LOCK_NAME}"
        )
    if named and unlocked:
        steps.append(f"{PYTHON} -m pip uninstall --yes --quiet {' '.join(unlocked)}")
    # Whoever the base runs as, its root makes the environment.
    lines = [f"FROM {base} AS build", "USER root", f"LABEL {STAGE_LABEL}=build"]
    if named:
        copied = f"{LOCK_NAME} {CERTIFICATES}" if certificates else LOCK_NAME
        lines += [*(f"ARG {name}" for name in SETTINGS), f"COPY {copied} /build/"]
    lines += ["RUN " + " && \\\n    ".join(steps), "", f"FROM {base}"]
    lines += [
        f"COPY --from=build {ENV} {ENV}",
        f"ENV PATH={ENV}/bin:/usr/local/bin:/usr/bin:/bin",
    ]
    return "\n".join(lines) + "\n"


def build_image(
    lock_text: str,
    *,
    lock: EnvironmentLock,
    cache: Path,
    images: Images,
    variables: Mapping[str, str],
) -> BuiltEnvironment:
    """The environment of a lock in an image, with the fingerprint of what runs there.

    The host needs no Python of that version: it reads the packages' files. Raises BuildError where
    the image cannot be built, or holds other packages than the lock's.
    """
    image = images.build(lock_text, python=lock.python)
    answer = images.ask(image, [str(PYTHON), "-I", "-S", "-c", _SCRIPT])
    built = build_outside(lock_text, _fingerprint(answer, variables), lock=lock, cache=cache)
    return built.model_copy(update={"image": image})


class Place(NamedTuple):
    """Where a run finds its environment."""

    image: str | None
    python: Path
    """Its interpreter: a path in the image, or of the host for the runner to translate."""
    mounts: tuple[Mount, ...]


def place_of(built: BuiltEnvironment, cache: Path) -> Place:
    """In its image, or by mounts from the cache. Raises BuildError where it is in neither."""
    if built.image is not None:
        return Place(built.image.id, PYTHON, ())
    return Place(None, host_python(built, cache), environment_mounts(built, cache))


def environment_key(built: BuiltEnvironment) -> str:
    """What tells a run's environment from others: lock and Python, and the base image if any."""
    parts = {"lock": built.lock.sha256, "python": built.lock.python}
    return digest({**parts, "base": built.image.base_id} if built.image else parts)


def _fingerprint(answer: str, variables: Mapping[str, str]) -> Fingerprint:
    host, environment = map(json.loads, answer.splitlines()[:2])
    name, flags = cpu(host.pop("machine"))
    packages = {canonicalize_name(key): value for key, value in environment["packages"].items()}
    return Fingerprint(
        **host,
        cpu=name,
        cpu_flags=flags,
        packages=dict(sorted(packages.items())),
        variables=dict(sorted(variables.items())),
        blas=blas_of(environment["numpy"]) if environment["numpy"] else None,
    )
