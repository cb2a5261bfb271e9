"""A chain as a file of JSON lines, which can be verified without the ledger that it came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from repro_pipeline.errors import FileFormatError
from repro_pipeline.ledger.events import Event


def export_lines(events: Iterable[Event]) -> Iterator[str]:
    """One line of JSON per event, with its line end."""
    return (event.model_dump_json() + "\n" for event in events)


def write_lines(events: Iterable[Event], path: Path) -> Path:
    """Write the events to a file, whole or not at all; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("w", encoding="utf-8") as file:
        file.writelines(export_lines(events))
    partial.replace(path)
    return path


def read_export(path: Path) -> Iterator[Event]:
    """The events of an exported file, as `verify_chain` takes them.

    Raises FileFormatError with the line for one that holds no event.
    """
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                yield _event(line, f"{path}:{number}")
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(f"the export cannot be read: {error}", where=str(path)) from error


def _event(line: str, where: str) -> Event:
    try:
        return Event.model_validate_json(line)
    except ValidationError as error:
        raise FileFormatError("the line is no event of a ledger", where=where) from error
