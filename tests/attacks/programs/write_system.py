"""Writes where the system lives."""

from pathlib import Path

from attack import attempt, finish

for folder in ("/", "/usr", "/usr/bin", "/usr/lib", "/etc", "/dev", "/bin"):
    path = Path(folder, "repro-attack")
    with attempt(f"writing to {folder}"):
        path.touch()
        path.unlink()
finish()
