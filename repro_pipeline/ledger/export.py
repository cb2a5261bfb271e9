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


def read_export(path: Path) -> Iterator[Event]:
    """The events of an exported file, as `verify_chain` takes them.

    Raises FileFormatError with the line for one that holds no event.
    """
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield Event.model_validate_json(line)
            except ValidationError as error:
                raise FileFormatError(
                    "the line is no event of a ledger", where=f"{path}:{number}"
                ) from error
