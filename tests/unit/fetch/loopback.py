"""A server on this machine that answers as it is told: it stands in for arXiv, publishers and GROBID."""

from __future__ import annotations

import gzip
import io
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

TEX = rb"""\documentclass{article}
\begin{document}
\title{A Fetched Paper}
\maketitle
\section{Results}
\begin{table}\caption{Accuracy.}
\begin{tabular}{lrr}\hline
Model & Clean & Noisy \\ \hline
Plain & 93.2 & 81.7 \\
Deep & 95.4 & 88.1 \\ \hline
\end{tabular}\end{table}
\end{document}
"""


def tar_gz(**files: bytes) -> bytes:
    """An e-print as most are; `__` in a name stands for a dot."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name.replace("__", "."))
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(buffer.getvalue())


@dataclass
class Answer:
    """What a request gets. `length` is what the header promises; None leaves it out."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = -1
    wait: float = 0
    endless: bool = False


class Server:
    """Answers per path, in order; the last one stands for all further requests."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer | Callable[[bytes], Answer]]] = {}
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[bytes] = []
        self.at: list[float] = []
        self.open = self.most_open = 0
        self.url = ""
        self._lock = threading.Lock()

    def on(self, path: str, *answers: Answer | Callable[[bytes], Answer]) -> Server:
        """What requests for a path get."""
        self.answers[path] = list(answers)
        return self

    def next(self, path: str, body: bytes) -> Answer:
        waiting = self.answers.get(path, [Answer(b"no such thing", 404)])
        answer = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return answer(body) if callable(answer) else answer


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            with server._lock:
                server.asked.append(urlsplit(self.path).path)
                server.headers.append(dict(self.headers))
                server.bodies.append(body)
                server.at.append(time.monotonic())
                server.open += 1
                server.most_open = max(server.most_open, server.open)
            try:
                self.reply(server.next(urlsplit(self.path).path, body))
            except (BrokenPipeError, ConnectionResetError):
                pass
            finally:
                with server._lock:
                    server.open -= 1

        do_POST = do_GET

        def reply(self, answer: Answer) -> None:
            time.sleep(answer.wait)
            self.close_connection = True
            if answer.status == 0:
                return  # the connection is closed without a word
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.length is not None and not answer.endless:
                length = len(answer.body) if answer.length == -1 else answer.length
                self.send_header("Content-Length", str(length))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(answer.body)
            while answer.endless:
                self.wfile.write(b"%" * (1 << 16))

        def log_message(self, *args: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    server.url = f"http://127.0.0.1:{http.server_port}"
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
