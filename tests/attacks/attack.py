"""What an attacking program knows and says: BREACH for each attempt that works, HELD if none did."""

import contextlib
import json
from pathlib import Path

facts = json.loads(Path("facts.json").read_text())
_breaches = []


def breach(what):
    """An attempt worked."""
    _breaches.append(what)
    print(f"BREACH: {what}", flush=True)


@contextlib.contextmanager
def attempt(what):
    """An attempt that works if its body comes to its end."""
    try:
        yield
    except OSError as error:
        print(f"refused: {what}: {error}", flush=True)
    else:
        breach(what)


def finish():
    """Say that all was tried and nothing worked; a program that breaks off says neither."""
    if not _breaches:
        print("HELD", flush=True)
