"""A runner with fresh folders, for one run."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from repro_pipeline.ports import Runner
from repro_pipeline.sandbox.policy import Limits, Mount, RunOutcome, SandboxPolicy

BASE = Path(sys.base_prefix).resolve()
PYTHON_MOUNTS = () if BASE.is_relative_to("/usr") else (Mount(source=BASE, target=BASE),)


@dataclass
class Bench:
    """A runner, with fresh folders for one run."""

    runner: Runner
    folder: Path

    def run(self, *command: str, policy: SandboxPolicy | None = None, **more) -> RunOutcome:
        """Run a command; `more` goes to the runner."""
        policy = policy or SandboxPolicy(limits=Limits(wall_clock=30))
        return self.runner.run(command, policy, **self.places, **more)

    def python(self, program: str, policy: SandboxPolicy | None = None, **more) -> RunOutcome:
        """Run a Python program."""
        policy = policy or SandboxPolicy(limits=Limits(wall_clock=30))
        policy = policy.model_copy(update={"mounts": (*policy.mounts, *PYTHON_MOUNTS)})
        interpreter = str(Path(sys.executable).resolve())
        return self.run(interpreter, "-S", "-c", program, policy=policy, **more)

    def inside(self, path: Path, policy: SandboxPolicy | None = None) -> str:
        """Where the run sees a path."""
        policy = policy or SandboxPolicy()
        return self.runner.inside(path, policy, workdir=self.folder / "work", out=self.out)

    @property
    def places(self) -> dict[str, Path]:
        """The three paths that a run is given."""
        return {"workdir": self.folder / "work", "out": self.out, "log": self.folder / "log"}

    @property
    def out(self) -> Path:
        """The output folder."""
        return self.folder / "out"

    @property
    def said(self) -> str:
        """What the last run printed."""
        return (self.folder / "log").read_text()
