"""From requirements to a lock: every package with its version and its hashes, or no lock at all."""

from __future__ import annotations

import hashlib
import sys
from datetime import date
from pathlib import Path

from packaging.utils import canonicalize_name

from repro_pipeline.environment.model import EnvironmentLock, Requirements
from repro_pipeline.environment.requirement_lines import Entry, parse_entries
from repro_pipeline.environment.uv_command import run_uv
from repro_pipeline.errors import BuildError


def resolve(
    requirements: Requirements, *, python: str, cache: Path, as_of: date | None = None
) -> str:
    """The text of the lock for a Python version (3.11).

    A given lock is checked and used as it is. Other requirements are resolved by uv for all
    platforms, from wheels only (a source distribution would run code). `as_of` leaves out packages
    published later. Raises BuildError with the conflict in one sentence, or naming the first entry
    of a given lock that is not pinned and hashed.
    """
    if requirements.kind == "given_lock":
        text = "\n".join(requirements.lines) + "\n"
        _locked_entries(text, requirements.file or "requirements.lock")
        return text
    if not requirements.lines:
        return ""
    options = ["--generate-hashes", "--universal", "--no-header", "--no-annotate", "--no-build"]
    options += ["--python-version", python, "--python", sys.executable]  # which builds nothing
    if as_of:
        options += ["--exclude-newer", f"{as_of.isoformat()}T23:59:59Z"]  # in no zone of this host
    text = run_uv(
        ["pip", "compile", "-", *options],
        cache=cache,
        stdin="\n".join(requirements.lines) + "\n",
    )
    _locked_entries(text, "the lock that uv resolved")
    return text


def lock_info(
    text: str,
    *,
    requirements: Requirements,
    python: str,
    named: bool = False,
    why: str = "",
    as_of: date | None = None,
) -> EnvironmentLock:
    """What a lock's text is: its digest, its number of packages, and where it came from.

    `python` is the version it was made for, `why` what chose it, and `named` whether the code or its
    user did. Raises BuildError for a text that is no lock.
    """
    entries = _locked_entries(text, requirements.file or "lock")
    given = requirements.kind == "given_lock"
    return EnvironmentLock(
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        python=python,
        packages=len({canonicalize_name(entry.requirement.name) for entry in entries}),
        hashed=all(entry.hashes for entry in entries),
        source="given" if given else "resolved",
        requirements=requirements.file or f"({requirements.kind})",
        kind=requirements.kind,
        python_named=named,
        python_why=why,
        as_of=None if given else as_of,
        notes=requirements.notes,
    )


def _locked_entries(text: str, file: str) -> list[Entry]:
    entries = parse_entries(text, file)
    for entry in entries:
        if entry.fault:
            raise BuildError(
                f"{entry.fault}, so the lock does not fix what is installed.",
                where=entry.place,
                hint="Lock again with `uv pip compile --generate-hashes`.",
            )
    return entries
