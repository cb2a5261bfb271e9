"""What may be shown of a paper with private data: hashes and numbers, none of its runs' own words.

A run that reads private rows can print them, and the sentence that says why it failed quotes what it
printed. So where any input is private, logs are left out and these sentences are withheld wherever
they are quoted. The pipeline's own words, names and values stay. What code holds of private data is
not looked for here; see `export.material`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from repro_pipeline.environment.model import DataManifest
from repro_pipeline.ledger.runs import Attempt
from repro_pipeline.report.model import ReportData
from repro_pipeline.status import Status

if TYPE_CHECKING:
    import pandas as pd

WITHHELD = "[withheld: it may quote private data]"
_OWN_WORDS = {"timed_out", "cancelled", "killed_by_signal", "worker_lost", "interrupted"}
"""Codes of reasons whose sentence the pipeline makes without a look at what the run printed."""
_SHORTEST = 8
"""Characters of a sentence that is looked for: an exception's name alone says nothing."""


def is_private(data: DataManifest | None) -> bool:
    """Whether any input is private."""
    return data is not None and any(entry.private for entry in data.entries)


def words_of_runs(attempts: Iterable[Attempt]) -> tuple[str, ...]:
    """The sentences that may quote what a run printed, longest first, without their full stop."""
    found = {
        attempt.reason.sentence.rstrip(".")
        for attempt in attempts
        if attempt.reason and attempt.status is not Status.OK
        if attempt.reason.code not in _OWN_WORDS
    }
    return tuple(sorted((one for one in found if len(one) >= _SHORTEST), key=len, reverse=True))


def published(data: ReportData) -> ReportData:
    """The report as anyone may read it; the same report where no input is private."""
    if not is_private(data.evidence.data):
        return data
    runs = (*data.evidence.runs, *data.evidence.integrity.parity)
    quoted = words_of_runs([*data.attempts, *(one for run in runs for one in run.attempts)])
    plain = data.model_copy(update={"log_ends": {}}).model_dump(mode="json", by_alias=True)
    for entry in plain["evidence"]["data"]["entries"]:
        if entry["private"]:
            entry.update(file="private", role_files={})
    return ReportData.model_validate(_without(plain, quoted))


def published_frames(
    frames: Mapping[str, pd.DataFrame], quoted: tuple[str, ...]
) -> Mapping[str, pd.DataFrame]:
    """Tables with the quoted sentences withheld in every text."""
    if not quoted:
        return frames
    return {name: frame.map(lambda cell: _without(cell, quoted)) for name, frame in frames.items()}


def _without(value: Any, quoted: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return {key: _without(item, quoted) for key, item in value.items()}
    if isinstance(value, list):
        return [_without(item, quoted) for item in value]
    if isinstance(value, str):
        for sentence in quoted:
            value = value.replace(sentence, WITHHELD)
    return value
