"""Seeds: chosen by the grader after the code is frozen, never by the submission.

Each seed is either for evaluation or for development, by a coin that is keyed with the project's
secret: the two are disjoint for all codes and sweeps, and code cannot tell which kind it is given.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection


def evaluation_seeds(secret: bytes, code_tree: str, *, sweep: int, count: int) -> tuple[int, ...]:
    """`count` distinct seeds in [0, 2**31), fixed by the project's secret, the code and the sweep.

    A longer list begins with the shorter one, so that asking for more seeds repeats no run.
    """
    return _derive(secret, f"eval:{code_tree}:{sweep}", count, side=0)


def dev_seeds(secret: bytes, code_tree: str, count: int = 1) -> tuple[int, ...]:
    """Seeds for sample runs; none of them is ever an evaluation seed."""
    return _derive(secret, f"dev:{code_tree}", count, side=1)


def submission_seeds(
    secret: bytes, code_tree: str, *, count: int, known: Collection[int | None] = ()
) -> tuple[int, ...]:
    """Distinct seeds for a foreign submission, none of which it names itself.

    Every second one lies below 1000 and the others below 10**6, so that they look like the seeds
    that people choose: code cannot take a large seed for the grader's.
    """
    drawn = _derive(secret, f"submission:{code_tree}", 4 * count + 4 * len(known), side=0)
    seeds: dict[int, None] = {}
    for place, seed in enumerate(drawn):
        small = seed % (1000 if place % 2 else 10**6)
        if small not in known and len(seeds) < count:
            seeds[small] = None
    return tuple(seeds)


def _derive(secret: bytes, label: str, count: int, *, side: int) -> tuple[int, ...]:
    seeds: dict[int, None] = {}
    index = 0
    while len(seeds) < count:
        seed = int.from_bytes(_mac(secret, f"{label}:{index}")[:4], "big") >> 1
        index += 1
        if _mac(secret, f"coin:{seed}")[0] & 1 == side:
            seeds[seed] = None
    return tuple(seeds)


def _mac(secret: bytes, text: str) -> bytes:
    return hmac.new(secret, text.encode(), hashlib.sha256).digest()
