"""Changes its root folder."""

import os

from attack import attempt, finish

os.makedirs("jail", exist_ok=True)
child = os.fork()
if child == 0:
    with attempt("chroot"):
        os.chroot("jail")
    os._exit(0)
os.waitpid(child, 0)
with attempt("setting the host's name"):
    import socket

    socket.sethostname(socket.gethostname())
finish()
