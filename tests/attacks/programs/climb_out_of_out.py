"""Climbs out of the output folder."""

from pathlib import Path

from attack import attempt, facts, finish

with attempt("climbing out by .."):
    Path(facts["out"] + "/.." * 20 + facts["secret_file"]).read_text()
finish()
