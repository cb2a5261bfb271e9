"""What probe runs show: whether values move when they must, and hold where they should.

The integrity stage makes the runs; these functions turn their values into evidence. They judge
nothing: `integrity` does, by the same keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from repro_pipeline.experiment.statistics import prediction_interval
from repro_pipeline.scoring.model import Probe
from repro_pipeline.scoring.words import counted

ResponseProbe = Literal[
    "config_sensitivity", "data_removal", "data_noise", "label_permutation", "fit_labels"
]

_LEAST_MOVE = 1e-6
"""A smaller relative change is no answer: sums are sometimes made in another order."""
_FRESH_ALARM = 0.001
"""The chance that fresh seeds of an honest submission look foreign, over all its claims."""


def response_probe(
    name: ResponseProbe,
    change: str,
    before: Mapping[str, float],
    after: Mapping[str, float] | None,
) -> Probe:
    """Whether values (per claim, same seed) changed after `change`, a sentence's subject.

    `after` is None where the changed run failed. A run that fails without its data responds to it;
    one that fails under another configuration, or with other data, shows nothing. The probe's claims
    are those that responded. Evidence: `compared`, `identical`, `failed`.
    """
    failed = after is None
    if failed and name != "data_removal":
        sentence = f"{change}: the run failed, which shows nothing."
        return Probe(id=name, applies=False, sentence=sentence, evidence={"failed": True})
    compared = list(before) if failed else [claim for claim in before if claim in after]
    identical = [] if failed else [c for c in compared if not _moved(before[c], after[c])]
    says = (
        "the run failed"
        if failed
        else f"{len(identical)} of {counted(len(compared), 'value')} kept their bits"
    )
    return Probe(
        id=name,
        applies=bool(compared),
        sentence=f"{change}: {says}.",
        evidence={"compared": len(compared), "identical": len(identical), "failed": failed},
        claims=tuple(claim for claim in compared if claim not in identical),
        unmoved=tuple(identical),
    )


def _moved(before: float, after: float) -> bool:
    return abs(before - after) > _LEAST_MOVE * max(abs(before), abs(after))


def fresh_seed_probe(evaluated: Mapping[str, Sequence[float]], fresh: Mapping[str, float]) -> Probe:
    """Whether a seed that the submission could not know gives values like the evaluated ones.

    A value is foreign where it lies outside the prediction interval of its claim's evaluated values
    (normal theory; 99.9 % over all claims together). The probe's claims are the foreign ones.
    Evidence: `compared`, `foreign`.
    """
    compared = [claim for claim in fresh if len(evaluated.get(claim, ())) > 1]
    level = 1 - _FRESH_ALARM / max(len(compared), 1)
    foreign = []
    for claim in compared:
        low, high = prediction_interval(evaluated[claim], level)
        if not low <= fresh[claim] <= high:
            foreign.append(claim)
    return Probe(
        id="fresh_seed",
        applies=bool(compared),
        sentence=(
            f"A fresh seed gives {counted(len(foreign), 'value')} of {len(compared)} unlike those of "
            "the evaluated seeds."
        ),
        evidence={"compared": len(compared), "foreign": len(foreign)},
        claims=tuple(foreign),
    )
