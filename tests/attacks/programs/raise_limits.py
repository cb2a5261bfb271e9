"""Raises its own limits."""

import os
import resource

from attack import breach, facts, finish

for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
    hard = resource.getrlimit(kind)[1]
    try:
        resource.setrlimit(kind, (hard + 1, hard + 1))
        breach(f"limit {kind} was raised")
    except (ValueError, OSError):
        pass
try:
    os.nice(-5)
    breach("the priority was raised")
except OSError:
    pass
finish()
