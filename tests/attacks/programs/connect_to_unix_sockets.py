"""Connects to sockets of the host: by a name in the kernel, and by a file."""

import socket

from attack import attempt, facts, finish

for name in ("\0" + facts["abstract_socket"], facts["unix_socket"]):
    with attempt("connecting to a socket of the host"), socket.socket(socket.AF_UNIX) as door:
        door.settimeout(1)
        door.connect(name)
finish()
