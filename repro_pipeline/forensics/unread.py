"""What a run may have executed that no reading of the code covers: by its command, and by its record."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from repro_pipeline.findings import Finding
from repro_pipeline.forensics.python_files import Code
from repro_pipeline.forensics.record import Record

# ruff: noqa: SIM905
_PROGRAMS = set(
    ".sh .bash .zsh .ksh .r .jl .pl .rb .js .mjs .ts .lua .m .do .sas .sps .php .tcl .awk .groovy .scala "
    ".java .c .cc .cpp .cxx .cu .f .f90 .go .rs .pyx .pxd .hs .ml .wasm .jar".split()
)
"""Endings of programs in other languages, and of sources that a run can compile."""
_MADE = {".py", ".pyw", ".pyc", ".so", ".pth", ".sh", ".zip", ".pyz"}
_STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn")
_MOST = 20


def findings(
    files: Mapping[str, bytes],
    code: Code,
    command: Sequence[str],
    records: Sequence[Record],
    work: str,
) -> Iterator[Finding]:
    """The files that a run could execute and that were not read.

    `files` are those of the code; of each the first bytes. `work` is the folder of the code in a run.
    """
    found = {
        name: "is run as a program, and is no Python"
        for name in _programs(files, code, command, records)
    }
    found |= _loaded(files, code, records, work)
    found |= _made(records, work)
    for name, why in sorted(found.items())[:_MOST]:
        yield Finding(
            kind="unread_code", evidence=f"{name}: {why}; it was not read.", severity="unverified"
        )


def _programs(
    files: Mapping[str, bytes], code: Code, command: Sequence[str], records: Sequence[Record]
) -> Iterator[str]:
    """Programs in other languages that the command, the code or a started process names."""
    programs = {
        name
        for name, start in files.items()
        if name not in code.python
        and (start.startswith(b"#!") or PurePosixPath(name).suffix.lower() in _PROGRAMS)
    }
    started = " ".join(e.about for r in records for e in r.of(*_STARTS))
    said = " ".join([*command, started, *code.python.values()])
    words = set(re.findall(r"[\w.\-]+", said))
    yield from (name for name in programs if PurePosixPath(name).name in words)


def _loaded(
    files: Mapping[str, bytes], code: Code, records: Sequence[Record], work: str
) -> dict[str, str]:
    """Files that are no text, opened by a run whose code runs what it makes."""
    if not any(map(_RUNS_MADE.search, code.python.values())):
        return {}
    opened = {e.about.removeprefix(f"{work}/") for r in records for e in r.of("read")}
    return {
        name: "is no text, and was opened by code that runs what it makes"
        for name in opened & set(files)
        if name not in code.python and b"\0" in files[name]
    }


_RUNS_MADE = re.compile(
    r"(?<![\w.])(exec|eval|compile)\(|\bmarshal\b|\bcodeop\b|FunctionType|CodeType"
)


def _made(records: Sequence[Record], work: str) -> dict[str, str]:
    """Code that a run wrote and loaded."""
    found = {}
    for record in records:
        loaded = {e.about.rpartition(".")[2] for e in record.of("import")}
        read = {e.about for e in record.of("read")}
        started = " ".join(e.about for e in record.of(*_STARTS))
        for entry in record.of("write"):
            path = PurePosixPath(entry.about)
            used = path.stem in loaded or entry.about in read or path.name in started
            if path.suffix in _MADE and used:
                found[entry.about.removeprefix(f"{work}/")] = (
                    f"was written by {entry.where} and run"
                )
    return found
