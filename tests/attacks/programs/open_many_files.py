"""Opens files without end."""

import os

from attack import attempt, facts, finish

with attempt("opening more files than the limit"):
    for _ in range(facts["open_files_limit"] + 1):
        os.open("/dev/null", os.O_RDONLY)
finish()
