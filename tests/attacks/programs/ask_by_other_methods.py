"""Sends data out by methods that are not allowed."""

import urllib.request

from attack import attempt, facts, finish

for method in ("POST", "PUT", "DELETE", "PATCH", "TRACE", "get"):
    asked = urllib.request.Request(f"http://{facts['allowed_host']}/", b"secret", method=method)
    with attempt(f"sending data by {method}"):
        urllib.request.urlopen(asked, timeout=10).read()
finish()
