"""Writes the results of another run."""

from pathlib import Path

from attack import attempt, facts, finish

with attempt("writing another run's metrics"):
    Path(facts["other_out"], "metrics.json").write_text("{}")
finish()
