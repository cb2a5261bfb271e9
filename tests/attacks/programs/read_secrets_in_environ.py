"""Looks for a secret of the launching process in every environment that can be read."""

import os
from pathlib import Path

from attack import breach, facts, finish

if facts["variable"] in os.environ:
    breach("the secret is in our environment")
for process in [name for name in os.listdir("/proc") if name.isdigit()]:
    try:
        text = Path(f"/proc/{process}/environ").read_bytes()
    except OSError:
        continue
    if facts["variable"].encode() in text:
        breach(f"the secret is in /proc/{process}/environ")
finish()
