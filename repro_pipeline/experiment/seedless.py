"""What a run left, with its own seed blanked: a file that only names its seed is no other result.

Whether runs of several seeds left the same is asked of values that are equal (see `scoring.observations`):
code that ignores its seed and notes it down would otherwise look like a coarse measure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from repro_pipeline.frozen import digest

_LARGEST = 1 << 20
"""Files of more bytes are taken as they are."""


def seedless_digest(files: Mapping[str, Path], seed: int | None) -> str | None:
    """SHA-256 over the files' names and contents without the seed; None where there are none."""
    found = {name: hashlib.sha256(_content(path, seed)).hexdigest() for name, path in files.items()}
    return digest(found) if found else None


def _content(path: Path, seed: int | None) -> bytes:
    content = path.read_bytes()
    return content if len(content) > _LARGEST else without_seed(content, seed)


def without_seed(content: bytes, seed: int | None) -> bytes:
    """The bytes with the seed taken out where it is called so: `seed 7`, `"seed": 7`, `--seed=7`."""
    if seed is None:
        return content
    return re.sub(rb"(?i)(seeds?[^\w\n]{1,4})%d(?!\w|\.\d)" % seed, rb"\1", content)
