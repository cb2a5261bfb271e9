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
    if not all(share > 0 for share in shares.values()) or total > 1 + 1e-9:  # not a number: neither
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

    Raises BundleError where there is such a file with other content; then none is written.
    """
    files = {role: file.with_name(f"{file.name}.{role}-seed{seed}.idx") for role in splits}
    texts = {role: "".join(f"{row}\n" for row in rows).encode() for role, rows in splits.items()}
    for role, target in files.items():
        if target.exists() and not (target.is_file() and target.read_bytes() == texts[role]):
            raise BundleError("there is another split of that name.", where=str(target))
    for role, target in files.items():
        target.write_bytes(texts[role])
    return files
