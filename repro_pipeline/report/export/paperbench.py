"""A PaperBench submission: a git repository with `reproduce.sh` at its top, of at most 1 GB.

The rules are those of the benchmark's instructions to candidates (Starace et al., PaperBench, 2025):
the repository holds all code that is needed, `reproduce.sh` makes the results, and what is committed
is at most 1 GB.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from repro_pipeline.errors import UserError
from repro_pipeline.report.export.material import Material
from repro_pipeline.report.export.readme import readme
from repro_pipeline.report.export.runnable import write_runnable

LIMIT = 1_000_000_000
"""Bytes of all committed files together."""


def write_paperbench(material: Material, folder: Path, *, limit: int = LIMIT) -> None:
    """Write the submission into an empty folder and commit it.

    It holds no result and no recorded value: the script has to make them. Raises UserError where it
    is larger than `limit` bytes, or git is missing.
    """
    write_runnable(material, folder, values=False)
    (folder / "README.md").write_text(readme(material, "paperbench"), encoding="utf-8")
    (folder / ".gitignore").write_text("/.venv/\n/results/\n", encoding="utf-8")
    size = sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
    if size > limit:
        raise UserError(
            f"the submission has {size:,} bytes, and PaperBench takes {limit:,}.",
            where=material.paper,
            hint="Take large files out of code/ and data/, and let the code make or fetch them.",
        )
    _git(folder, "init", "--quiet", "--initial-branch=main")
    _git(folder, "add", "--all", "--force", ".")
    _git(folder, "commit", "--quiet", "--message", f"Reproduction of {material.paper}", at=material)


def _git(folder: Path, *arguments: str, at: Material | None = None) -> None:
    """Run git with no configuration of its user; commits bear the report's time, so they are the same."""
    variables = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    if at is not None:
        for role in ("AUTHOR", "COMMITTER"):
            variables |= {
                f"GIT_{role}_NAME": "repro-pipeline",
                f"GIT_{role}_EMAIL": "repro-pipeline@localhost",
                f"GIT_{role}_DATE": at.report.generated_at.isoformat(timespec="seconds"),
            }
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), "-c", "core.hooksPath=/dev/null", *arguments],
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise UserError("git is not installed.", hint="A submission is a git repository.") from None
    if done.returncode:
        raise UserError(f"git failed: {done.stderr.strip()}", where=str(folder))
