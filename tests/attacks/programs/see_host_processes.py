"""Looks for the host's processes."""

import os
from pathlib import Path

from attack import breach, facts, finish

for process in [name for name in os.listdir("/proc") if name.isdigit()]:
    try:
        line = Path(f"/proc/{process}/cmdline").read_text(errors="replace")
    except OSError:
        continue
    if facts["marker"] in line:
        breach("a process of the host is seen")
finish()
