"""A chain as a file of JSON lines, which can be verified without the ledger that it came from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from repro_pipeline.errors import FileFormatError
from repro_pipeline.ledger.events import Event
from repro_pipeline.wholefile import whole


def export_lines(events: Iterable[Event]) -> Iterator[str]:
    """One line of JSON per event, with its line end."""
    return (event.model_dump_json() + "\n" for event in events)


def write_lines(events: Iterable[Event], path: Path) -> Path:
    """Write the events to a file, whole or not at all; return its path."""
    with whole(path) as fresh, fresh.open("w", encoding="utf-8") as file:
        file.writelines(export_lines(events))
    return path


def read_export(path: Path) -> Iterator[Event]:
    """The events of an exported file, as `verify_chain` takes them.

    Raises FileFormatError with the line for one that holds no event, or a key twice, of which readers
    see one or the other; and for a file without an event, which shows nothing of any chain.
    """
    number = 0
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                yield _event(line, f"{path}:{number}")
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(f"the export cannot be read: {error}", where=str(path)) from error
    if not number:
        raise FileFormatError("the export holds no event", where=str(path))


def _event(line: str, where: str) -> Event:
    try:
        json.loads(line, object_pairs_hook=_each_once, parse_constant=_no_number)
        return Event.model_validate_json(line)
    except (ValueError, RecursionError) as error:
        raise FileFormatError("the line is no event of a ledger", where=where) from error


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no JSON")
