"""Reads a file of the host that was not given."""

from pathlib import Path

from attack import attempt, facts, finish

with attempt("reading a file of the host"):
    Path(facts["secret_file"]).read_text()
finish()
