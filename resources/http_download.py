"""One file by HTTP: bounded in time, bytes, redirects and tries; never into a private network.

An address that its user wrote is taken at its word, wherever it leads. A redirect away from it may
lead to public addresses only; names are looked up before the request, so a name server that changes
its mind within milliseconds is not guarded against, nor is what lies behind a proxy.
"""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import requests
from urllib3.exceptions import HTTPError

import repro_pipeline
from repro_pipeline.errors import FetchError

MOST_REDIRECTS = 5
_BUSY = {408, 425, 429, 500, 502, 503, 504}


@dataclass(frozen=True)
class Bounds:
    """Of one download: seconds of silence, seconds in all, bytes, tries, seconds between tries.

    A server that asks for a longer pause than `longest_pause` is left alone.
    """

    silence: float
    seconds: float
    size: int
    tries: int = 4
    pause: float = 3
    longest_pause: float = 120


class NotThere(FetchError):
    """The server has no such file (404, 410)."""


class _Busy(Exception):
    """The server, or the way to it, failed for now."""

    def __init__(self, why: str, after: float | None = None) -> None:
        super().__init__(why)
        self.why, self.after = why, after


def download(
    url: str,
    target: Path,
    bounds: Bounds,
    *,
    hint: str,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Write the body that `url` answers with to `target`, as it was sent, not unpacked.

    Raises NotThere for 404 and 410; FetchError, naming which, for a network that does not lead
    there, any other answer than 200, a breach of a bound, and an answer that broke off, after as
    many tries as there may be. `hint` says what the user can do instead.
    """
    why = ""
    for number in range(bounds.tries):
        try:
            return _once(url, target, bounds, hint)
        except _Busy as busy:
            why = busy.why
            wait = max(busy.after, bounds.pause) if busy.after else bounds.pause * 2**number
            if wait > bounds.longest_pause:
                why += f", and asks to wait for {wait:.0f} s"
                break
            if number + 1 < bounds.tries:
                sleep(wait)
    raise FetchError(f"{why}.", where=url, hint=f"Try again later. Or: {hint}")


def _once(url: str, target: Path, bounds: Bounds, hint: str) -> None:
    deadline = time.monotonic() + bounds.seconds
    with requests.Session() as session:
        session.headers.update(
            {
                "User-Agent": f"repro-pipeline/{repro_pipeline.__version__}",
                "Accept-Encoding": "identity",
            }
        )
        with closing(_answer(session, url, bounds, hint)) as answer:
            _keep(answer, target, bounds, deadline, url, hint)


def _answer(session: requests.Session, url: str, bounds: Bounds, hint: str) -> requests.Response:
    """The answer at the end of the redirects, its body not read yet."""
    current = url
    for _ in range(MOST_REDIRECTS + 1):
        if _origin(current) != _origin(url):
            _check_public(current, url, hint)
        try:
            answer = session.get(
                current, stream=True, allow_redirects=False, timeout=bounds.silence
            )
        except requests.Timeout:
            raise _Busy(f"did not answer within {bounds.silence:g} seconds") from None
        except requests.ConnectionError as error:
            if _broke_off(error):
                raise _Busy("broke the connection off") from None
            raise _out_of_reach(current, hint) from None
        except (requests.RequestException, ValueError) as error:
            raise FetchError(f"cannot be asked for ({error}).", where=current, hint=hint) from None
        if not answer.is_redirect:
            return answer
        answer.close()
        current = _next(current, answer.headers["location"], hint)
    raise FetchError(f"redirects more than {MOST_REDIRECTS} times.", where=url, hint=hint)


def _broke_off(error: requests.ConnectionError) -> bool:
    """Whether the server was reached, and then closed the connection without an answer."""
    return "RemoteDisconnected" in repr(error) or "Connection reset" in repr(error)


def _out_of_reach(url: str, hint: str) -> FetchError:
    return FetchError(f"the network does not reach {urlsplit(url).hostname}.", where=url, hint=hint)


def _next(current: str, location: str, hint: str) -> str:
    """Where a redirect leads. Raises FetchError for what is no address."""
    try:
        address = urljoin(current, location)
        _origin(address)
    except ValueError:
        raise FetchError("redirects to what is no address.", where=current, hint=hint) from None
    return address


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def _check_public(url: str, asked: str, hint: str) -> None:
    """Raises FetchError for a redirect to another scheme than http(s), or to a private address."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise FetchError(
            f"redirects to {parts.scheme or url}, not to http.", where=asked, hint=hint
        )
    if urlsplit(asked).scheme == "https" and parts.scheme == "http":
        raise FetchError(f"redirects from https to {url}.", where=asked, hint=hint)
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or 443, type=socket.SOCK_STREAM)
    except OSError:
        raise _out_of_reach(url, hint) from None
    for address in {entry[4][0].partition("%")[0] for entry in found}:
        if not ipaddress.ip_address(address).is_global:
            raise FetchError(
                f"redirects to {parts.hostname}, an address of a private network.",
                where=asked,
                hint=hint,
            )


def _keep(
    answer: requests.Response, target: Path, bounds: Bounds, deadline: float, url: str, hint: str
) -> None:
    status = answer.status_code
    if status in {404, 410}:
        raise NotThere(f"the server has no such file ({status}).", where=url, hint=hint)
    if status in _BUSY:
        raise _Busy(f"the server answers {status} {answer.reason}", _retry_after(answer))
    if status != 200:
        raise FetchError(f"the server refuses: {status} {answer.reason}.", where=url, hint=hint)
    too_large = FetchError(
        f"is larger than {bounds.size >> 20} MiB.",
        where=url,
        hint=f"Raise `fetch.largest` in repro.yaml. Or: {hint}",
    )
    if int(answer.headers.get("content-length", "0").strip() or 0) > bounds.size:
        raise too_large
    size = 0
    try:
        with target.open("wb") as file:
            # Raw: an e-print's gzip is sent as if it were an encoding of the transfer.
            for block in answer.raw.stream(1 << 16, decode_content=False):
                size += len(block)
                if size > bounds.size:
                    raise too_large
                if time.monotonic() > deadline:
                    raise _Busy(f"did not end within {bounds.seconds:g} seconds")
                file.write(block)
    except (HTTPError, requests.RequestException) as error:
        raise _Busy(f"the answer broke off after {size} bytes ({type(error).__name__})") from None


def _retry_after(answer: requests.Response) -> float | None:
    """The seconds that the server asks to wait for, which it gives as such or as a date."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isdigit():
        return float(text)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())
