"""What lies in the files of the code: what was not read, texts and values that no experiment needs."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import PurePosixPath

from repro_pipeline.findings import Finding
from repro_pipeline.forensics import unread
from repro_pipeline.forensics.archives import unpacked
from repro_pipeline.forensics.literals import telling_digits
from repro_pipeline.forensics.prose import is_prose
from repro_pipeline.probing.given import Given
from repro_pipeline.sandbox.policy import WORK

_BINARY_LIMIT = 32 << 20
_START = 4096
"""Bytes that tell what a file is."""


def used_files(given: Given) -> set[str]:
    """The Python files that the entry may run: named in it, or in one that it names, and so on."""
    python = given.source.code.python
    texts = {**given.source.texts, **python}
    entry = {word for word in given.setting.implementation.command if word in texts}
    used, waiting = set(entry), list(entry)
    while waiting:
        text = texts[waiting.pop()]
        for path in python:
            if path not in used and PurePosixPath(path).stem in text:
                used.add(path)
                waiting.append(path)
    return used


def reads_binary(given: Given) -> bool:
    """Whether a run read a file of the submission that is no text, or left no record of it."""
    asked = {e.about.removeprefix(f"{WORK}/") for r in given.records for e in r.of("read")}
    recorded = any(r.processes for r in given.records)
    return not recorded or bool(given.source.binaries() & asked)


def unread_files(given: Given) -> Iterator[Finding]:
    """What the runs may have executed and no reading covers."""
    starts = {}
    for name, path in given.source.files():
        with path.open("rb") as file:
            starts[name] = file.read(_START)
    command = given.setting.implementation.command
    yield from unread.findings(starts, given.source.code, command, given.records, str(WORK))


def own_texts(given: Given) -> Iterator[Finding]:
    """Texts for people that a run reads, or its own code."""
    for record in given.records:
        for entry in record.of("read"):
            name = entry.about.removeprefix(f"{WORK}/")
            path = PurePosixPath(name)
            prose = is_prose(name) and (path.suffix or path.stem.isupper())
            own = path.suffix == ".py" and "__file__" in given.source.text_at(entry.where)
            if name in given.source.texts and (prose or own):
                yield Finding(
                    kind="reads_own_texts",
                    evidence=f"{entry.where} reads {name}, which no experiment needs.",
                    severity="unverified",
                )
                return


def hidden_values(given: Given) -> Iterator[Finding]:
    """Reported values in files that are no text: archives of arrays, pickles, models."""
    claims = [c for c in given.claims.claims if c.value and telling_digits(c) >= 2]
    for name, path in given.source.files():
        if name in given.source.texts or path.stat().st_size > _BINARY_LIMIT:
            continue
        content = path.read_bytes()
        content += b"".join(part for _, part in unpacked(content))
        hit = [claim for claim in claims if _holds(content, claim.value)]
        if hit:
            yield Finding(
                kind="hidden_value",
                evidence=f"{name} holds reported values.",
                severity="suspect" if len({c.value for c in hit}) > 1 else "unverified",
                claims=tuple(claim.id for claim in hit),
            )


def _holds(content: bytes, value: float) -> bool:
    numbers = {value, value / 100}
    return any(
        struct.pack(order, number) in content for number in numbers for order in ("<d", ">d")
    )
