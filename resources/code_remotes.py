"""Where a local Git repository was cloned from: read from its settings, and not acted upon."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from repro_pipeline.imports.code_address import address_of, local_folder
from repro_pipeline.imports.record import ImportFault
from resources.code_source import git_environment, no_git

_PATIENCE = 60
"""Seconds for reading a file of settings."""


def remotes_of(repository: Path, *, clones: int = 5) -> list[str]:
    """Where a local repository was cloned from, by its configuration: read, not acted upon.

    So for a working tree of another repository, and for `clones` clones of clones on this machine.
    Without names and passwords.
    """
    config = _config_of(repository)
    said = _settings(config) if config else []
    remotes = [value for key, value in said if re.fullmatch(r"remote\..*\.(push)?url", key)]
    short = [(key, value) for key, value in said if key.endswith("insteadof")]
    urls = [
        url
        for remote in remotes
        for url in (
            remote,
            *(
                f"{k[4 : k.rindex('.')]}{remote[len(v) :]}"
                for k, v in short
                if remote.startswith(v)
            ),
        )
    ]
    places = [str(repository / url.removeprefix("file://")) for url in urls] if clones else []
    further = [
        one
        for folder in filter(None, map(local_folder, places))
        for one in remotes_of(folder, clones=clones - 1)
    ]
    return list(dict.fromkeys([*(address_of(url) for url in urls), *further]))


def _config_of(repository: Path) -> Path | None:
    """The configuration of a repository; of a working tree or a submodule, the one that it names."""
    place = repository / ".git"
    if place.is_file():
        named = place.read_text(encoding="utf-8", errors="replace").removeprefix("gitdir:").strip()
        place = repository / named
    elif not place.is_dir():
        place = repository
    common = place / "commondir"
    if common.is_file():
        place /= common.read_text(encoding="utf-8", errors="replace").strip()
    return place / "config" if (place / "config").is_file() else None


def _settings(config: Path) -> list[tuple[str, str]]:
    """The settings of a file as Git reads them, without what it includes."""
    words = ("config", "--file", str(config.resolve()), "--no-includes", "--null", "--list")
    try:
        listed = subprocess.run(
            ["git", *words],
            env=git_environment(config.parent),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=True,
        ).stdout.decode(errors="replace")
    except FileNotFoundError:
        raise no_git() from None
    except subprocess.SubprocessError:
        raise ImportFault("is no configuration that Git reads.", where=str(config)) from None
    pairs = (one.partition("\n") for one in listed.split("\0") if one)
    return [(key, value) for key, _, value in pairs]
