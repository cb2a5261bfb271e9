"""Opens the memory of the process that launched it."""

from pathlib import Path

from attack import attempt, facts, finish

with attempt("opening the memory of the launcher"):
    Path(f"/proc/{facts['pid']}/mem").open("rb").close()
with attempt("reading the memory map of the launcher"):
    Path(f"/proc/{facts['pid']}/maps").read_text()
finish()
