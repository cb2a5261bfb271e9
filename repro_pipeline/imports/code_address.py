"""`--code URL@commit`: which repository, and which commit of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from repro_pipeline.imports.record import ImportFault

_SCP = re.compile(r"(?:[\w.-]+@)?(?P<host>[\w.-]+):(?P<path>[^/\s].*)")
_REF = re.compile(r"[0-9A-Za-z][\w./+-]{0,199}", re.ASCII)
_EXAMPLE = "Write it as https://host/owner/name@COMMIT, or as a path of a local repository."


class CodeTarget(NamedTuple):
    """A repository as Git is given it, and what of it is wanted."""

    url: str
    ref: str
    """A commit, a branch or a tag; `HEAD` where none was named."""

    @property
    def address(self) -> str:
        """host/owner/name, as `exclude` writes it; a local repository's path."""
        return address_of(self.url)

    @property
    def is_local(self) -> bool:
        """Whether it lies on this machine."""
        return self.url.startswith("/")

    @property
    def is_commit(self) -> bool:
        """Whether `ref` is a whole commit id."""
        return bool(re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", self.ref))


def address_of(url: str) -> str:
    """A repository's address as host/owner/name, where it is written as Git's user@host:owner/name."""
    found = None if "://" in url else _SCP.fullmatch(url)
    return f"{found['host']}/{found['path']}" if found else url


def parse_code(text: str) -> CodeTarget:
    """What `--code` names. Raises ImportFault for what is no repository's address.

    Only https, ssh and local paths: nothing in the clear, no helper program, no password.
    """
    url, ref = _split(text.strip())
    if not url or url.startswith("-") or "\0" in url or "::" in url:
        raise ImportFault("is no address of a repository.", where=f"--code {text}", hint=_EXAMPLE)
    if not _REF.fullmatch(ref) or ".." in ref or ref.endswith((".lock", "/")):
        raise ImportFault(f"'{ref}' names no commit.", where=f"--code {text}", hint=_EXAMPLE)
    if "://" in url:
        _check(url, text)
    elif not _SCP.fullmatch(url):
        path = _folder(url)
        if path is None:
            raise ImportFault("there is no such repository.", where=url[:300], hint=_EXAMPLE)
        url = str(path)
    return CodeTarget(url, ref)


def _split(text: str) -> tuple[str, str]:
    """The address and what stands after its `@`, which is no `@` of a user's name."""
    scheme, slashes, rest = text.rpartition("://")
    host, slash, path = rest.partition("/") if slashes else ("", "", rest)
    before, at, ref = path.rpartition("@")
    if not at or not before or ":" in ref or (not slashes and _folder(text)):
        return text, "HEAD"
    return f"{scheme}{slashes}{host}{slash}{before}", ref


def _folder(text: str) -> Path | None:
    """The folder of that name; None where there is none, whatever the text."""
    try:
        path = Path(text).expanduser().resolve()
        return path if path.is_dir() else None
    except (OSError, ValueError, RuntimeError):
        return None


def _check(url: str, text: str) -> None:
    try:
        parts = urlsplit(url)
        host, password = parts.hostname, parts.password
    except ValueError:
        raise ImportFault("is no address.", where="--code", hint=_EXAMPLE) from None
    scheme = parts.scheme.lower()
    if scheme not in {"https", "ssh"}:
        raise ImportFault(
            f"code is fetched by https, ssh or from a local path, not by {scheme}.",
            where="--code" if password else f"--code {text}",
            hint=_EXAMPLE,
        )
    if password or (scheme == "https" and parts.username):
        raise ImportFault(
            "holds a user name or a password, which would be kept.", where="--code", hint=_EXAMPLE
        )
    if not host or not parts.path.strip("/"):
        raise ImportFault("names no repository.", where=f"--code {text}", hint=_EXAMPLE)
