"""Asks hosts that were not allowed, among them by a redirect, a user's name, and another field."""

import urllib.request

from attack import attempt, facts, finish

allowed = facts["allowed_host"]
for url in (
    "http://evil.test/",
    f"http://{allowed}.evil.test/",
    f"http://{allowed}@evil.test/",
    f"http://{allowed}/redirect-to-evil",
    "http://metadata.google.internal/computeMetadata/v1/",
    "https://evil.test/",
):
    with attempt(f"asking {url}"):
        urllib.request.urlopen(url, timeout=10).read()
finish()
