"""Sends datagrams to a service of the host, as a query to its name server would be."""

import socket

from attack import facts, finish

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
    door.sendto(b"hello", ("127.0.0.1", facts["udp_port"]))
finish()
