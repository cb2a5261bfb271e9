"""All that is read for the integrity of one submission or of given code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from repro_pipeline.claims.model import Claim, ReportedClaims
from repro_pipeline.environment.manifest import role_rows
from repro_pipeline.experiment.campaign import Setting, input_mounts
from repro_pipeline.forensics.record import Record, parse
from repro_pipeline.forensics.submitted import Submission
from repro_pipeline.ledger.runs import Run
from repro_pipeline.probing.source import Source
from repro_pipeline.probing.trial import Tried
from repro_pipeline.stages import Stage

_RECORDS = 4


@dataclass(frozen=True)
class Given:
    """What is read."""

    stage: Stage
    setting: Setting
    claims: ReportedClaims
    runs: tuple[Run, ...]
    """The evaluation runs that gave values."""
    source: Source
    tried: Tried
    said: Submission | None
    """What a foreign submission claims of its own runs."""
    repeatable: bool | None
    """Whether a repeated run gave the same bits; None where none was repeated."""

    @cached_property
    def by_id(self) -> dict[str, Claim]:
        """The claims by their ids."""
        return {claim.id: claim for claim in self.claims.claims}

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """What some runs of each experiment were seen to do."""
        store, seen = self.stage.project.store, {}
        for run in self.runs:
            few = sum(experiment == run.experiment for experiment, _ in seen) < _RECORDS
            if run.counted.record is not None and few:
                seen[run.experiment, run.seed] = parse(store.get(run.counted.record))
        return tuple(seen.values())

    @cached_property
    def inputs(self) -> dict[str, str]:
        """The input files by name, each as the path under which runs find it."""
        mounts = input_mounts(self.stage, self.setting)
        return {name: str(mount.target) for name, mount in mounts.items()}

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """The input files on this machine."""
        mounts = input_mounts(self.stage, self.setting)
        return tuple(mount.source for mount in mounts.values())

    @cached_property
    def tested(self) -> int | None:
        """How many rows have the role test; None where that is not said."""
        counts = []
        for entry in self.setting.data.entries:
            if "test" in entry.roles:
                rows = role_rows(entry, "test", self.stage.bundle_folder)
                counts.append(entry.rows if rows is None else len(rows))
        return sum(count for count in counts if count) or None

    @cached_property
    def paper(self) -> str:
        """The paper's sources as text, where they are text; of a folder of LaTeX, all of them."""
        sources = self.setting.bundle.sources
        return paper_text([self.stage.bundle_folder / name for name in sources])


def paper_text(sources: Sequence[Path]) -> str:
    """The text of files, and of the files in folders, that are text as they stand."""
    files = [
        file
        for source in sources
        for file in (sorted(source.rglob("*")) if source.is_dir() else [source])
        if file.suffix in {".md", ".tex", ".txt"} and file.is_file()
    ]
    return "\n".join(file.read_text(errors="replace") for file in files)
