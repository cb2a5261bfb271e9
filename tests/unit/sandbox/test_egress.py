"""What a download step may ask: rules, and the proxy that keeps them, against real sockets."""

from __future__ import annotations

import http.server
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from repro_pipeline.bundle.task import Task
from repro_pipeline.sandbox.egress import (
    AllowedHost,
    Asked,
    EgressRequest,
    EgressRules,
    Excluded,
    address_of,
    host_name,
    plain_package,
    public,
)
from resources.egress_proxy import EgressProxy, server_name

DATA = EgressRules(allow=(AllowedHost(host="data.test"),))


def get(path: str = "/", host: str = "data.test", method: str = "GET", port: int = 80) -> Asked:
    return Asked(method, host, port, path)


# The rules ------------------------------------------------------------------------------------


def test_a_host_is_allowed_by_its_whole_name():
    assert DATA.refusal(get(host="Data.TEST.")) == ""
    for other in ("sub.data.test", "data.test.evil.test", "evildata.test", "test"):
        assert "not among the allowed" in DATA.refusal(get(host=other))


@pytest.mark.parametrize(
    "number", ["127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "1.1", "169.254.169.254", "0x"]
)
def test_addresses_in_numbers_are_refused_however_they_are_written(number: str):
    assert "address in numbers" in DATA.refusal(get(host=number))
    with pytest.raises(ValidationError):
        AllowedHost(host=number)


@pytest.mark.parametrize("name", ["", "[::1]", "a b", "a/b", "user@data.test", "dätä.test", "a..b"])
def test_what_is_no_name_is_refused(name: str):
    assert "no name of a host" in DATA.refusal(get(host=name))


def test_method_and_port_are_judged():
    assert "POST is refused" in DATA.refusal(get(method="POST"))
    assert "port 8080" in DATA.refusal(get(port=8080))
    assert "port 22" in DATA.refusal(Asked("CONNECT", "data.test", 22))
    assert DATA.refusal(Asked("CONNECT", "data.test", 443)) == ""


@pytest.mark.parametrize(
    "spelled",
    [
        "https://github.com/Owner/Name",
        "github.com/owner/name",
        "https://www.github.com/owner/name.git",
        "git@github.com:owner/name.git",
        "ssh://git@github.com/owner/name",
        "git+https://github.com/owner/name.git",
        "git://github.com/owner/name",
        "//github.com/owner/name",
        "http://GitHub.com./owner/name",
        "https://me:word@github.com:443/owner/name?tab=x#y",
    ],
)
def test_a_source_is_one_however_it_is_spelled(spelled: str):
    assert address_of(spelled) == ("github.com", ("owner", "name"))


@pytest.mark.parametrize(
    "text", ["", "/", "..", "http://", "https://[x/y", "pip:", "pip: [all]", "name", "a b.test/x"]
)
def test_a_source_that_could_not_be_kept_to_is_refused_in_the_task(text: str):
    with pytest.raises(ValidationError):
        Task(exclude=(text,))


def test_sources_that_can_be_kept_to_are_kept_as_written():
    named = (
        "github.com/Ada",
        "ada/lovelace",
        "pip:Zope.Interface[test]",
        "data.test",
        "git@h.test:a/b",
    )
    assert Task(exclude=named).exclude == named


def rules(*excluded: str) -> EgressRules:
    hosts = ("data.test", "mirror.test", "github.com", "codeload.github.com")
    return EgressRules(allow=tuple(AllowedHost(host=one) for one in hosts), excluded=excluded)


@pytest.mark.parametrize(
    ("host", "path"),
    [
        ("github.com", "/owner/name/archive/main.zip"),
        ("codeload.github.com", "/owner/name/zip/main"),
        ("github.com", "/somebody-else/name"),  # a fork
        ("mirror.test", "/github/owner/name.tar"),  # a mirror
        ("mirror.test", "/x/../owner/%6eame/data.csv"),
        ("mirror.test", "/OWNER%2Fname"),
        ("data.test", "/simple/their-package/"),
        ("data.test", "/files/Their_Package-1.0.tar.gz"),
        ("data.test", "/any/repository.git/info/refs?service=git-upload-pack"),
    ],
)
def test_excluded_sources_are_refused_by_name(host: str, path: str):
    assert rules("github.com/owner/name", "pip:their_package").refusal(get(path, host=host))


@pytest.mark.parametrize(
    "address",
    [
        "https://codeload.github.com/Owner/Name/zip/refs/heads/main",
        "raw.githubusercontent.com/owner/name/main/data.csv",
        "https://api.github.com/repos/owner/name/tarball",
    ],
)
def test_an_address_of_a_repository_s_archive_or_file_is_the_repository(address: str):
    assert address_of(address) == ("github.com", ("owner", "name"))
    some = rules(address)
    assert some.refusal(get("/owner/name/archive/main.zip", host="github.com"))
    assert some.refusal(get("/owner/other/archive/main.zip", host="github.com")) == ""


@pytest.mark.parametrize(
    "spelled", ["zope.interface", "Zope_Interface[test]>=5", " zope-interface"]
)
def test_a_package_is_one_however_it_is_spelled(spelled: str):
    assert Excluded([f"pip:{spelled}"]).packages == {plain_package("zope.interface")}
    assert rules(f"pip:{spelled}").refusal(get("/zope.interface-5.4.tar.gz"))


def test_other_sources_are_not():
    some = rules("github.com/owner/name", "pip:theirs[all]==1.2")
    for path in ("/data/name/digits.csv", "/owner/other", "/theirself-1.0", "/x?u=owner/name"):
        assert some.refusal(get(path)) == "", path


def test_https_to_where_an_excluded_source_may_lie_is_refused_as_a_whole():
    tunnel = Asked("CONNECT", "codeload.github.com", 443)
    assert "HTTPS hides" in rules().refusal(tunnel)
    assert "HTTPS hides" in rules("mirror.test/theirs").refusal(
        Asked("CONNECT", "mirror.test", 443)
    )
    assert rules("mirror.test/theirs").refusal(Asked("CONNECT", "data.test", 443)) == ""


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.0.1", "169.254.169.254", "0.0.0.0"),
        *("100.64.0.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0", "fd00::1"),
        *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:7f00:1::"),
        *("192.0.2.1", "198.18.0.1", "ff02::1", "::127.0.0.1", "::ffff:0:127.0.0.1", "fec0::1"),
        *("64:ff9b:1::a9fe:a9fe", "168.63.129.16", "192.88.99.1", "3fff::1", "5f00::1"),
    ],
)
def test_private_addresses_are_not_public_however_they_are_wrapped(address: str):
    assert not public(address)


def test_public_addresses_are_public():
    assert all(map(public, ("1.1.1.1", "2606:4700::1", "::ffff:1.1.1.1", "64:ff9b::101:101")))


# The proxy ------------------------------------------------------------------------------------


class Site(http.server.BaseHTTPRequestHandler):
    """A site that says what it was asked."""

    seen: list[str]

    def do_GET(self):
        self.seen.append(f"{self.command} {self.path} {self.headers['Host']}")
        length = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(length)
        if self.path == "/away":
            self.send_response(302)
            self.send_header("Location", "http://elsewhere.test/")
            self.end_headers()
            return
        body = b"x" * (1 << 20) if self.path == "/large" else f"{dict(self.headers)}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_):
        return


@pytest.fixture
def site() -> Iterator[tuple[int, list[str]]]:
    """A site on loopback: its port, and what it was asked."""
    handler = type("Handler", (Site,), {"seen": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server.server_port, handler.seen
    server.shutdown()
    thread.join()
    server.server_close()


@contextmanager
def proxied(port: int, rules: EgressRules = DATA, addresses: tuple[str, ...] = ("127.0.0.1",)):
    """A proxy for which every name leads to a port of this host; its record and its socket."""
    told: list[EgressRequest] = []
    proxy = EgressProxy(
        rules,
        told.append,
        look_up=lambda host, _: [(one, port) for one in addresses],
        reachable=lambda address: address == "127.0.0.1",
    )
    with proxy as door:
        yield proxy, told, door


def ask(door: Path, text: bytes) -> bytes:
    """Send bytes to the proxy; all that comes back."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(10)
        line.connect(str(door))
        line.sendall(text)
        answer = b""
        try:
            while piece := line.recv(1 << 16):
                answer += piece
        except ConnectionError:
            return answer
        return answer


def test_an_allowed_request_is_passed_on_and_recorded(site):
    port, seen = site
    with proxied(port) as (proxy, told, door):
        answer = ask(door, b"GET http://data.test/x?y HTTP/1.1\r\nHost: other\r\nA: b\r\n\r\n")
    assert answer.startswith(b"HTTP/1.0 200")
    assert seen == ["GET /x?y data.test"], "the host is the one that was judged"
    assert [(one.host, one.path, one.allowed) for one in told] == [("data.test", "/x?y", True)]
    assert proxy.bytes > len(answer)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"GET http://other.test/ HTTP/1.1\r\n\r\n", "not among the allowed"),
        (b"GET http://127.0.0.1/ HTTP/1.1\r\n\r\n", "address in numbers"),
        (b"GET http://[::1]/ HTTP/1.1\r\n\r\n", "by its name"),
        (b"GET http://data.test@other.test/ HTTP/1.1\r\n\r\n", "by its name"),
        (b"GET / HTTP/1.1\r\nHost: data.test\r\n\r\n", "by its name"),
        (b"GET https://data.test/ HTTP/1.1\r\n\r\n", "by its name"),
        (b"POST http://data.test/ HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", "POST is refused"),
        (b"GET http://data.test:8080/ HTTP/1.1\r\n\r\n", "port 8080"),
        (b"CONNECT data.test:22 HTTP/1.1\r\n\r\n", "port 22"),
        (b"CONNECT data.test:80 HTTP/1.1\r\n\r\n", "port 80"),
        (b"GET http://data.test/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "its length"),
        (b"GET http://data.test/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n", "not clear"),
        (b"GET http://data.test/ HTTP/1.1\r\nA: b\r\n c: d\r\n\r\n", "malformed"),
        (b"GET http://data.test/ HTTP/1.1\r\nA: b\nHost: x\r\n\r\n", "malformed"),
        (b"GET http://data.test/ HTTP/1.1\r\nA" + b"a" * 20000 + b": b\r\n\r\n", "16 KiB"),
        (b"GET http://data.test/\x00 HTTP/1.1\r\n\r\n", "no request"),
        (b"GET http://data.test/\x08 HTTP/1.1\r\n\r\n", "no request"),
        (b"\x16\x03\x01 what is this\r\n\r\n", "no request"),
    ],
)
def test_what_is_refused_reaches_nobody_and_is_recorded(site, text: bytes, why: str):
    port, seen = site
    with proxied(port) as (_, told, door):
        answer = ask(door, text)
    assert answer.startswith(b"HTTP/1.1 403") and why.encode() in answer
    assert seen == []
    assert [one.allowed for one in told] == [False] and why in told[0].why


def test_a_second_request_on_a_connection_is_not_passed_on(site):
    port, seen = site
    both = b"GET http://data.test/one HTTP/1.1\r\n\r\nPOST http://data.test/two HTTP/1.1\r\n\r\n"
    with proxied(port) as (_, told, door):
        ask(door, both)
    assert [line.split()[1] for line in seen] == ["/one"] and len(told) == 1


def test_nothing_after_a_request_reaches_its_server():
    with socket.create_server(("127.0.0.1", 0)) as server:
        posting = DATA.model_copy(
            update={"allow": (AllowedHost(host="data.test", methods=("POST",)),)}
        )
        with (
            proxied(server.getsockname()[1], posting) as (_, _, door),
            socket.socket(socket.AF_UNIX) as line,
        ):
            line.connect(str(door))
            head = b"POST http://data.test/one HTTP/1.1\r\nContent-Length: 3\r\n\r\n"
            line.sendall(head + b"abcGET http://data.test/two HTTP/1.1\r\n\r\n")
            server.settimeout(10)
            end, _ = server.accept()
            with end:
                end.settimeout(0.3)
                seen = b""
                with suppress(TimeoutError):
                    while piece := end.recv(1000):
                        seen += piece
        assert seen.endswith(b"\r\n\r\nabc")


@pytest.mark.parametrize(
    "name",
    [
        *("X-Original-URL", "X-Rewrite-URL", "X-HTTP-Method-Override", "X-Forwarded-Host"),
        *("Forwarded", "Upgrade", "HTTP2-Settings", "Sec-WebSocket-Key", "Transfer_Encoding"),
        *("Connection", "TE", "Proxy-Connection", "X-Anything"),
    ],
)
def test_a_field_that_may_say_something_else_than_the_request_is_not_passed_on(site, name: str):
    port, _ = site
    asked = f"GET http://data.test/ HTTP/1.1\r\nUser-Agent: me\r\n{name}: other\r\n\r\n"
    with proxied(port) as (_, _, door):
        answer = ask(door, asked.encode()).decode()
    assert "'User-Agent': 'me'" in answer and "other" not in answer


def test_what_cannot_be_recorded_is_not_passed_on_and_not_hidden(site):
    port, seen = site

    def tell(_):
        raise OSError("no space left")

    proxy = EgressProxy(
        DATA, tell, look_up=lambda *_: [("127.0.0.1", port)], reachable=lambda _: True
    )
    with pytest.raises(OSError, match="no space left"), proxy as door:
        assert ask(door, b"GET http://data.test/ HTTP/1.1\r\n\r\n") == b""
    assert seen == []


def test_nothing_is_asked_or_recorded_after_the_end(site):
    port, seen = site
    told: list[EgressRequest] = []
    looking, end = threading.Event(), threading.Event()

    def look_up(*_):
        looking.set()
        end.wait(10)
        return [("127.0.0.1", port)]

    proxy = EgressProxy(DATA, told.append, look_up=look_up, reachable=lambda _: True)
    with proxy as door:
        line = socket.socket(socket.AF_UNIX)
        line.connect(str(door))
        line.sendall(b"GET http://data.test/ HTTP/1.1\r\n\r\n")
        assert looking.wait(10)
        threading.Timer(0.2, end.set).start()
    line.close()
    assert told == [] and seen == [] and proxy.requests == 0


def test_a_long_path_says_that_there_was_more_of_it(site):
    port, _ = site
    path = "/" + "x" * 3000
    with proxied(port) as (_, told, door):
        ask(door, f"GET http://data.test{path} HTTP/1.1\r\n\r\n".encode())
    assert told[0].path == path[:500] + "... (3001 characters)"


def test_leftovers_of_others_and_long_paths_stop_no_download(site, tmp_path, monkeypatch):
    folder = tmp_path / ("long-" * 20)
    folder.mkdir()
    (folder / "repro-egress-x-dangling").symlink_to(tmp_path / "nowhere")
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with proxied(site[0]) as (_, _, door):
        assert door.is_socket()


def test_a_redirect_is_a_request_of_its_own(site):
    port, seen = site
    with proxied(port) as (_, told, door):
        assert b"elsewhere.test" in ask(door, b"GET http://data.test/away HTTP/1.1\r\n\r\n")
        assert b"403" in ask(door, b"GET http://elsewhere.test/ HTTP/1.1\r\n\r\n")
    assert len(seen) == 1 and [one.allowed for one in told] == [True, False]


def test_a_name_that_leads_to_a_private_address_is_refused(site):
    port, seen = site
    for addresses in (("10.0.0.1",), ("127.0.0.1", "169.254.169.254")):
        with proxied(port, addresses=addresses) as (_, told, door):
            assert b"not public" in ask(door, b"GET http://data.test/ HTTP/1.1\r\n\r\n")
        assert not told[0].allowed
    assert seen == []


def test_a_name_that_changes_is_looked_up_once(site):
    port, seen = site
    answers = iter([[("127.0.0.1", port)], [("127.0.0.2", port)]])
    told: list[EgressRequest] = []
    proxy = EgressProxy(
        DATA,
        told.append,
        look_up=lambda *_: next(answers),
        reachable=lambda one: one == "127.0.0.1",
    )
    with proxy as door:
        assert b"200" in ask(door, b"GET http://data.test/ HTTP/1.1\r\n\r\n")
        assert b"127.0.0.2, which is not public" in ask(
            door, b"GET http://data.test/ HTTP/1.1\r\n\r\n"
        )
    assert len(seen) == 1


def test_no_byte_is_passed_on_beyond_the_limit(site):
    port, _ = site
    small = DATA.model_copy(update={"limit": 300_000})
    with proxied(port, small) as (proxy, told, door):
        assert len(ask(door, b"GET http://data.test/large HTTP/1.1\r\n\r\n")) <= 300_000
        assert proxy.spent and proxy.bytes <= 300_000
        assert b"limit of 300000 bytes" in ask(door, b"GET http://data.test/ HTTP/1.1\r\n\r\n")
    assert [one.allowed for one in told] == [True, False]


@cache
def hello(name: str | None) -> bytes:
    """The first record of a real client of TLS."""
    context = ssl.create_default_context()
    context.check_hostname = name is not None
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname=name).do_handshake()
    return outgoing.read()


def test_the_name_in_a_handshake_is_read():
    assert server_name(hello("data.test")) == "data.test"
    assert server_name(hello(None)) is None


def handshake(name: str, *extensions: bytes, session: bytes = b"") -> bytes:
    """A client's hello, with further extensions behind its name."""
    listed = struct.pack("!BH", 0, len(name)) + name.encode()
    first = extension(0, struct.pack("!H", len(listed)) + listed)
    block = b"".join((first, *extensions))
    body = b"\x03\x03" + bytes(32) + bytes([len(session)]) + session
    body += b"\x00\x02\x13\x01" + b"\x01\x00" + struct.pack("!H", len(block)) + block
    return b"\x01" + len(body).to_bytes(3) + body


def extension(kind: int, content: bytes) -> bytes:
    return struct.pack("!HH", kind, len(content)) + content


def records(*parts: bytes) -> bytes:
    return b"".join(b"\x16\x03\x01" + struct.pack("!H", len(one)) + one for one in parts)


def test_a_name_is_read_where_every_reader_reads_the_same():
    plain, other = handshake("data.test"), handshake("other.test")
    assert server_name(records(plain)) == server_name(records(plain) + b"more") == "data.test"
    named_again = other[other.index(b"\x00\x00\x00\x0f\x00\x0d") :]
    for doubtful in (
        records(plain[:50], plain[50:]),
        records(plain + b"\x00"),
        records(plain + other),
        records(plain)[:-1],
        records(handshake("data.test", named_again)),
        records(handshake("data.test", extension(16, b"x")[:-1])),
        records(handshake("data.test", extension(0xFE0D, b"encrypted"))),
        records(handshake("data.test", extension(0xFFCE, b"encrypted"))),
        records(plain.replace(b"\x00\x0e\x00\x0c\x00\x00\x09", b"\x00\x0e\x00\x0c\x01\x00\x09")),
    ):
        assert server_name(doubtful) is None


def test_a_name_is_not_read_over_the_end_of_a_record():
    """Read without the second record's header, this is for other.test; read with it, for data.test."""
    forged = handshake("data.test")[43:]  # from its compressions on
    laid_out = handshake("other.test", extension(21, forged), session=b"s" * 32)
    to_it = laid_out.index(forged) - 68  # from behind the two bytes that are read as a length
    session = b"s" * 27 + struct.pack("!H", to_it) + b"sss"
    hello = handshake("other.test", extension(21, forged), session=session)
    assert server_name(records(hello)) == "other.test"
    assert server_name(records(hello[:39], hello[39:])) is None


@given(st.binary(max_size=300), st.integers(0, 600))
def test_no_bytes_break_the_reader_of_handshakes(noise: bytes, cut: int):
    server_name(noise)
    server_name(hello("data.test")[:cut] + noise)


def test_a_tunnel_carries_tls_to_its_host_and_nothing_else():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        server.settimeout(10)
        with proxied(port) as (_, told, door), socket.socket(socket.AF_UNIX) as line:
            line.connect(str(door))
            line.sendall(b"CONNECT data.test:443 HTTP/1.1\r\n\r\n")
            assert line.recv(1000).startswith(b"HTTP/1.1 200")
            first = hello("data.test")
            line.sendall(first)
            end, _ = server.accept()
            assert end.recv(1 << 16) == first and told[0].allowed
            end.sendall(b"answer")
            assert line.recv(100) == b"answer"
            end.close()
        server.settimeout(0.2)
        for first in (
            hello("other.test"),
            hello(None),
            b"SSH-2.0-x\r\n",
            b"GET / HTTP/1.1\r\n\r\n",
        ):
            with proxied(port) as (_, told, door):
                ask(door, b"CONNECT data.test:443 HTTP/1.1\r\n\r\n" + first)
            with pytest.raises(TimeoutError):
                server.accept()
            assert [one.allowed for one in told] == [False]


def test_the_end_of_the_proxy_ends_its_connections_and_leaves_no_file(site):
    port, _ = site
    with proxied(port) as (_, _, door):
        line = socket.socket(socket.AF_UNIX)
        line.connect(str(door))
        line.sendall(b"GET http://data.test/ HT")
    with line:
        line.settimeout(10)
        with suppress(ConnectionResetError):  # it was not even taken up
            assert line.recv(10) == b""
    assert not door.parent.exists()


def test_names_of_hosts_have_one_spelling():
    assert host_name("Data.Test.") == "data.test"
