"""Read a paper that came in several formats: the most exact one, if the others agree with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from repro_pipeline.errors import BundleError
from repro_pipeline.paper.agree import disagreements
from repro_pipeline.paper.model import Paper
from repro_pipeline.paper.read import read_paper

_SHOWN = 5


def read_agreeing(sources: Sequence[Path]) -> Paper:
    """The first of the sources, read.

    Raises PaperError when one cannot be read, and BundleError naming the numbers in which another
    source differs: which of them is the paper is for a person to say.
    """
    first, *others = [read_paper(path) for path in sources]
    for path, other in zip(sources[1:], others, strict=True):
        found = disagreements(first, other)
        if found:
            more = f" And {len(found) - _SHOWN} more." if len(found) > _SHOWN else ""
            raise BundleError(
                f"{sources[0].name} and {path.name} disagree: {' '.join(found[:_SHOWN])}{more}",
                where=str(path.parent),
                hint="Take away the one that is not the paper, or mend it.",
            )
    return first
