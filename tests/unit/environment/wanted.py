"""Requirements as tests write them."""

from __future__ import annotations

from repro_pipeline.environment.model import Requirements


def wanting(*lines: str) -> Requirements:
    kind = "requirements" if lines else "none"
    return Requirements(kind=kind, file="requirements.txt", lines=lines)
