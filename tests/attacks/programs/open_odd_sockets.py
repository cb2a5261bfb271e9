"""Opens sockets by which hypervisors, kernels and raw networks are reached."""

import socket

from attack import attempt, finish

for name, family, kind in (
    ("the hypervisor", 40, socket.SOCK_STREAM),
    ("the kernel's ciphers", 38, socket.SOCK_SEQPACKET),
    ("raw packets", 17, socket.SOCK_RAW),
):
    with attempt(f"a socket to {name}"):
        socket.socket(family, kind).close()
with attempt("a raw socket"):
    socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close()
finish()
