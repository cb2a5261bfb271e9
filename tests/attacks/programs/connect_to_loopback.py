"""Connects to a service on the host's loopback, by TCP over IPv4 and IPv6."""

import socket

from attack import attempt, facts, finish

for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0"):
    with attempt(f"connecting to {host}"):
        socket.create_connection((host, facts["port"]), 1).close()
finish()
