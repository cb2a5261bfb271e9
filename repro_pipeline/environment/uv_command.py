"""Runs the `uv` that is installed beside this package, with nothing of the host but its network settings."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from packaging.utils import canonicalize_name

from repro_pipeline.errors import BuildError
from repro_pipeline.tied import tied

_PASSED = re.compile(
    r"(?i:https?_proxy|all_proxy|no_proxy)|SSL_CERT_FILE|SSL_CERT_DIR|SSL_CLIENT_CERT|NETRC"
    r"|UV_(DEFAULT_INDEX|INDEX|INDEX_\w+|EXTRA_INDEX_URL|FIND_LINKS|OFFLINE|HTTP_TIMEOUT"
    r"|SYSTEM_CERTS|NATIVE_TLS|INSECURE_HOST)"
)
_UNREACHABLE = re.compile(
    r"request failed|error sending request|failed to fetch|dns error|connect error"
    r"|network was disabled|network is disabled|timed out",
    re.IGNORECASE,
)
_URL = re.compile(r"\s*\(?[a-z]+://\S+", re.IGNORECASE)


def run_uv(
    arguments: Sequence[str],
    *,
    cache: Path,
    stdin: str = "",
    path: str = "",
    told: Callable[[str], None] | None = None,
) -> str:
    """Run `uv` and return what it prints. It ends with this process.

    `cache` holds the cache of downloads, `path` is where interpreters are looked for, `told` is
    called with what it said beside, warnings among it, where it ended well. No configuration file is
    read: one that comes with a paper's code could name another index. Raises BuildError with the
    reason in one sentence.
    """
    command = [_binary(), *arguments, "--no-config", "--no-python-downloads"]
    folder = cache.absolute() / "uv"
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        tied([*command, "--cache-dir", str(folder)]),
        input=stdin,
        capture_output=True,
        text=True,
        cwd=folder.anchor,
        env={**network_variables(os.environ), "PATH": path, "NO_COLOR": "1"},
        check=False,
    )
    if done.returncode:
        raise explain(done.stderr, done.returncode)
    if told is not None:
        told(done.stderr)
    return done.stdout


def yanked_in(said: str) -> dict[str, str]:
    """The withdrawn packages that uv warns of, each with its authors' reason (which may be empty)."""
    pattern = r"`([^`=\s]+)==[^`]*` is yanked(?: \(reason: \"(.*)\"\))?"
    return {canonicalize_name(name): why for name, why in re.findall(pattern, said)}


def network_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Of all variables, those that tell uv how to reach its index."""
    return {name: value for name, value in variables.items() if _PASSED.fullmatch(name)}


def explain(stderr: str, returncode: int) -> BuildError:
    """What uv says on failing, as one error: its conflict and its hint, without URLs."""
    text = _URL.sub("", stderr)
    parts = re.split(r"^\s*(?:error:|cause:|hint:|×|╰─▶|├─▶)", text, flags=re.MULTILINE)[1:]
    sentences = [re.sub(r"[\s│]+", " ", part).strip(" .:") for part in parts]
    sentences = [sentence for sentence in sentences if sentence]
    if _UNREACHABLE.search(stderr):
        what = sentences[-1] if "network" in stderr and sentences else "the request failed"
        return BuildError(
            f"the package index cannot be reached ({what}), and the cache does not hold "
            "all that is needed.",
            hint="Connect this machine, set UV_DEFAULT_INDEX to an index that it reaches, "
            "or build once while connected.",
        )
    if not sentences:
        said = " ".join(text.split())
        what = f": {said}" if said else " and said nothing"
        return BuildError(f"uv failed with exit status {returncode}{what}.")
    if "has no usable wheels" in stderr or "building from source is disabled" in stderr:
        return BuildError(
            ". ".join(sentences[:2]) + ".",
            hint="A source distribution runs code when it is built, so none is: choose a version "
            "or a Python with a wheel, or build the wheel yourself and name its folder in "
            "UV_FIND_LINKS.",
        )
    return BuildError(". ".join(sentences) + ".")


def _binary() -> str:
    from uv import find_uv_bin

    try:
        return find_uv_bin()
    except FileNotFoundError:
        raise BuildError("the `uv` program is missing.", hint="Install the package `uv`.") from None
