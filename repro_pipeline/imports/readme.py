"""Commands that a README proposes: found in its code blocks, each with its line; none is ever run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from repro_pipeline.frozen import Frozen

_LARGEST = 1 << 20
_NAMES = re.compile(
    r"(readme|reproducing|reproduce|usage|experiments)(\.(md|rst|txt|markdown))?", re.I
)
_FENCE = re.compile(r"^\s*(?P<mark>`{3,}|~{3,})\s*\{?\.?(?P<language>[\w+-]*)")
_SHELLS = {"", "bash", "sh", "shell", "console", "zsh", "terminal", "text", "shell-session", "cmd"}
_PROMPT = re.compile(r"^(?:\([\w.-]+\)\s*)?(?:[\w.@~:/-]*\$|>|%)\s+")
_RUNS = re.compile(
    r"(?:python[\d.]*|bash|sh|Rscript|R|julia|matlab|octave|make|jupyter|papermill|torchrun"
    r"|accelerate|deepspeed|mpirun|snakemake|dvc|\./\S+|\S+\.(?:sh|py))"
)
_PREPARES = re.compile(
    r"python[\d.]*\s+(?:-m\s+(?:pip|venv|ensurepip|virtualenv|conda)\b|setup\.py\b)"
    r"|bash\s+(?:Miniconda|Anaconda)|make\s+(?:install|env|clean|help|docs?)\b"
    r"|jupyter(?:[- ](?:lab|notebook))?\s*$|python[\d.]*\s*$|R\s*$",
    re.I,
)
_SHELL_WORDS = re.compile(r"[|;<>`*?]|&&|\$[({\w]")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=\S*")


class ProposedCommand(Frozen):
    """A command as a README gives it."""

    file: str
    line: int
    text: str
    """As it is written, its continued lines joined."""
    command: tuple[str, ...]
    """As `task.yaml` would say it."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


def commands_proposed(code: Path) -> tuple[ProposedCommand, ...]:
    """The commands of the READMEs at the top of a code folder, in their order."""
    files = sorted(p for p in code.iterdir() if _NAMES.fullmatch(p.name) and p.is_file())
    found: dict[str, ProposedCommand] = {}
    for path in files:
        if path.is_symlink() or path.stat().st_size > _LARGEST:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        for one in commands_in(text, path.name):
            found.setdefault(one.text, one)
    return tuple(found.values())


def commands_in(text: str, file: str) -> Iterator[ProposedCommand]:
    """The commands in a text's code blocks that run something; what installs is left out."""
    for line, written in _joined(_code_lines(text)):
        said = _PROMPT.sub("", written.strip()).strip()
        command = _command(said)
        if command:
            yield ProposedCommand(file=file, line=line, text=said, command=command)


def _code_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of shell in fenced blocks, in indented ones, and after a `$`."""
    mark, shell = "", False
    for number, line in enumerate(text.splitlines(), start=1):
        fence = _FENCE.match(line)
        if mark:
            if fence and fence["mark"].startswith(mark) and not fence["language"]:
                mark = ""
            elif shell:
                yield number, line
        elif fence:
            mark, shell = fence["mark"], fence["language"].lower() in _SHELLS
        elif line.startswith(("    ", "\t")) or re.match(r"\s*\$ \S", line):
            yield number, line


def _joined(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines that end in a backslash, with the next."""
    start, held = 0, ""
    for number, line in lines:
        start = start if held else number
        held += line.strip() if held else line
        if held.endswith("\\"):
            held = held[:-1].rstrip() + " "
            continue
        yield start, held
        held = ""
    if held:
        yield start, held


def _command(text: str) -> tuple[str, ...]:
    """The words of a command that runs something; empty for any other line."""
    text = _without_comment(text)
    try:
        words = shlex.split(text)
    except ValueError:
        return ()
    variables = [word for word in words if _ASSIGNED.fullmatch(word)]
    variables = variables if words[: len(variables)] == variables else []
    rest = words[len(variables) :]
    steps = re.split(r"&&|;", text)
    runs = [step.strip() for step in steps if _runs(step)]
    if not rest or not runs:
        return ()
    if _SHELL_WORDS.search(text):
        return ("sh", "-c", text)
    return ("env", *variables, *rest) if variables else tuple(rest)


def _without_comment(text: str) -> str:
    """A line up to its comment: a `#` that begins a word, and stands in no quotes."""
    for found in re.finditer(r"(?:^|\s+)#", text):
        try:
            shlex.split(text[: found.start()])
        except ValueError:  # a quote is open
            continue
        return text[: found.start()]
    return text


def _runs(step: str) -> bool:
    plain = re.sub(r"^(?:[A-Za-z_]\w*=\S*\s+)+", "", step.strip())
    first = plain.split(maxsplit=1)[0] if plain else ""
    return bool(_RUNS.fullmatch(first)) and not _PREPARES.match(plain)
