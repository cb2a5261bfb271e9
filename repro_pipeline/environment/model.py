"""The requirements, their lock, the built environment with its fingerprint, and the data manifest."""

from __future__ import annotations

from datetime import date
from typing import Literal

from repro_pipeline.environment.audit import AuditFinding
from repro_pipeline.frozen import Frozen, Sha256, Slug
from repro_pipeline.sandbox.image import ContainerImage

RequirementsKind = Literal[
    "given_lock", "requirements", "pyproject", "environment_yml", "setup", "imports", "none"
]


class Requirements(Frozen):
    """The packages that code says it needs, and where it says so."""

    kind: RequirementsKind
    file: str | None = None
    """Relative to the code; None where the code's imports were read, or nothing was found."""
    python: str | None = None
    """The wanted Python: a version (3.8, 3.8.18) or a specifier (>=3.8,<3.12)."""
    lines: tuple[str, ...] = ()
    """One requirement each; the whole file, line by line, for a given lock."""
    notes: tuple[str, ...] = ()
    """What was left out or guessed, a sentence each."""


class Fingerprint(Frozen):
    """What of the host and the environment can change a number."""

    python: str
    implementation: str
    platform: str
    libc: str
    cpu: str
    cpu_flags: Sha256
    packages: dict[str, str]
    """Version per installed package."""
    variables: dict[str, str]
    """The environment variables that runs are given."""
    blas: str | None = None
    gpus: tuple[str, ...] = ()
    """The graphics cards of the host, by model; a run is given those of its policy."""
    gpu_driver: str | None = None


class EnvironmentLock(Frozen):
    """All packages with versions and hashes."""

    sha256: Sha256
    """Digest of the lock file, and its address in the artifact store."""
    python: str
    """The Python version that it was made for, as 3.11 or 3.11.7."""
    packages: int
    hashed: bool
    """Whether every package carries a hash."""
    source: Literal["given", "resolved"]
    """Whether the lock came with the code, or was resolved from its requirements."""
    requirements: str
    """The file that the lock was made from."""
    kind: RequirementsKind = "requirements"
    python_named: bool = False
    """Whether the code or its user names a Python version; otherwise it was concluded, or is our own."""
    python_why: str = ""
    """What the Python version was chosen by."""
    as_of: date | None = None
    """Packages published later were left out of the resolution."""
    notes: tuple[str, ...] = ()
    """What was left out or guessed when the requirements were read."""


class BuiltEnvironment(Frozen):
    """An environment built from its lock alone."""

    lock: EnvironmentLock
    path: str
    """The folder, relative to the project's cache of environments."""
    fingerprint: Fingerprint
    yanked: dict[str, str] = {}
    """Packages that their authors had withdrawn when they were installed, with the reasons."""
    findings: tuple[AuditFinding, ...] = ()
    """What speaks against its packages, as far as data on this machine can tell."""
    image: ContainerImage | None = None
    """The environment as an image, where runs happen in one; the fingerprint is then taken there."""
    notes: tuple[str, ...] = ()
    """Why it was built anew although it stood in the cache."""


class ManifestEntry(Frozen):
    """One input file with the bytes that it must have."""

    name: Slug
    file: str
    sha256: Sha256
    size: int
    roles: dict[str, Sha256] = {}
    """Digest of the row numbers per split role, in their order."""
    role_files: dict[str, str] = {}
    """The file of row numbers per split role; a role without one has all rows."""
    shared_rows: dict[str, int | None] = {}
    """How many rows two roles share, as `test & train`; None for all of an unknown number."""
    rows: int | None = None
    """Rows of a CSV (without its header), JSON lines or Parquet file; None for other files."""
    sealed: bool = False
    """Whether these are labels that no run is given."""
    private: bool = False
    licence: str | None = None
    source: str | None = None


class DataManifest(Frozen):
    """All input files of the experiments; empty where data is made by formula."""

    entries: tuple[ManifestEntry, ...] = ()


class EnvironmentGrade(Frozen):
    """How far an environment is fixed, and what speaks for and against it."""

    grade: Literal["strong", "medium", "weak"]
    holds: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
