"""`--code URL@commit`: which repository, and which commit of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from repro_pipeline.imports.record import ImportFault

_SCP = re.compile(r"(?:\w[\w.-]*@)?(?P<host>\w[\w.-]*):(?P<path>[^\s@:][^\s@]*)")
_URL = re.compile(r"[\w+.-]+://(?:[^/@]*@)?(?P<host>[^/:]+)(?::\d*)?/(?P<path>.+)")
_BY_443 = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
_REF = re.compile(r"[0-9A-Za-z][\w./+-]{0,199}", re.ASCII)
_SECRET = re.compile(r"(?<=://)[^/@]*(?=@)|^[^/@]*:[^/@]*(?=@)|(?<=[?#]).*")
"""What may be a password where an address is told: of a user, or after a `?`."""
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
    """A repository's address as host/owner/name, without user, password and port where it has a host.

    A host's second name, for ssh through port 443, is its first.
    """
    found = _URL.fullmatch(url) or _SCP.fullmatch(url)
    if found is None:
        return url
    host = found["host"].lower().rstrip(".")
    return f"{_BY_443.get(host, host)}/{found['path'].lstrip('/')}"


def parse_code(text: str) -> CodeTarget:
    """What `--code` names. Raises ImportFault for what is no repository's address.

    Only https, ssh and local paths: nothing in the clear, no helper program, no password.
    """
    url, ref = _split(text.strip())
    said = f"--code {_SECRET.sub('…', text)}"
    if not url or url.startswith("-") or "\0" in url or "::" in url:
        raise ImportFault("is no address of a repository.", where=said, hint=_EXAMPLE)
    if not _REF.fullmatch(ref) or ".." in ref or ref.endswith((".lock", "/")):
        raise ImportFault(f"'{ref}' names no commit.", where=said, hint=_EXAMPLE)
    if re.fullmatch(r"[0-9A-F]{40}|[0-9A-F]{64}", ref):
        ref = ref.lower()
    if "://" in url:
        _check(url, said)
    elif not _SCP.fullmatch(url):
        path = local_folder(url)
        if path is None:
            raise ImportFault("there is no such repository.", where=said[:300], hint=_EXAMPLE)
        url = str(path)
    return CodeTarget(url, ref)


def _split(text: str) -> tuple[str, str]:
    """The address and what stands after its `@`, which is no `@` of a user's name."""
    scheme, slashes, rest = text.rpartition("://")
    host, slash, path = rest.partition("/") if slashes else ("", "", rest)
    before, at, ref = path.rpartition("@")
    if not at or not before or ":" in ref or (not slashes and local_folder(text)):
        return text, "HEAD"
    return f"{scheme}{slashes}{host}{slash}{before}", ref


def local_folder(text: str) -> Path | None:
    """The folder of that name; None where there is none, whatever the text."""
    try:
        path = Path(text).expanduser().resolve()
        return path if path.is_dir() else None
    except (OSError, ValueError, RuntimeError):
        return None


def _check(url: str, said: str) -> None:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port  # either may be refused
    except ValueError:
        raise ImportFault("is no address.", where="--code", hint=_EXAMPLE) from None
    scheme = parts.scheme.lower()
    if scheme not in {"https", "ssh"}:
        raise ImportFault(
            f"code is fetched by https, ssh or from a local path, not by {scheme}.",
            where=said,
            hint=_EXAMPLE,
        )
    if parts.password or (scheme == "https" and parts.username):
        raise ImportFault(
            "holds a user name or a password, which would be kept.", where=said, hint=_EXAMPLE
        )
    if parts.query or parts.fragment:
        raise ImportFault(
            "holds more than a path, and what stands after a `?` or `#` would be kept.",
            where=said,
            hint=_EXAMPLE,
        )
    if not host or url.partition("://")[2].startswith("-") or not parts.path.strip("/"):
        raise ImportFault("names no repository.", where=said, hint=_EXAMPLE)
