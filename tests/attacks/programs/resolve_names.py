"""Resolves names, by which data can leave."""

import socket
from pathlib import Path

from attack import attempt, breach, facts, finish

with attempt("resolving a name of the internet"):
    socket.getaddrinfo("example.com", 80)
servers = Path("/etc/resolv.conf")
if servers.exists() and "nameserver" in servers.read_text():
    breach("the name servers of the host are known")
if facts["hostname"] == socket.gethostname():
    breach("the name of the host is known")
finish()
