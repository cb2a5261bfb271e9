"""What a changed run shows: whether values move when they must.

The integrity stage makes the run; its values become evidence here. Nothing is judged: `integrity`
does, by the same keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from repro_pipeline.findings import Probe
from repro_pipeline.wording import counted

ResponseProbe = Literal["config_sensitivity", "data_noise", "label_permutation", "fit_labels"]

_LEAST_MOVE = 1e-6
"""A smaller relative change is no answer: sums are sometimes made in another order."""


def response_probe(
    name: ResponseProbe,
    change: str,
    before: Mapping[str, float],
    after: Mapping[str, float] | None,
) -> Probe:
    """Whether values (per claim, same seed) changed after `change`, a sentence's subject.

    `after` is None where the changed run failed: one that fails under another configuration, or with
    other data, shows nothing. The probe's claims are those that responded. Evidence: `compared`,
    `identical`, `failed`.
    """
    if after is None:
        sentence = f"{change}: the run failed, which shows nothing."
        return Probe(id=name, applies=False, sentence=sentence, evidence={"failed": True})
    compared = [claim for claim in before if claim in after]
    identical = [claim for claim in compared if not _moved(before[claim], after[claim])]
    kept = f"{len(identical)} of {counted(len(compared), 'value')} kept their bits"
    return Probe(
        id=name,
        applies=bool(compared),
        sentence=f"{change}: {kept}.",
        evidence={"compared": len(compared), "identical": len(identical), "failed": False},
        claims=tuple(claim for claim in compared if claim not in identical),
        unmoved=tuple(identical),
    )


def _moved(before: float, after: float) -> bool:
    return abs(before - after) > _LEAST_MOVE * max(abs(before), abs(after))
