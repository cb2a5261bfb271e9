"""Leaves folders that their collector cannot enter or remove."""

import os
from pathlib import Path

from attack import facts, finish

folder = Path(facts["out"], "closed")
folder.mkdir()
(folder / "file").write_text("x")
(folder / "file").chmod(0)
folder.chmod(0)
os.chmod(facts["out"], 0)
finish()
