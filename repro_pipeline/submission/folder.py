"""Read a submission's folder: its code by itself, and what it claims of its own runs."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from repro_pipeline.errors import BundleError, FileFormatError
from repro_pipeline.experiment.load import SPEC_NAME
from repro_pipeline.forensics.submitted import ClaimedRun, ListedAttempt, Submission

RUNS, ATTEMPTS = "runs", "attempts.jsonl"
_NOT_CODE = {RUNS, ATTEMPTS}
_SEED = re.compile(r"0|[1-9]\d{0,18}")
_LEFT_BY_A_RUN = {"metrics.json", "log", "log.txt", "predictions.csv", "predictions.parquet"}
_LOG_BYTES = 1 << 20
_JSON_BYTES = 16 << 20


def open_submission(folder: Path) -> Submission:
    """What a submission says of its runs.

    Raises BundleError where there is no such folder or it says nothing of how it is run, and
    FileFormatError, with the line, for an `attempts.jsonl` that is none. A claimed run that cannot
    be read is no error: it claims nothing, and says why.
    """
    if not folder.is_dir():
        raise BundleError("there is no such submission.", where=str(folder))
    if not (folder / SPEC_NAME).is_file():
        raise BundleError(
            f"the submission has no {SPEC_NAME}.",
            where=str(folder),
            hint="It says how one run is started; see docs/submission.md.",
        )
    runs, others = _runs(folder / RUNS)
    return Submission(runs=runs, no_runs=others, attempts=_attempts(folder / ATTEMPTS))


def copy_code(folder: Path, target: Path) -> None:
    """Copy the code of a submission, without what it says of its runs.

    Raises BundleError for a link that leaves the submission, or a file that is no regular one.
    """
    for path in _files(folder):
        inside = path.relative_to(folder)
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(os.path.realpath(folder)):
            raise BundleError(
                "is a link that leaves the submission.", where=str(inside), hint="Put a copy there."
            )
        if not real.is_file():
            raise BundleError("is no regular file.", where=str(inside), hint="Remove it.")
        (target / inside).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(real, target / inside)
        shutil.copymode(real, target / inside)


def _files(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        top = Path(root) == folder
        left_out = {name for name in (*folders, *files) if name.startswith(".")} if top else set()
        left_out |= {"__pycache__"} | (_NOT_CODE if top else set())
        folders[:] = sorted(set(folders) - left_out)
        yield from (Path(root, name) for name in sorted(set(files) - left_out))


def _runs(folder: Path) -> tuple[tuple[ClaimedRun, ...], tuple[str, ...]]:
    """The claimed runs, and what of the folder is none."""
    runs, others = [], []
    for experiment in _folders(folder):
        inside = _folders(experiment)
        seeds = [place for place in inside if _SEED.fullmatch(place.name)]
        runs += [_claimed(place) for place in sorted(seeds, key=lambda path: int(path.name))]
        strange = [place for place in inside if place not in seeds]
        strange = [place for place in strange if not seeds or _may_be_a_run(place)]
        others += strange if inside else [experiment]
    return tuple(runs), tuple(f"{RUNS}/{p.relative_to(folder).as_posix()}" for p in others)


def _may_be_a_run(place: Path) -> bool:
    """Whether a folder beside those of runs could be one under another name: not `plots`.

    Its name holds a number, or it holds what a run leaves.
    """
    if any(sign.isdigit() for sign in place.name):
        return True
    return any(_LEFT_BY_A_RUN & {*files, *folders} for _, folders, files in os.walk(place))


def _folders(place: Path) -> list[Path]:
    """The folders in a folder that a person means: none that a program left hidden."""
    found = place.iterdir() if place.is_dir() else ()
    return sorted(p for p in found if p.is_dir() and not p.name.startswith((".", "__")))


def _claimed(place: Path) -> ClaimedRun:
    metrics = place / "metrics.json"
    values, fault = _metrics(metrics)
    return ClaimedRun(
        experiment=place.parent.name,
        seed=int(place.name),
        values=values,
        fault=fault,
        log=_log(place),
        modified=metrics.stat().st_mtime if metrics.is_file() else None,
    )


def _log(place: Path) -> str | None:
    found = [path for path in (place / "log", place / "log.txt") if path.is_file()]
    if not found:
        return None
    with found[0].open("rb") as stream:
        return stream.read(_LOG_BYTES).decode("utf-8", errors="replace")


def _metrics(path: Path) -> tuple[dict[str, float], str | None]:
    """The values of a metrics.json, or why there are none."""
    if path.is_symlink() or not path.is_file():
        return {}, "there is no metrics.json"
    if path.stat().st_size > _JSON_BYTES:
        return {}, "metrics.json is too large to be one"
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
        values = _values(content["metrics"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        return {}, f"metrics.json cannot be read ({type(error).__name__})"
    bad = [claim for claim, value in values.items() if not math.isfinite(value)]
    if bad:
        return {}, f"the value of {bad[0]} is not finite"
    return values, None if values else "metrics.json holds no value"


def _values(metrics: Any) -> dict[str, float]:
    """Claim → value, from a mapping or a list of `{claim, value}`. Raises what a bad one raises."""
    if isinstance(metrics, dict):
        return {str(claim): float(value) for claim, value in metrics.items()}
    return {str(one["claim"]): float(one["value"]) for one in metrics}


def _attempts(path: Path) -> tuple[ListedAttempt, ...] | None:
    if not path.is_file():
        return None
    attempts = []
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            attempts.append(_attempt(json.loads(line)))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            missing = f"lacks the key {error}" if isinstance(error, KeyError) else str(error)
            raise FileFormatError(
                f"is no attempt: {missing}.",
                where=f"{path}:{number}",
                hint='A line is {"experiment": "main", "seed": 1, "status": "ok", …}.',
            ) from None
    return tuple(attempts)


def _attempt(line: dict[str, Any]) -> ListedAttempt:
    if not isinstance(line, dict):
        raise ValueError("it is no mapping")
    status = str(line["status"]).lower()
    if status not in {"ok", "failed"}:
        raise ValueError(f"the status is '{status}', and must be ok or failed")
    seed = line["seed"]
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
        raise ValueError(f"the seed is {seed!r}, and must be an integer or null")
    started, finished = _time(line.get("started_at")), _time(line.get("finished_at"))
    seconds = line.get("seconds")
    if seconds is None and started and finished:
        seconds = (finished - started).total_seconds()
    reason = line.get("reason")
    return ListedAttempt(
        experiment=str(line["experiment"]),
        seed=seed,
        status=status,
        purpose=str(line.get("purpose") or "eval").lower(),
        started_at=started,
        seconds=None if seconds is None else float(seconds),
        reason=str(reason) if reason else None,
        values=_values(line.get("metrics") or {}),
    )


def _time(text: Any) -> datetime | None:
    if text is None:
        return None
    if not isinstance(text, str):
        raise ValueError(f"{text!r} is no ISO 8601 time")
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.astimezone()
