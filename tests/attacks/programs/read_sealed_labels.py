"""Looks for the test labels: where the grader has them, beside the data, and in all that it can see."""

import os
from pathlib import Path

from attack import attempt, breach, facts, finish

with attempt("reading the labels where the grader has them"):
    Path(facts["labels"]).read_bytes()
with attempt("reading the labels beside the data"):
    (Path(facts["data"]).parents[1] / "sealed" / "labels.csv").read_bytes()
for top in (*facts["scratch_folders"], "/data", "/work", "/out", "/env", "/etc", "/root", "/home"):
    for folder, _, names in os.walk(top):
        if "labels.csv" in names:
            breach(f"the labels lie in {folder}")
finish()
