"""The runners by name; `resources.runners` makes them."""

from __future__ import annotations

from typing import Literal, get_args

RunnerName = Literal["bubblewrap", "docker", "unsafe_local"]
RUNNERS: tuple[RunnerName, ...] = get_args(RunnerName)
