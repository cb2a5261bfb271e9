"""A CORE-Bench capsule and its task: `code/ data/ results/ environment/`, and a file of questions."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from repro_pipeline.errors import FileFormatError
from repro_pipeline.imports.record import ImportFault
from repro_pipeline.jsonfile import read_json
from repro_pipeline.places import resolved

Difficulty = Literal["easy", "medium", "hard"]
"""easy: the results are there, nothing is run. medium: the capsule's run script is run. hard: neither
results nor run script are used; the command is given."""
_SCRIPTS = ("code/run", "code/run.sh", "run.sh", "run")
_PIP = re.compile(r"(?:\S*/)?pip[\d.]*")
_VALUED = re.compile(
    r"-[rcetifd]|--(?:requirement|constraint|editable|target|index-url|extra-index-url"
    r"|find-links|prefix|root|src|platform|python-version|trusted-host|proxy|timeout|retries|progress-bar"
    r"|upgrade-strategy|no-binary|only-binary|cache-dir|abi|implementation|log|cert|use-feature)"
)
"""Options of pip whose value is the next word."""
_PYTHON = re.compile(r"python[:\-_]?(3\.\d+)", re.I)
_REQUIREMENT = re.compile(r"[A-Za-z][\w.-]*(?:\[[\w,-]+\])?(?:[=<>!~]=?[\w.*+!,<>=~-]+)?")
_LARGEST = 64 << 20
_GREATEST = 1e300

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
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FileFormatError(f"cannot be read: {error.strerror}.", where=str(path)) from None
    except UnicodeDecodeError:
        raise FileFormatError("is not UTF-8.", where=str(path)) from None
    value = read_json(text, str(path))
    try:
        tasks = TypeAdapter(tuple[CoreTask, ...]).validate_python(value)
    except ValidationError as error:
        said = error.errors()[0]
        what = f"{'.'.join(map(str, said['loc']))}: {said['msg']}".removeprefix(": ")
        raise FileFormatError(f"is no file of tasks: {what}.", where=str(path)) from None
    if not tasks:
        raise FileFormatError("is no file of tasks: it holds none.", where=str(path))
    often = Counter(task.capsule_id for task in tasks)
    for task in tasks:
        fault = "it has two tasks." if often[task.capsule_id] > 1 else _fault(task)
        if fault:
            raise FileFormatError(fault, where=f"{path}: {task.capsule_id}")
    return tasks


def _fault(task: CoreTask) -> str | None:
    """Why a task's answers cannot be scored."""
    questions = task.results[0]
    if not questions:
        return "it asks nothing."
    if any(run.keys() != questions.keys() for run in task.results):
        return "its runs answer different questions."
    for question in questions:
        kinds = {_kind(run[question]) for run in task.results}
        if None in kinds:
            return f"'{question}' is answered by no number, text, or list of these."
        if len(kinds) > 1:
            return f"'{question}' is answered by a {' and by a '.join(sorted(kinds))}."
    return None


def _kind(answer: Any) -> str | None:
    if isinstance(answer, list):
        return "list" if all(_kind(one) in {"number", "text"} for one in answer) else None
    if isinstance(answer, str | bool):
        return "text"
    return "number" if isinstance(answer, int | float) and abs(answer) < _GREATEST else None


def task_for(tasks: Sequence[CoreTask], name: str | None, capsule: Path | None) -> CoreTask:
    """The task of that id, else of the capsule's folder name, else the only one."""
    wanted = name or (resolved(capsule).name if capsule else "")
    for task in tasks:
        if task.capsule_id == wanted:
            return task
    if name is None and len(tasks) == 1:
        return tasks[0]
    raise ImportFault(
        f"no task is of '{wanted}'.",
        where="--tasks",
        hint=f"Name one with --id: {', '.join(task.capsule_id for task in tasks[:5])}"
        f"{', …' if len(tasks) > 5 else ''}.",
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


def container_packages(capsule: Path) -> tuple[list[str], str | None, list[str]]:
    """What the capsule's Dockerfile installs.

    That is its Python packages by pip, its Python's version, and what else it installs and a run here
    does not have: programs that install, and files and addresses given to pip.
    """
    path = capsule / "environment" / "Dockerfile"
    if not path.is_file():
        return [], None, []
    written = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    text = "\n".join(line for line in written if not line.lstrip().startswith("#"))
    lines = re.sub(r"\\[ \t]*\n", " ", text).splitlines()
    steps = [step for line in lines for step in _steps(line)]
    found = [pair for step in steps for pair in _installed(step)]
    python = _PYTHON.search(next((one for one in lines if one.startswith("FROM")), ""))
    packages, others = ([w for taken, w in found if taken is wanted] for wanted in (True, False))
    return (
        list(dict.fromkeys(packages)),
        python[1] if python else None,
        list(dict.fromkeys(others)),
    )


def _steps(line: str) -> Iterator[list[str]]:
    """The words of each command of a line of shell, without where its output goes."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:  # a quote that is not closed
        words = line.split()
    step: list[str] = []
    goes = False  # the next word is a file that output goes to, or comes from
    for word in words:
        if set(word) <= set("();|&"):
            yield step
            step = []
        elif goes or set(word) <= set("<>&"):
            if not goes and step and step[-1].isdigit():  # as in 2>&1
                step.pop()
            goes = not goes
        else:
            step.append(word)
    yield step


def _installed(step: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """What a command installs: a package of pip (True), or something else (False)."""
    if "install" not in step:
        return
    at = step.index("install")
    program = next((w for w in step[:at] if w not in {"RUN", "sudo"} and "=" not in w), "")
    if not any(_PIP.fullmatch(word) for word in step[:at]):
        yield False, program
        return
    option = ""
    for word in step[at + 1 :]:
        if option:
            if option in {"-r", "--requirement", "-e", "--editable"}:
                yield False, f"{option} {word}"
            option = ""
        elif _VALUED.fullmatch(word):
            option = word
        elif _REQUIREMENT.fullmatch(word.partition(";")[0].replace(" ", "")):
            yield True, word
        elif not word.startswith("-"):
            yield False, word


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
