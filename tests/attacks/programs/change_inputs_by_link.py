"""Gives its input a second name in a folder that it may write, and writes there."""

import os
from pathlib import Path

from attack import attempt, facts, finish

with attempt("hard-linking the data"):
    os.link(facts["data"], Path(facts["out"], "alias"))
    Path(facts["out"], "alias").write_text("changed")
finish()
