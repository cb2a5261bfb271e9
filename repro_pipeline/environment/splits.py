"""Splits of rows by a seed: the same on every machine and in every language, kept as files of numbers.

The rows are put in the order of SHA-256 of `<seed>:<row>` (ASCII, rows from 0), and the roles take their
shares from its beginning, in the order in which they are given. Each role's numbers are then sorted.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path

from repro_pipeline.errors import BundleError


def split_rows(rows: int, seed: int, shares: Mapping[str, float]) -> dict[str, list[int]]:
    """The row numbers of each role: disjoint, and all rows where the shares make 1.

    Raises BundleError for shares that are none, or for a role that would have no row.
    """
    total = math.fsum(shares.values())
    if any(share <= 0 for share in shares.values()) or total > 1 + 1e-9:
        raise BundleError("the shares of a split are above 0, and together at most 1.")
    order = sorted(range(rows), key=lambda row: hashlib.sha256(f"{seed}:{row}".encode()).digest())
    found, taken, start = {}, 0.0, 0
    for role, share in shares.items():
        taken += share
        end = min(rows, round(taken * rows))
        if end <= start:
            raise BundleError(f"'{role}' would have no row of {rows}.")
        found[role] = sorted(order[start:end])
        start = end
    return found


def write_split(file: Path, seed: int, splits: Mapping[str, list[int]]) -> dict[str, Path]:
    """Write the numbers of each role beside the data, one a line; their files.

    Raises BundleError where there is such a file with other content.
    """
    written = {}
    for role, numbers in splits.items():
        target = file.with_name(f"{file.name}.{role}-seed{seed}.idx")
        text = "".join(f"{number}\n" for number in numbers)
        if target.exists() and target.read_text(encoding="utf-8") != text:
            raise BundleError("there is another split of that name.", where=str(target))
        target.write_text(text, encoding="utf-8")
        written[role] = target
    return written
