"""Reads requirement files: plain requirements and hashes, and nothing that reaches outside the index."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import InvalidRequirement, Requirement

from repro_pipeline.errors import BuildError

_HASH = re.compile(r"\s--hash[=\s]+(\S+)")
_STRONG_HASH = re.compile(r"sha(?:256:[0-9a-f]{64}|384:[0-9a-f]{96}|512:[0-9a-f]{128})")
_OPTION = re.compile(r"(--[A-Za-z][\w-]*|-[A-Za-z])[=\s]*(.*)$")
_INCLUDE = {"-r", "--requirement"}
_OUTSIDE = {
    *("-e", "--editable", "-i", "--index-url", "--extra-index-url"),
    *("-f", "--find-links", "--no-index", "--trusted-host"),
}


class Entry(NamedTuple):
    """One requirement of a file, without its hashes."""

    file: str
    line: int
    requirement: Requirement
    hashes: tuple[str, ...]

    @property
    def place(self) -> str:
        """Where it stands, as file:line."""
        return f"{self.file}:{self.line}"

    @property
    def text(self) -> str:
        """The entry as a line of a requirement file."""
        return " ".join([str(self.requirement), *(f"--hash={one}" for one in self.hashes)])

    @property
    def fault(self) -> str:
        """Why it is no locked entry; empty where it is one."""
        versions = list(self.requirement.specifier)
        exact = len(versions) == 1 and versions[0].operator in {"==", "==="}
        if not exact or versions[0].version.endswith("*"):
            return f"'{self.requirement}' is not pinned to one version"
        if not any(_STRONG_HASH.fullmatch(found) for found in self.hashes):
            return f"'{self.requirement}' has no sha256 hash"
        return ""


def read_entries(path: Path, root: Path) -> list[Entry]:
    """The entries of a requirement file and of the files that it includes below `root`.

    Raises BuildError naming file and line for what is no requirement, and for lines that reach
    outside: other indexes, URLs, repositories, local paths.
    """
    return _read(path, root.resolve(), ())


def parse_entry(text: str, file: str, line: int) -> Entry:
    """One requirement, with its hashes where it has some. Raises BuildError naming the line."""
    place = f"{file}:{line}"
    hashes = tuple(_HASH.findall(text))
    plain = _HASH.sub("", text).strip()
    _refuse_outside(plain, place)
    try:
        requirement = Requirement(plain)
    except InvalidRequirement as error:
        reason = str(error).splitlines()[0]
        raise BuildError(f"'{plain}' is no requirement: {reason}.", where=place) from None
    if requirement.url:
        raise _outside(f"'{plain}' names a URL", place)
    return Entry(file, line, requirement, hashes)


def parse_entries(text: str, file: str) -> list[Entry]:
    """The entries of a requirement text that includes no other file. Raises BuildError."""
    return [_entry_or_option(line, file, number) for number, line in _logical_lines(text)]


def read_text(path: Path, file: str) -> str:
    """The text of a UTF-8 file, without a byte order mark. Raises BuildError naming `file`."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (UnicodeDecodeError, OSError) as error:
        raise BuildError(f"cannot be read: {error}.", where=file) from None


def _entry_or_option(text: str, file: str, line: int) -> Entry:
    option = _OPTION.match(text)
    if option:
        raise _refused_option(option[1], f"{file}:{line}")
    return parse_entry(text, file, line)


def _read(path: Path, root: Path, above: tuple[Path, ...]) -> list[Entry]:
    file = path.resolve().relative_to(root).as_posix()
    if path.resolve() in above:
        raise BuildError("the file includes itself.", where=file)
    entries: list[Entry] = []
    for number, line in _logical_lines(read_text(path, file)):
        option = _OPTION.match(line)
        if option and option[1] in _INCLUDE:
            included = _included(path, option[2], root, f"{file}:{number}")
            entries += _read(included, root, (*above, path.resolve()))
        else:
            entries.append(_entry_or_option(line, file, number))
    return entries


def _included(path: Path, name: str, root: Path, place: str) -> Path:
    target = path.parent / name.strip()
    if "://" in name or not target.resolve().is_relative_to(root):
        raise _outside(f"'{name}' lies outside the code", place)
    if not target.is_file():
        raise BuildError(f"the included file '{name}' does not exist.", where=place)
    return target


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Lines with their number, continuations joined, without comments and empty lines."""
    lines: list[tuple[int, str]] = []
    start, joined = 0, ""
    for number, raw in enumerate([*text.split("\n"), ""], 1):
        start = start if joined else number
        line = raw.rstrip("\r")
        comment = line.lstrip().startswith("#")
        if line.endswith("\\") and not comment:
            joined += line[:-1]
            continue
        whole = re.sub(r"(^|\s)#.*$", "", joined + ("" if comment else line)).strip()
        if whole:
            lines.append((start, whole))
        joined = ""
    return lines


def _refuse_outside(text: str, place: str) -> None:
    if re.match(r"(?:git|hg|svn|bzr)\+|[a-z][a-z0-9+.-]*://", text, re.IGNORECASE):
        raise _outside(f"'{text}' names a URL", place)
    path = re.match(r"(?:\.{1,2}(?:$|[/\\\[])|[/~\\]|[\w.-]+/)", text)
    if path or re.search(r"\.(?:whl|zip|tar\.\w+|tgz)$", text.partition(";")[0].strip()):
        raise _outside(f"'{text}' names a local path", place)


def _refused_option(option: str, place: str) -> BuildError:
    if option in _OUTSIDE:
        return _outside(f"'{option}' asks for packages from elsewhere", place)
    return BuildError(
        f"the option '{option}' is not supported.",
        where=place,
        hint="Write only requirements, hashes and -r lines.",
    )


def _outside(what: str, place: str) -> BuildError:
    return BuildError(
        f"{what}; packages come from the package index alone.",
        where=place,
        hint="Name the package and its version, or remove the line: code in the folder itself "
        "needs no installation.",
    )
