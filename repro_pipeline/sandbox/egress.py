"""What a download step may ask of the network: judged here, enforced by a proxy outside the sandbox.

A request is allowed by the name of its host and its method; never by a number, since a name that
turns into another number is looked up by the proxy alone. Plain HTTP is judged with its path. HTTPS
hides path and method: it is judged by its host, as told to the proxy and again in the handshake, so
a host on which an excluded source may lie is refused as a whole.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import Annotated, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, Field

from repro_pipeline.frozen import Frozen
from repro_pipeline.quantities import Bytes

Method = Literal["GET", "HEAD", "POST", "PUT", "OPTIONS"]
HTTP, HTTPS = 80, 443
MOST_REQUESTS = 5000
"""Of one step; none is passed on after them, and no more of them is recorded than some few."""

CODE_HOSTS = (
    *("github.com", "githubusercontent.com", "gitlab.com", "bitbucket.org", "codeberg.org"),
    *("sourceforge.net", "git.sr.ht", "gitee.com", "softwareheritage.org", "paperswithcode.com"),
)
"""Where anybody's code, forks and mirrors lie, their subdomains included."""

_NAME = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9-]{1,63}")
_DISTRIBUTION = re.compile(r"[\w.-]*")  # without extras and versions
_GIT = re.compile(r"/info/refs$|/git-(?:upload|receive)-pack$|\.git(?:/|$)")
_NATS = ipaddress.ip_network("64:ff9b::/96")
_UNICAST = ipaddress.ip_network("2000::/3")
_RESERVED = tuple(
    ipaddress.ip_network(text)
    for text in (
        "168.63.129.16/32",  # a cloud's own services, under a public address
        "192.88.99.0/24",  # once relays to IPv6 (RFC 7526)
        "3fff::/20",  # documentation (RFC 9637)
    )
)


def host_name(text: str) -> str:
    """A host's name in its one spelling. Raises ValueError for an address in numbers, or no name."""
    name = text.lower().removesuffix(".")
    last = name.rpartition(".")[2]
    if re.fullmatch(r"\d+|0x[0-9a-f]*", last):
        raise ValueError(f"'{text}' is an address in numbers; only names are allowed")
    if not _NAME.fullmatch(name):
        raise ValueError(f"'{text}' is no name of a host")
    return name


class AllowedHost(Frozen):
    """A host that may be asked, on ports 80 (HTTP) and 443 (HTTPS)."""

    host: Annotated[str, AfterValidator(host_name)]
    """Its whole name; subdomains are hosts of their own."""
    methods: Annotated[tuple[Method, ...], Field(min_length=1)] = ("GET", "HEAD")
    """Of plain HTTP. HTTPS hides the method."""


class EgressRules(Frozen):
    """All that a download step may ask for."""

    allow: tuple[AllowedHost, ...]
    limit: Bytes = 1 << 30
    """Bytes in both directions, of all requests together."""
    excluded: tuple[str, ...] = ()
    """Sources that are never asked: see `Excluded`."""

    def refusal(self, asked: Asked) -> str:
        """Why a request is refused; empty where it is allowed."""
        try:
            host = host_name(asked.host)
        except ValueError as error:
            return f"{error}"
        rule = next((one for one in self.allow if one.host == host), None)
        if rule is None:
            return f"'{host}' is not among the allowed hosts"
        tunnel = asked.method == "CONNECT"
        if asked.port != (HTTPS if tunnel else HTTP):
            return f"port {asked.port} is refused: only HTTP on 80 and HTTPS on 443 are allowed"
        if not tunnel and asked.method not in rule.methods:
            return (
                f"{asked.method} is refused: of '{host}' only {', '.join(rule.methods)} are asked"
            )
        hit = Excluded(self.excluded)
        return hit.of_host(host) if tunnel else hit.of_path(host, asked.path)


class Asked(NamedTuple):
    """A request as code inside makes it."""

    method: str
    """CONNECT for HTTPS."""
    host: str
    port: int
    path: str = ""


class EgressRequest(Frozen):
    """A request and what became of it."""

    number: int
    method: str
    host: str
    port: int
    path: str = ""
    """With its query; empty for HTTPS, which hides it."""
    allowed: bool
    why: str = ""
    """Why it was refused."""


class Excluded:
    """Sources that must not be looked at: repositories with their forks and mirrors, packages, hosts.

    Each is an address (`https://github.com/owner/name`, `git@host:owner/name.git`, `host/path`,
    `host`), a name on some hub (`owner/name`), or a package (`pip:name`).
    """

    def __init__(self, named: Iterable[str]) -> None:
        self._addresses: list[tuple[str, tuple[str, ...]]] = []
        """Host (empty for any) and parts of the path."""
        self.packages: set[str] = set()
        for text in named:
            if text.lower().startswith("pip:"):
                self.packages.add(plain_package(_DISTRIBUTION.match(text[4:].strip())[0]))
            else:
                self._addresses.append(address_of(text))

    def of_host(self, host: str) -> str:
        """The rule against a host whose requests cannot be looked into; empty where there is none."""
        for excluded, _ in self._addresses:
            if excluded and (_below(host, excluded) or _below(excluded, host)):
                return f"an excluded source lies on '{host}', and HTTPS hides what is asked of it"
        if any(_below(host, one) for one in CODE_HOSTS):
            return f"'{host}' holds anybody's code, and HTTPS hides what is asked of it"
        return ""

    def of_path(self, host: str, path: str) -> str:
        """The rule against a request that can be looked into; empty where there is none."""
        plain = _settled(path)
        if _GIT.search(plain):
            return "git is refused"
        parts = tuple(part for part in plain.split("/") if part)
        for excluded, below in self._addresses:
            if excluded and _below(host, excluded) and parts[: len(below)] == below:
                return f"'{excluded}/{'/'.join(below)}' is excluded"
            if len(below) >= 2 and _bears(host, plain, *below[:2]):
                return f"it bears the name of the excluded '{'/'.join(below[:2])}'"
        for part in parts:
            for package in self.packages:
                if re.match(rf"{re.escape(package)}(?:$|-\d)", plain_package(part)):
                    return f"the package '{package}' is excluded"
        return ""


def plain_package(name: str) -> str:
    """A package's or distribution's name in one spelling."""
    return re.sub(r"[-_.]+", "-", name.strip().lower())


def address_of(text: str) -> tuple[str, tuple[str, ...]]:
    """Host and path of a source, however it is spelled; the host is empty for `owner/name`.

    Raises ValueError for what is no address.
    """
    text = text.strip().lower().removeprefix("git+").removeprefix("//")
    copied = re.fullmatch(r"(?:[\w.-]+@)?([\w-]+(?:\.[\w-]+)+):(?!//|\d+/)(.+)", text)  # of scp
    if copied:
        text = f"ssh://{copied[1]}/{copied[2]}"
    elif "://" not in text and "." not in text.partition("/")[0]:
        text = f"hub:///{text}"
    parts = urlsplit(text if "://" in text else f"https://{text}")
    path = [part for part in _settled(parts.path).split("/") if part]
    if path:
        path[-1] = path[-1].removesuffix(".git")
    host = (parts.hostname or "").removeprefix("www.").removesuffix(".")
    return _repository_of(host, tuple(path))


def _repository_of(host: str, path: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The repository behind an address of GitHub's other hosts: archives, single files, its API."""
    if host == "api.github.com" and path[:1] == ("repos",):
        host, path = "codeload.github.com", path[1:]
    if host in {"codeload.github.com", "raw.githubusercontent.com"} and len(path) >= 2:
        return "github.com", path[:2]
    return host, path


def named_source(text: str) -> str:
    """A source as it is written, where `Excluded` can hold it. Raises ValueError where it cannot."""
    if text.lower().startswith("pip:"):
        known = _DISTRIBUTION.match(text[4:].strip())[0]
    else:
        host, path = address_of(text)
        known = host_name(host) if host else len(path) >= 2
    if not known:
        raise ValueError(f"'{text}' names no source: write host/path, owner/name, or pip:name")
    return text


def public(address: str) -> bool:
    """Whether an IP address is of the public internet, and holds no private one within it."""
    one = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(one, ipaddress.IPv6Address):
        within = [one.ipv4_mapped, one.sixtofour, *(one.teredo or ())]
        if one in _NATS:
            within.append(ipaddress.IPv4Address(int(one) & 0xFFFFFFFF))
        if any(part is not None and not public(str(part)) for part in within):
            return False
        if one.ipv4_mapped is not None or one in _NATS:
            return True
        if one not in _UNICAST:
            return False
    reserved = any(one in network for network in _RESERVED)
    return one.is_global and not one.is_multicast and not reserved


def _bears(host: str, path: str, owner: str, name: str) -> bool:
    """Whether a path names a repository of that name: a mirror anywhere, a fork where code lies."""
    if re.search(rf"(?:^|/){re.escape(owner)}[/_.-]+{re.escape(name)}(?![a-z0-9])", path):
        return True
    fork = re.search(rf"/{re.escape(name)}(?![a-z0-9_-])", path)
    return bool(fork) and any(_below(host, one) for one in CODE_HOSTS)


def _below(host: str, other: str) -> bool:
    """Whether a host is another one, or a subdomain of it."""
    return host == other or host.endswith(f".{other}")


def _settled(path: str) -> str:
    """A path as a server may read it: no query, decoded until it stays, no dots, lower case."""
    plain = re.split(r"[?#]", path)[0]
    for _ in range(3):
        plain = unquote(plain)
    parts: list[str] = []
    for part in plain.replace("\\", "/").lower().split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)
