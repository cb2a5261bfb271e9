"""A CORE-Bench capsule and its task: `code/ data/ results/ environment/`, and a file of questions."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from repro_pipeline.errors import FileFormatError
from repro_pipeline.imports.record import ImportFault

Difficulty = Literal["easy", "medium", "hard"]
"""easy: the results are there, nothing is run. medium: the capsule's run script is run. hard: neither
results nor run script are used; the command is given."""
_SCRIPTS = ("code/run", "code/run.sh", "run.sh", "run")
_INSTALLS = re.compile(r"\bpip[\d.]*\s+install\s+(.*)")
_PYTHON = re.compile(r"python[:\-_]?(3\.\d+)", re.I)
_REQUIREMENT = re.compile(r"[A-Za-z][\w.-]*(?:\[[\w,-]+\])?(?:[=<>!~]=?[\w.*+!,<>=~-]+)?")
_LARGEST = 64 << 20

Answer = bool | int | float | str | list | None


class CoreTask(BaseModel):
    """A task of the benchmark; what else its file says of it is not needed."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    capsule_id: str
    task_prompt: str = ""
    capsule_title: str = ""
    field: str = ""
    language: str = ""
    results: tuple[dict[str, Any], ...] = Field(min_length=1)
    """One mapping of question to answer for each run of the original code."""


def read_tasks(path: Path) -> tuple[CoreTask, ...]:
    """The tasks of a file. Raises FileFormatError saying what is wrong with it."""
    try:
        if path.stat().st_size > _LARGEST:
            raise FileFormatError(f"has more than {_LARGEST >> 20} MiB.", where=str(path))
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise FileFormatError(f"cannot be read: {error.strerror}.", where=str(path)) from None
    except UnicodeDecodeError:
        raise FileFormatError("is not UTF-8.", where=str(path)) from None
    try:
        value = json.loads(text)
        tasks = TypeAdapter(tuple[CoreTask, ...]).validate_python(value)
    except (ValueError, RecursionError) as error:
        said = error.errors()[0] if isinstance(error, ValidationError) else None
        what = f"{'.'.join(map(str, said['loc']))}: {said['msg']}" if said else str(error)
        raise FileFormatError(f"is no file of tasks: {what}.", where=str(path)) from None
    for task in tasks:
        if any(set(run) != set(task.results[0]) for run in task.results):
            raise FileFormatError(
                "its runs answer different questions.", where=f"{path}: {task.capsule_id}"
            )
    return tasks


def task_for(tasks: Sequence[CoreTask], name: str | None, capsule: Path | None) -> CoreTask:
    """The task of that id, else of the capsule's folder name, else the only one."""
    wanted = name or (capsule.resolve().name if capsule else "")
    for task in tasks:
        if task.capsule_id == wanted:
            return task
    if name is None and len(tasks) == 1:
        return tasks[0]
    raise ImportFault(
        f"no task is of '{wanted}'.",
        where="--tasks",
        hint=f"Name one with --id: {', '.join(task.capsule_id for task in tasks[:5])}, …",
    )


def check_capsule(capsule: Path) -> None:
    """Raise ImportFault for what is no capsule."""
    if not (capsule / "code").is_dir():
        raise ImportFault(
            "has no folder code/.",
            where=str(capsule),
            hint="A capsule is a folder with code/, and data/, results/, environment/.",
        )


def run_command(capsule: Path, given: str | None, difficulty: Difficulty) -> list[str]:
    """The command, run in `code/`. Raises ImportFault where there is none."""
    if given:
        return ["bash", "-c", f"cd code && {given}"]
    script = next((name for name in _SCRIPTS if (capsule / name).is_file()), None)
    if difficulty == "hard" or script is None:
        why = "The run script is not used at `hard`" if difficulty == "hard" else "There is none"
        doc = next(iter(sorted(capsule.rglob("REPRODUCING.md"))), None)
        seen = f" {doc.relative_to(capsule)} says more." if doc else ""
        raise ImportFault(
            f"how its code is run is not said. {why}.",
            where=str(capsule),
            hint=f"Give it with --command, as it is typed in code/.{seen}",
        )
    inner = script.removeprefix("code/")
    return (
        ["bash", "-c", f"cd code && exec bash {shlex.quote(inner)}"]
        if (script.startswith("code/"))
        else ["bash", inner]
    )


def container_packages(capsule: Path) -> tuple[list[str], str | None]:
    """The Python packages that the capsule's Dockerfile installs by pip, and its Python's version."""
    path = capsule / "environment" / "Dockerfile"
    if not path.is_file():
        return [], None
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = re.sub(r"\\\s*\n", " ", text).splitlines()
    found: list[str] = []
    for line in lines:
        for step in re.split(r"&&|;", line):
            if installed := _INSTALLS.search(step):
                try:
                    words = shlex.split(installed[1])
                except ValueError:
                    continue
                found += [word for word in words if _REQUIREMENT.fullmatch(word)]
    python = _PYTHON.search(next((one for one in lines if one.startswith("FROM")), ""))
    return list(dict.fromkeys(found)), python[1] if python else None


def absolute_results(capsule: Path) -> list[str]:
    """Where scripts write to `/results`, which a run here does not have: file:line."""
    places = []
    for path in sorted((capsule / "code").rglob("*")):
        if path.is_file() and path.suffix.lower() in {".py", ".sh", ".r", ".ipynb", ""}:
            text = (
                path.read_text(encoding="utf-8", errors="replace")
                if path.stat().st_size < _LARGEST
                else ""
            )
            for number, line in enumerate(text.splitlines(), start=1):
                if re.search(r"""(?:^|[\s'"=])/results\b""", line):
                    places.append(f"{path.relative_to(capsule)}:{number}")
    return places
