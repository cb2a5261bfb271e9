"""Writes to its input through a symbolic link and through a descriptor's name."""

import os
from pathlib import Path

from attack import attempt, facts, finish

link = Path(facts["out"], "alias")
link.symlink_to(facts["data"])
with attempt("writing through a link"):
    link.write_text("changed")
with Path(facts["data"]).open("rb") as stream, attempt("writing through /proc/self/fd"):
    os.close(os.open(f"/proc/self/fd/{stream.fileno()}", os.O_WRONLY))
finish()
