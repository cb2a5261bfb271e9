"""The lock, the built environment with its fingerprint, and the manifest of the data."""

from __future__ import annotations

from typing import Literal

from repro_pipeline.frozen import Frozen, Sha256, Slug


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


class EnvironmentLock(Frozen):
    """All packages with versions and hashes."""

    sha256: Sha256
    """Digest of the lock file, and its address in the artifact store."""
    python: str
    packages: int
    hashed: bool
    """Whether every package carries a hash."""
    source: Literal["given", "resolved"]
    """Whether the lock came with the code, or was resolved from its requirements."""
    requirements: str
    """The file that the lock was made from."""


class BuiltEnvironment(Frozen):
    """An environment built from its lock alone."""

    lock: EnvironmentLock
    path: str
    """The folder, relative to the project's cache of environments."""
    fingerprint: Fingerprint


class ManifestEntry(Frozen):
    """One input file with the bytes that it must have."""

    name: Slug
    file: str
    sha256: Sha256
    size: int
    roles: dict[str, Sha256] = {}
    """Digest of the row numbers per split role."""
    rows: int | None = None
    sealed: bool = False
    private: bool = False
    licence: str | None = None


class DataManifest(Frozen):
    """All input files of the experiments; empty where data is made by formula."""

    entries: tuple[ManifestEntry, ...] = ()
