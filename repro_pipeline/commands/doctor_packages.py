"""What `repro doctor` says of graphics cards, and of the packages in the papers' environments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from repro_pipeline.commands import opening

if TYPE_CHECKING:
    from repro_pipeline.project import Project

Found = tuple[str, Literal["ok", "warning"], str]
"""Subject, state and sentence."""

_SHOWN = 3  # findings of a paper


def graphics_cards() -> Found:
    """The cards that a run can be given."""
    from repro_pipeline.sandbox.gpu import driver_version, installed_gpus

    cards = ", ".join(f"{gpu.number}: {gpu.model}" for gpu in installed_gpus())
    return "graphics cards", "ok", f"{cards}; {driver_version()}" if cards else "none"


def packages(project: Project) -> Iterator[Found]:
    """What the audits of the papers' environments found, and how old the data are that they rest on."""
    from repro_pipeline.environment.audit import advisories_compiled, our_advisories
    from repro_pipeline.environment.model import BuiltEnvironment
    from repro_pipeline.stages import latest, output_of

    folder = project.config.audit.advisories
    more = f"and those in {folder}" if folder else "and no others (`audit: {advisories: FOLDER}`)"
    known = f"{len(our_advisories())} advisories of {advisories_compiled()} {more}"
    yield "advisories", "ok" if folder else "warning", f"{known}."
    for paper in opening.papers_of(project):
        row = latest(project, paper, "environment")
        if row is None or row.output is None:
            continue
        found = output_of(project, row, BuiltEnvironment).findings
        counts = Counter(one.kind for one in found)
        kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
        sentences = " ".join(one.sentence for one in found[:_SHOWN])
        rest = f" And {len(found) - _SHOWN} more." if len(found) > _SHOWN else ""
        said = f"{kinds}: {sentences}{rest}" if found else "nothing known speaks against them"
        yield f"packages of {paper}", "warning" if found else "ok", said
