"""Runs a command whose HTTP goes through a socket: the way out of a sandbox without a network.

    python relay.py SOCKET COMMAND...

Listens on the sandbox's own loopback and hands each connection on to the unix socket, behind which a
proxy outside decides; the usual variables name the listener as the proxy. It guards nothing itself:
code that talks to the socket directly meets the same proxy. Imports the standard library only.
"""

import os
import socket
import subprocess
import sys
import threading

_CHUNK = 1 << 16


def main() -> int:
    """Run the command; its exit status, 128 + n for signal n."""
    door, command = sys.argv[1], sys.argv[2:]
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=_serve, args=(listener, door), daemon=True).start()
    proxy = f"http://127.0.0.1:{listener.getsockname()[1]}"
    names = ("http_proxy", "https_proxy", "all_proxy")
    variables = {spelled: proxy for name in names for spelled in (name, name.upper())}
    code = subprocess.run(command, env={**os.environ, **variables}, check=False).returncode
    return code if code >= 0 else 128 - code


def _serve(listener: socket.socket, door: str) -> None:
    while True:
        inner, _ = listener.accept()
        outer = socket.socket(socket.AF_UNIX)
        try:
            outer.connect(door)
        except OSError:
            inner.close()
            continue
        for source, target in ((inner, outer), (outer, inner)):
            threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while piece := source.recv(_CHUNK):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


if __name__ == "__main__":
    sys.exit(main())
