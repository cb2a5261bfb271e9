"""Code that is not Python: which program it needs, and what to do where runs do not have it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from repro_pipeline.errors import BuildError
from repro_pipeline.sandbox.policy import default_environment

_PROGRAMS = {
    "Rscript": "R",
    "R": "R",
    "julia": "Julia",
    "octave": "Octave",
    "matlab": "MATLAB",
    "stata": "Stata",
    "sas": "SAS",
    "java": "Java",
    "node": "JavaScript",
    "perl": "Perl",
}
_ENDINGS = {".r": "Rscript", ".rmd": "Rscript", ".qmd": "Rscript", ".jl": "julia", ".do": "stata"}
_BEFORE = r"(?:(?:exec|time|nohup|sudo|env|if|then|else|do|while|!|[A-Za-z_]\w*=\S*)\s+)*"
"""What may stand before a command that is called."""
_CALLED = re.compile(
    rf"(?:^|[|;&(]|\s-c\s['\"]?)\s*{_BEFORE}(?:\S*/)?({'|'.join(_PROGRAMS)})\s+(\S.*)?$"
)
_ENV = r"(?:\S*/)?env|[A-Za-z_]\w*=.*"
_LIBRARY = re.compile(r"^\s*(?:library|require|using|import)\s*\(?\s*['\"]?([A-Za-z][\w.]*)", re.M)
_LARGEST = 1 << 20
_LONGEST = 2000
"""Characters of a line: looking through it takes their square."""


class Needed(NamedTuple):
    """A program that code calls."""

    program: str
    where: str
    """The script, or file:line."""
    packages: tuple[str, ...] = ()
    """What its scripts load, where they say so."""

    @property
    def language(self) -> str:
        """In words."""
        return _PROGRAMS[self.program]


def programs_needed(code: Path, command: Sequence[str] = ()) -> tuple[Needed, ...]:
    """The programs of other languages that a command calls, itself or in a shell script of the code.

    Without a command: what the folder's scripts need, if none of them is Python's or a shell's.
    """
    names = sorted(path for path in code.rglob("*") if path.is_file())
    if command:
        files = {path.relative_to(code).as_posix() for path in names}
        return tuple(_called(code, files, command))
    if any(path.suffix.lower() in {".py", ".ipynb", ".sh"} for path in names):
        return ()
    found = [path for path in names if path.suffix.lower() in _ENDINGS]
    return tuple(
        Needed(_ENDINGS[one.suffix.lower()], one.relative_to(code).as_posix(), _loaded(one))
        for one in found[:1]
    )


def _called(code: Path, files: Collection[str], command: Sequence[str]) -> Iterator[Needed]:
    first = Path(next((word for word in command if not re.fullmatch(_ENV, word)), "")).name
    scripts = [name for word in command if (name := word.removeprefix("./")) in files]
    if first in _PROGRAMS:
        where = scripts[0] if scripts else " ".join(command)
        yield Needed(first, where, _loaded(code / where) if scripts else ())
        return
    lines = [("the command", 0, word) for word in command if " " in word]
    for name in scripts:
        if Path(name).suffix in {".sh", ".bash", ""}:
            lines += [(name, n, line) for n, line in enumerate(_text(code / name).splitlines(), 1)]
    for name, number, line in lines:
        if called := _CALLED.search(line[:_LONGEST].split("#")[0].rstrip()):
            words = [word.removeprefix("./").strip("\"';&)") for word in (called[2] or "").split()]
            script = next((word for word in words if word in files), None)
            where = f"{name}:{number}" if number else name
            yield Needed(called[1], where, _loaded(code / script) if script else ())


def _loaded(script: Path) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_LIBRARY.findall(_text(script))))


def _text(path: Path) -> str:
    if path.is_symlink() or path.stat().st_size > _LARGEST:
        return ""
    return path.read_text(encoding="utf-8", errors="replace")


def notes_on(needed: Collection[Needed], *, image: bool = False) -> list[str]:
    """What must be said of programs that are there; `image`: runs happen in a container image.

    Raises BuildError naming script and program where runs on this host do not have it. What an image
    holds is not known before it runs.
    """
    path = default_environment("", "")["PATH"]
    notes = []
    for one in needed:
        listed = f" with {', '.join(one.packages)}" if one.packages else ""
        if not image and shutil.which(one.program, path=path) is None:
            raise BuildError(
                f"is {one.language}, and runs here have no {one.program}: environments are built of "
                "Python's packages alone.",
                where=one.where,
                hint=f"Run it in a container image that has Python and {one.language}{listed}: in "
                "repro.yaml, `runner: docker` and `docker: {base: IMAGE}`.",
            )
        holder = "the image's" if image else "this host's"
        notes.append(
            f"{one.where} is {one.language}, run by {holder} {one.program}{listed}: no lock fixes it."
        )
    return notes
