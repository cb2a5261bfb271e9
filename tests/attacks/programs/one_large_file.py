"""Writes one file beyond the limit, faster than a supervisor looks."""

import os

from attack import attempt, facts, finish

with attempt("a file beyond the limit"):
    handle = os.open(f"{facts['out']}/large", os.O_WRONLY | os.O_CREAT)
    os.pwrite(handle, b"x", facts["output_limit"] + 1)
finish()
