"""Looks for its control group, to leave it or to raise its limits."""

import os

from attack import attempt, breach, finish

with attempt("listing control groups"):
    os.listdir("/sys/fs/cgroup")
with open("/proc/self/cgroup") as stream:
    paths = {line.strip().split(":", 2)[2] for line in stream}
if any("repro-sandbox" in path for path in paths):
    breach("the place of our control group is seen")
finish()
