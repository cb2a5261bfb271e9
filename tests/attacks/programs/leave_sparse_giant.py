"""Leaves files that take no room and are a terabyte to read."""

from pathlib import Path

from attack import attempt, facts, finish

with attempt("a file of 1 TB"), Path(facts["out"], "giant").open("wb") as stream:
    stream.truncate(1 << 40)
for number in range(40):
    with Path(facts["out"], f"part-{number}").open("wb") as stream:
        stream.truncate(facts["output_limit"])
finish()
