"""Seeds: chosen by the grader after the code is frozen, never by the submission."""

from __future__ import annotations

import hashlib
import hmac


def evaluation_seeds(secret: bytes, code_tree: str, *, sweep: int, count: int) -> tuple[int, ...]:
    """`count` distinct seeds in [0, 2**31), fixed by the project's secret, the code and the sweep.

    A longer list begins with the shorter one, so that asking for more seeds repeats no run.
    """
    return _derive(
        secret, f"eval:{code_tree}:{sweep}", count, taken=set(dev_seeds(secret, code_tree))
    )


def dev_seeds(secret: bytes, code_tree: str, count: int = 1) -> tuple[int, ...]:
    """Seeds for sample runs; no evaluation seed is among the first of them."""
    return _derive(secret, f"dev:{code_tree}", count, taken=set())


def _derive(secret: bytes, label: str, count: int, *, taken: set[int]) -> tuple[int, ...]:
    seeds: list[int] = []
    index = 0
    while len(seeds) < count:
        mac = hmac.new(secret, f"{label}:{index}".encode(), hashlib.sha256).digest()
        seed = int.from_bytes(mac[:4], "big") >> 1
        index += 1
        if seed not in taken and seed not in seeds:
            seeds.append(seed)
    return tuple(seeds)
