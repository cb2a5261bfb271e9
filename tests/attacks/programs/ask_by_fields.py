"""Tells the server by other fields, or by odd spellings, another host, path or method than it asks for."""

import os
import socket
from urllib.parse import urlsplit

from attack import breach, facts, finish

proxy = urlsplit(os.environ["http_proxy"])
host = facts["allowed_host"].encode()
for field in (
    b"Host: evil.test",
    b"X-Original-URL: /owner/target",
    b"X-Rewrite-URL: /owner/target",
    b"X-HTTP-Method-Override: DELETE",
    b"X-Forwarded-Host: evil.test",
    b"Forwarded: host=evil.test",
    b"Host : evil.test",
    b"A: b\rX-Original-URL: /owner/target",
    b"A: b\nX-Original-URL: /owner/target",
    b"A: b\r\n X-Original-URL: /owner/target",
    b"A: b\x85X-Original-URL: /owner/target",
    b"A: b\x00\r\nX-Original-URL: /owner/target",
    b"Range: bytes=0-\r\nX_Original_URL: /owner/target",
):
    with socket.create_connection((proxy.hostname, proxy.port), 2) as line:
        line.sendall(b"GET http://%b/ HTTP/1.1\r\nHost: %b\r\n%b\r\n\r\n" % (host, host, field))
        line.settimeout(5)
        answer = b""
        try:
            while piece := line.recv(1 << 16):
                answer += piece
        except OSError:
            pass
    if b"treasure" in answer and b"X-Served: GET / %b\r\n" % host not in answer:
        breach(f"{field!r} was heard")
finish()
