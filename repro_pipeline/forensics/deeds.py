"""What runs did, by their records: which files they asked for, whom they called, how long they slept."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from repro_pipeline.findings import Finding
from repro_pipeline.forensics.record import FOLDER, Record

_ANSWERS = re.compile(
    r"/(task\.ya?ml|rubric\.ya?ml|paper\.(tex|md|pdf|xml|tei\.xml)|metrics_reported\.\w+)$"
)
_EARLIER = re.compile(r"/(runs/.*|attempts\.jsonl)$")
_SHELLS = re.compile(r"python|/sh\b|bash|perl|node\b")
_FITTED_ROWS = 5


def findings(
    records: Sequence[Record], data: Mapping[str, str], *, work: str, out: str, split: bool
) -> Iterator[Finding]:
    """What the records show. `data` are the places of the input files by name; `split` says whether
    the code speaks of test data.
    """
    if not any(record.processes for record in records):
        yield Finding(
            kind="no_record",
            evidence="No Python of the runs wrote down what it did.",
            severity="unverified",
        )
        return
    full = {e.about for r in records for e in r.of("full")}
    if full:
        yield Finding(
            kind="record_full",
            evidence=f"A run did so much that not all was written down: {', '.join(sorted(full))}.",
            severity="unverified",
        )
    yield from _answers(records, work, out)
    yield from _tampering(records, work, out)
    yield from _company(records)
    yield from _unread(records, data)
    yield from _in_sample(records, split)


def _answers(records: Sequence[Record], work: str, out: str) -> Iterator[Finding]:
    asked = {
        e.about: e.where
        for r in records
        for e in r.of("read", "os.listdir", "os.scandir", "glob.glob")
    }
    for path, where in sorted(asked.items()):
        if _ANSWERS.search(path) and not path.startswith(out):
            yield Finding(
                kind="reads_answers",
                evidence=f"{where} asks for {path}, which holds the reported values.",
                severity="unverified" if path.startswith(work) else "violation",
            )
            return
    earlier = [p for p in asked if p.startswith(work) and _EARLIER.search(p)]
    if earlier:
        yield Finding(
            kind="reads_earlier_results",
            evidence=f"{asked[earlier[0]]} asks for {earlier[0]}, results of earlier runs.",
            severity="suspect",
        )


def _tampering(records: Sequence[Record], work: str, out: str) -> Iterator[Finding]:
    place = f"{work}/{FOLDER}"
    touched = [
        e
        for r in records
        for e in r.of("read", "write", "os.remove", "os.rename", "os.listdir")
        if place in e.about
    ]
    changed = any(e.event in {"write", "os.remove", "os.rename"} for e in touched)
    if touched:
        yield Finding(
            kind="handles_grader",
            evidence=f"{touched[0].where} touches the record of the run: {touched[0].about}.",
            severity="suspect" if changed else "unverified",
        )
    allowed = (work, out, "/tmp", "/dev/shm", "/var/tmp")
    outside = [
        e
        for r in records
        for e in r.of("write", "os.remove", "os.rename")
        if not e.about.startswith(allowed)
    ]
    if outside:
        yield Finding(
            kind="writes_elsewhere",
            evidence=f"{outside[0].where} tries to write to {outside[0].about}.",
            severity="unverified",
        )
    stamped = [e for r in records for e in r.of("os.utime") if e.about.startswith(out)]
    if stamped:
        yield Finding(
            kind="changes_times",
            evidence=f"{stamped[0].where} changes the time stamp of "
            f"{PurePosixPath(stamped[0].about).name}.",
            severity="unverified",
        )


def _company(records: Sequence[Record]) -> Iterator[Finding]:
    nets = [
        e for r in records for e in r.of("socket.connect", "socket.getaddrinfo", "urllib.Request")
    ]
    if nets:
        yield Finding(
            kind="asks_network",
            evidence=f"{nets[0].where} asks for the network: {nets[0].about[:80]}.",
            severity="unverified",
        )
    hidden = [
        e
        for r in records
        for e in r.of("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn")
        if r.processes < 2 and _SHELLS.search(e.about)
    ]
    if hidden:
        yield Finding(
            kind="unrecorded_process",
            evidence=f"{hidden[0].where} starts a process that wrote nothing down: "
            f"{hidden[0].about[:80]}.",
            severity="unverified",
        )
    traced = [e for r in records for e in r.of("sys.settrace", "sys.setprofile")]
    if traced:
        yield Finding(
            kind="traces_itself",
            evidence=f"{traced[0].where} sets a tracing function.",
            severity="unverified",
        )
    slept = max(record.slept for record in records)
    if slept > 1:
        yield Finding(
            kind="sleeps",
            evidence=f"The code sleeps for {slept:.1f} s of a run.",
            severity="unverified",
        )


def _unread(records: Sequence[Record], data: Mapping[str, str]) -> Iterator[Finding]:
    asked = {e.about for r in records for e in r.entries}
    unread = [name for name, place in data.items() if not any(place in about for about in asked)]
    if data and len(unread) == len(data):
        yield Finding(
            kind="data_not_read",
            evidence=f"No run was seen to read the input data ({', '.join(unread[:3])}).",
            severity="unverified",
        )


def _in_sample(records: Sequence[Record], split: bool) -> Iterator[Finding]:
    """Supervised models that were asked of nothing but rows that they had been fitted on."""
    for record in records:
        asked = [_tuple(e.about) for e in record.of("predict")]
        asked = [one for one in asked if one and one[3] >= _FITTED_ROWS]
        fits = [_tuple(e.about) for e in record.of("fit")]
        supervised = [one for one in fits if one and one[4]]
        if not asked or not supervised:
            continue
        distinct = all(one[2] >= 0.95 * one[3] for one in supervised)
        if all(one[4] > 0.5 * one[3] for one in asked):
            yield Finding(
                kind="tested_on_training_rows",
                evidence=f"All {len(asked)} predictions are of rows that the model was fitted "
                "on: nothing was held out.",
                severity="suspect" if split and distinct else "unverified",
            )
            return


def _tuple(text: str) -> list | None:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, list) and len(value) == 5 else None
