"""Whether a run that has ended counts: its values, and what is kept of it as evidence."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from repro_pipeline.experiment.metrics import METRICS_NAME, MetricsError, read_values
from repro_pipeline.experiment.sealed import recompute
from repro_pipeline.experiment.seedless import seedless_digest
from repro_pipeline.ledger.failure import reason_from
from repro_pipeline.ledger.redact import redact_log
from repro_pipeline.ledger.runs import Purpose, ValueSource
from repro_pipeline.ports import ArtifactStore
from repro_pipeline.sandbox.outputs import safe_outputs
from repro_pipeline.sandbox.policy import Mount, RunOutcome
from repro_pipeline.status import Reason, Status

if TYPE_CHECKING:
    from repro_pipeline.experiment.runs import Laboratory, PlannedRun

_LOG_TAIL = 64_000
_KEPT_BYTES = 256 << 20


def stamps(data: Mapping[str, Mount]) -> dict[str, tuple[int, ...]]:
    """Inode, size and times of each input file, nothing of one that is gone: another stamp may be
    another content.
    """
    found: dict[str, tuple[int, ...]] = dict.fromkeys(data, ())
    for name, mount in data.items():
        with contextlib.suppress(FileNotFoundError):
            stat = mount.source.stat()
            found[name] = (stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
    return found


def judged(
    run: PlannedRun, outcome: RunOutcome, out: Path, log: Path, started_ns: int, lab: Laboratory
) -> dict:
    """Whether the run counts, with its values and the evidence of it."""
    evidence: dict = {"log": _keep_log(log, lab.store) if log.is_file() else None}
    now = stamps(lab.data)
    if changed := [lab.data[name].source.name for name in now if now[name] != lab.stamps[name]]:
        sentence = f"A run could read {', '.join(changed)} while it was changed."
        reason = Reason(code="data_changed", sentence=sentence)
        return {**evidence, "status": Status.FAILED, "reason": reason}
    if outcome.status is not Status.OK:
        reason = reason_from(outcome.exit_code, outcome.status, _tail(log), outcome.reason)
        return {**evidence, "status": outcome.status, "reason": reason}
    left = _left(out)
    evidence["outputs"] = {name: lab.store.put_file(path) for name, path in left.items()}
    evidence["seedless"] = seedless_digest(left or _of_log(log), run.identity.seed)
    try:
        return {**evidence, "status": Status.OK, **_values(run, out, log, started_ns, lab)}
    except MetricsError as error:
        return {**evidence, "status": Status.FAILED, "reason": Reason.of(error)}


def _values(run: PlannedRun, out: Path, log: Path, started_ns: int, lab: Laboratory) -> dict:
    """The values: computed where labels are sealed, else as the run reports them."""
    claims = run.experiment.claims
    whole = run.identity.purpose not in {Purpose.DEV, Purpose.PROBE}
    computed = recompute(out, lab.sealed, claims, started_ns=started_ns, whole=whole)
    own = [claim for claim in claims if claim not in computed]
    if not own and not (out / METRICS_NAME).exists():
        return {"values": computed, "value_source": ValueSource.RECOMPUTED}
    reported, source = read_values(
        out,
        log,
        claims=own,
        outputs=lab.outputs if own else (),
        started_ns=started_ns,
        optional=list(computed),
    )
    return {
        "values": {claim: (reported | computed)[claim] for claim in claims},
        "value_source": source if own else ValueSource.RECOMPUTED,
        "self_reported": {claim: v for claim, v in reported.items() if claim in computed},
    }


def _left(out: Path) -> dict[str, Path]:
    """The regular files that a run left, by their path, without its checkpoints, up to a common size."""
    return {
        name: path
        for path in safe_outputs(out, _KEPT_BYTES)
        if not (name := path.relative_to(out).as_posix()).startswith("checkpoints/")
    }


def _of_log(log: Path) -> dict[str, Path]:
    """The log as the one thing that a run left."""
    return {"log": log} if log.is_file() else {}


def _keep_log(log: Path, store: ArtifactStore) -> str:
    """Store the log whole, without what looks like a secret."""
    clean = log.with_suffix(".redacted")
    with log.open("rb") as source, clean.open("wb") as target:
        redact_log(source, target)
    return store.put_file(clean)


def _tail(log: Path) -> str:
    if not log.is_file():
        return ""
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - _LOG_TAIL))
        return stream.read().decode("utf-8", errors="replace")
