"""Leaves names that break lines, terminals and encodings."""

import os

from attack import facts, finish

for name in (b"line\nbreak", b"escape\x1b[2J", b"not-\xff-utf8", b"-rf", "\u202etxt.exe".encode()):
    with open(os.path.join(facts["out"].encode(), name), "w") as stream:
        stream.write("x")
finish()
