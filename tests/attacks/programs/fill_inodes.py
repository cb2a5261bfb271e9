"""Fills the file system with empty files."""

from attack import facts

for number in range(10_000_000):
    open(f"{facts['out']}/{number}", "wb").close()
