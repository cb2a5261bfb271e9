"""Asks an allowed name whose address becomes a private one after it was looked at."""

import urllib.request

from attack import attempt, finish

urllib.request.urlopen("http://rebound.test/", timeout=10).read()  # public, at first
for _ in range(3):
    with attempt("asking the name again"):
        urllib.request.urlopen("http://rebound.test/", timeout=10).read()
finish()
