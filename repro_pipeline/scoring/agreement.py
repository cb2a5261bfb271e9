"""How far reviewers agree beyond chance: Cohen's kappa, and for more than two reviewers Light's.

Cohen (1960), "A coefficient of agreement for nominal scales": kappa = (p - e) / (1 - e), where p is
the share of claims on which two reviewers decide alike, and e the share that would agree if each
decided at random with the frequencies that he has. For more than two, Light (1971), "Measures of
response agreement for qualitative data", takes the mean of the kappas of all pairs; here it is
weighted by the number of claims that a pair shares, since not everyone reviews every claim. A pair
that gave every shared claim one and the same decision has no kappa (0 / 0) and is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from repro_pipeline.frozen import Frozen


class Agreement(Frozen):
    """What is known of the reviewers' agreement."""

    claims: int
    """Claims that at least two reviewers decided on."""
    reviewers: int
    """Reviewers who decided on one of them."""
    kappa: float | None
    """None where no pair of reviewers has one."""


def agreement(ratings: Sequence[Mapping[str, str]]) -> Agreement:
    """The agreement over claims; each is given as the decision of each of its reviewers."""
    shared = [of_claim for of_claim in ratings if len(of_claim) > 1]
    reviewers = sorted({name for of_claim in shared for name in of_claim})
    total, weight = 0.0, 0
    for one, other in combinations(reviewers, 2):
        pairs = [(r[one], r[other]) for r in shared if one in r and other in r]
        if (kappa := cohen(pairs)) is not None:
            total += kappa * len(pairs)
            weight += len(pairs)
    return Agreement(
        claims=len(shared), reviewers=len(reviewers), kappa=total / weight if weight else None
    )


def cohen(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's kappa of two reviewers' decisions on the same claims; None where it is 0 / 0."""
    n = len(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    alike = n * sum(a == b for a, b in pairs)
    by_chance = sum(first[label] * second[label] for label in first)
    # In whole numbers, so that 0 / 0 is found exactly: p = alike / n², e = by_chance / n².
    return (alike - by_chance) / (n * n - by_chance) if n * n != by_chance else None
