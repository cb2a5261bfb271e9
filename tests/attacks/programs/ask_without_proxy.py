"""Leaves the proxy aside: looks for a network, and puts another socket in the proxy's place."""

import os
import socket

from attack import attempt, facts, finish

for place in (("127.0.0.1", facts["port"]), ("192.0.2.1", 80), ("169.254.169.254", 80)):
    with attempt(f"connecting to {place}"):
        socket.create_connection(place, 2).close()
with attempt("looking up a name"):
    socket.getaddrinfo("data.test", 80)
with attempt("removing the proxy's socket"):
    os.unlink(facts["door"])
with attempt("renaming the proxy's socket"):
    os.rename(facts["door"], "/out/door")
with attempt("changing the proxy's socket"):
    os.chmod(facts["door"], 0)
finish()
