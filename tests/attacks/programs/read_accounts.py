"""Reads the host's accounts and passwords."""

from pathlib import Path

from attack import attempt, breach, finish

with attempt("reading /etc/shadow"):
    Path("/etc/shadow").read_text()
if len(Path("/etc/passwd").read_text().splitlines()) > 1:
    breach("the host's accounts are seen")
finish()
