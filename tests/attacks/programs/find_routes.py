"""Looks for a way to the internet, to the metadata service and to the local network."""

import socket

from attack import attempt, finish

for address in ("192.0.2.1", "169.254.169.254", "10.0.0.1", "8.8.8.8"):
    with attempt(f"a route to {address}"), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        door.connect((address, 53))  # looks up a route and sends nothing
finish()
