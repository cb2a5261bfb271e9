"""Leaves things among its results that hang or confuse a reader."""

import os
import socket
from pathlib import Path

from attack import facts, finish

os.chdir(facts["out"])
os.mkfifo("predictions.parquet")
server = socket.socket(socket.AF_UNIX)
server.bind("socket")
Path("sound.txt").write_text("sound")
finish()
