"""The proxy of a download step: outside the sandbox, behind a unix socket, asked for every request.

Names are looked up here, once, and the address that was checked is the one connected to, so that a
name server which changes its mind reaches nothing. Addresses that are not of the public internet are
refused. A plain HTTP request is parsed and written anew, one on a connection. Of HTTPS the first
record must be a handshake that names the same host, so that a tunnel begins as no other protocol
and for no other site; what is said inside is not seen. All bytes count against one limit, and none is
passed on beyond it.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import socket
import struct
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from repro_pipeline.sandbox.egress import (
    HTTP,
    MOST_REQUESTS,
    Asked,
    EgressRequest,
    EgressRules,
    host_name,
    public,
)

Address = tuple[str, int]
"""Of IP, and a port."""

_AT_ONCE = 16
_SILENCE, _CONNECTING = 60.0, 15.0  # seconds
_HEAD, _RECORD, _CHUNK = 1 << 14, 5 + (1 << 14), 1 << 16
_REQUEST = re.compile(r"([A-Z]{1,20}) ([\x21-\x7e\x80-\xff]{1,8000}) HTTP/1\.[01]")
_FIELD = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)")
_KEPT = {
    *("accept", "accept-charset", "accept-encoding", "accept-language", "authorization"),
    *("cache-control", "content-encoding", "content-language", "content-length", "content-type"),
    *("cookie", "date", "if-match", "if-modified-since", "if-none-match", "if-range"),
    *("if-unmodified-since", "origin", "pragma", "range", "referer", "user-agent"),
}
"""Fields that are passed on. By others (X-Original-URL, X-HTTP-Method-Override, Forwarded, Upgrade, …)
some servers are told another host, path, method or protocol than the one that was judged."""
_HIDING = {0xFE0D, 0xFFCE}
"""Extensions of TLS that carry another, encrypted name (ECH and its draft ESNI)."""
_PREFIX = "repro-egress-"
_SHOWN = 500  # characters of a path that are recorded


class _Refused(Exception):
    """A request that is not passed on, with the reason."""

    def __init__(self, why: str, asked: Asked | None = None) -> None:
        super().__init__(why)
        self.asked = asked or Asked("?", "?", 0)


class _Spent(Exception):
    """The limit on bytes is reached."""


class EgressProxy:
    """Serves one download step: a context whose value is the path of its socket.

    `tell` is called with every request before anything is passed on, from several threads. Where it
    fails, that request is not passed on, and the context ends with its error.
    `look_up` and `reachable` are for tests, in which no public host is asked.
    """

    def __init__(
        self,
        rules: EgressRules,
        tell: Callable[[EgressRequest], None],
        *,
        look_up: Callable[[str, int], Sequence[Address]] | None = None,
        reachable: Callable[[str], bool] = public,
    ) -> None:
        self._rules, self._tell = rules, tell
        self._look_up, self._reachable = look_up or _look_up, reachable
        self._lock = threading.Lock()
        self._slots = threading.Semaphore(_AT_ONCE)
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._closed = False
        self._unrecorded: Exception | None = None
        self.requests = self.bytes = 0
        """How many were made, and the bytes that were passed on in both directions."""
        self.spent = False
        """Whether the limit on bytes stopped something."""

    def __enter__(self) -> Path:
        _sweep()
        self._folder = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")  # for its owner alone
        path = Path(self._folder, "socket")
        self._listener = socket.socket(socket.AF_UNIX)
        folder = os.open(self._folder, os.O_PATH)
        try:
            self._listener.bind(f"/proc/self/fd/{folder}/socket")  # a socket's path is short
        finally:
            os.close(folder)
        path.chmod(0o666)  # a run has a user of its own
        self._listener.listen(_AT_ONCE)
        self._start(self._accept)
        return path

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closed = True
            for end in (self._listener, *self._open):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(_SILENCE)
        self._listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        if self._unrecorded is not None:
            raise self._unrecorded

    def _start(self, work: Callable[..., None], *given: object) -> None:
        thread = threading.Thread(target=work, args=given, daemon=True)
        self._threads = [one for one in self._threads if one.is_alive() or one.ident is None]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._closed:
            self._slots.acquire()
            try:
                client = self._listener.accept()[0]
            except OSError:
                return
            self._start(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        try:
            with self._kept(client):
                self._answer(client)
        except (OSError, _Spent):
            return  # the client sees its connection end; what was asked is recorded
        finally:
            self._slots.release()

    @contextlib.contextmanager
    def _kept(self, end: socket.socket):
        """A connection that ends with the proxy, at the latest."""
        end.settimeout(_SILENCE)
        with end:
            with self._lock:
                if self._closed:
                    raise OSError("the proxy has ended")
                self._open.add(end)
            try:
                yield end
            finally:
                with self._lock:
                    self._open.discard(end)

    def _answer(self, client: socket.socket) -> None:
        try:
            head, rest = _head(client)
            asked, fields = _parsed(head)
            if asked.method == "CONNECT":
                self._tunnel(client, asked, rest)
            else:
                self._forward(client, asked, fields, rest)
        except _Refused as refusal:
            self._record(refusal.asked, str(refusal))
            text = f"refused by the egress proxy: {refusal}\n".encode()
            client.sendall(
                b"HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Type: text/plain\r\n"
                + b"Content-Length: %d\r\n\r\n" % len(text)
                + text
            )

    def _tunnel(self, client: socket.socket, asked: Asked, rest: bytes) -> None:
        self._judge(asked)
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        first = _first_record(client, rest)
        named = server_name(first)
        if named != host_name(asked.host):
            said = f"names '{named}'" if named else "is no TLS that plainly names one host"
            self._record(asked, f"what was sent to '{asked.host}' {said}")
            return
        with self._kept(self._connect(asked)) as server:
            self._pass(first, server)
            self._copy_both(client, server)

    def _forward(self, client, asked: Asked, fields: list[tuple[str, str]], rest: bytes) -> None:
        self._judge(asked)
        length = _length(fields, asked)
        lines = [f"{asked.method} {asked.path} HTTP/1.1", f"Host: {host_name(asked.host)}"]
        lines += [f"{name}: {text}" for name, text in fields if name.lower() in _KEPT]
        head = "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1")
        with self._kept(self._connect(asked)) as server:
            self._pass(head, server)
            piece = rest[:length]
            while piece:
                self._pass(piece, server)
                length -= len(piece)
                piece = client.recv(min(length, _CHUNK)) if length else b""
            while piece := server.recv(_CHUNK):
                self._pass(piece, client)

    def _judge(self, asked: Asked) -> None:
        """Raises _Refused where the rules, or what was used so far, forbid a request."""
        if why := self._rules.refusal(asked):
            raise _Refused(why, asked)
        if self.spent:
            raise _Refused(f"the limit of {self._rules.limit} bytes is reached", asked)
        if self.requests >= MOST_REQUESTS:
            raise _Refused(f"there were {MOST_REQUESTS} requests", asked)

    def _connect(self, asked: Asked) -> socket.socket:
        """A connection to the host's address: looked up once, all of its addresses checked."""
        host = host_name(asked.host)
        try:
            found = self._look_up(host, asked.port)
        except OSError as error:
            raise _Refused(f"'{host}' cannot be looked up: {error}", asked) from None
        for address, _ in found:
            if not self._reachable(address):
                raise _Refused(f"'{host}' leads to {address}, which is not public", asked)
        self._record(asked)
        for place in found:
            with contextlib.suppress(OSError):
                return socket.create_connection(place, _CONNECTING)
        raise OSError(f"'{host}' does not answer")

    def _record(self, asked: Asked, why: str = "") -> None:
        with self._lock:
            if self._closed:
                raise OSError("the proxy has ended")
            self.requests += 1
            number = self.requests
        if number > MOST_REQUESTS + _AT_ONCE:  # the record is bounded as well
            return
        request = EgressRequest(
            number=number,
            method=asked.method,
            host=_shown(asked.host),
            port=asked.port,
            path=_shown(asked.path),
            allowed=not why,
            why=why,
        )
        try:
            self._tell(request)
        except Exception as error:
            self._unrecorded = error
            raise OSError("the request cannot be recorded") from error

    def _pass(self, piece: bytes, target: socket.socket) -> None:
        """Pass bytes on. Raises _Spent where they would exceed the limit."""
        with self._lock:
            if self.bytes + len(piece) > self._rules.limit:
                self.spent = True
                raise _Spent
            self.bytes += len(piece)
        target.sendall(piece)

    def _copy_both(self, client: socket.socket, server: socket.socket) -> None:
        other = {client: server, server: client}
        while other:
            ready, _, _ = select.select(list(other), [], [], _SILENCE)
            if not ready:
                return
            for source in ready:
                if piece := source.recv(_CHUNK):
                    self._pass(piece, server if source is client else client)
                else:
                    other.pop(source).shutdown(socket.SHUT_WR)


def server_name(text: bytes) -> str | None:
    """The host that the first record of TLS names (RFC 8446, RFC 6066); None where it names none.

    None as well for what two readers could read in two ways: a handshake that is not the whole of the
    record, an extension or a name that stands twice, lengths that do not meet. And for one that hides
    another name (encrypted client hello, which some programs send as a decoy).
    """
    with contextlib.suppress(struct.error, IndexError, UnicodeDecodeError, ValueError):
        size = struct.unpack_from("!H", text, 3)[0]
        record = text[5 : 5 + size]
        whole = len(record) == size == 4 + int.from_bytes(record[1:4])
        if text[0] != 22 or record[0] != 1 or not whole:  # a handshake, of a client
            return None
        at = 4 + 2 + 32
        at += 1 + record[at]  # session
        at += 2 + struct.unpack_from("!H", record, at)[0]  # ciphers
        at += 1 + record[at]  # compressions
        if at + 2 + struct.unpack_from("!H", record, at)[0] != size:
            return None
        extensions = dict(found := list(_extensions(record, at + 2)))
        if len(extensions) < len(found) or extensions.keys() & _HIDING:
            return None
        listed = extensions.get(0, b"")
        together, kind, length = struct.unpack_from("!HBH", listed)
        if kind == 0 and len(listed) == 2 + together == 5 + length:
            return host_name(listed[5:].decode("ascii"))
    return None


def _extensions(record: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    while at < len(record):
        kind, size = struct.unpack_from("!HH", record, at)
        at += 4 + size
        if at > len(record):
            raise ValueError("an extension goes beyond its record")
        yield kind, record[at - size : at]


def _first_record(client: socket.socket, text: bytes) -> bytes:
    """The first record of TLS, and what came with it; less where the client ends or sends no TLS."""
    while len(text) < 5 or len(text) < 5 + struct.unpack_from("!H", text, 3)[0]:
        if (text and text[0] != 22) or len(text) > _RECORD:
            break
        piece = client.recv(_CHUNK)
        if not piece:
            break
        text += piece
    return text


def _head(client: socket.socket) -> tuple[str, bytes]:
    """A request up to its empty line, and what came after it."""
    text = b""
    while b"\r\n\r\n" not in text:
        piece = client.recv(_CHUNK)
        if not piece:
            raise OSError("the client ended")
        text += piece
        if len(text) > _HEAD and b"\r\n\r\n" not in text[:_HEAD]:
            raise _Refused("the request's head is longer than 16 KiB")
    head, _, rest = text.partition(b"\r\n\r\n")
    return head.decode("latin-1"), rest


def _parsed(head: str) -> tuple[Asked, list[tuple[str, str]]]:
    """The request and its fields, as a proxy is asked. Raises _Refused for any other form."""
    first, *lines = head.split("\r\n")
    line = _REQUEST.fullmatch(first)
    if not line:
        raise _Refused("this is no request of HTTP/1 to a proxy")
    method, target = line.groups()
    found = [_FIELD.fullmatch(text) for text in lines]
    if not all(found):
        raise _Refused("a field of the request is malformed", Asked(method, _shown(target), 0))
    fields = [(one[1], one[2]) for one in found]
    pattern = (
        r"([^/?#@:]+):(\d{1,5})"
        if method == "CONNECT"
        else r"http://([^/?#@:]+)(?::(\d{1,5}))?([/?]\S*)?"
    )
    place = re.fullmatch(pattern, target)
    if not place:
        raise _Refused("the request names no host by its name", Asked(method, _shown(target), 0))
    path = "" if method == "CONNECT" else place[3] or "/"
    if path.startswith("?"):
        path = f"/{path}"
    return Asked(method, place[1], int(place[2] or HTTP), path.partition("#")[0]), fields


def _length(fields: list[tuple[str, str]], asked: Asked) -> int:
    """Bytes of the request's body. Raises _Refused where two readers could disagree on them."""
    lengths = [text.strip() for name, text in fields if name.lower() == "content-length"]
    if any(name.lower() == "transfer-encoding" for name, _ in fields):
        raise _Refused("a body must have its length", asked)
    if len(lengths) > 1 or any(not re.fullmatch(r"[0-9]{1,12}", text) for text in lengths):
        raise _Refused("the length of the body is not clear", asked)
    return int(lengths[0]) if lengths else 0


def _sweep() -> None:
    """Remove the sockets of processes that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        with contextlib.suppress(FileNotFoundError):  # another command sweeps as well
            if not Path("/proc", owner).exists() and folder.lstat().st_uid == os.geteuid():
                shutil.rmtree(folder, ignore_errors=True)


def _look_up(host: str, port: int) -> list[Address]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys((str(place[4][0]), port) for place in found))


def _shown(text: str) -> str:
    """Of what hostile code sent, as much as is kept, on one line."""
    more = f"... ({len(text)} characters)" if len(text) > _SHOWN else ""
    return text[:_SHOWN].encode("unicode_escape").decode() + more
