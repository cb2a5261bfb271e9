"""`experiment.yaml`, `metrics.json` and the run key: the contract between a submission and its runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from repro_pipeline.bundle.terms import ClaimId
from repro_pipeline.frozen import Frozen, Misfit, Sha256, Slug, digest
from repro_pipeline.ledger.runs import ExperimentKind, Purpose
from repro_pipeline.quantities import Seconds

PREDICTIONS = ("predictions.parquet", "predictions.csv")
"""Where a run leaves its predictions; the first that exists is read."""


class ExperimentEntry(Frozen):
    """One experiment: a configuration file, or the change of one factor `of` another experiment.

    Where it names both, the file must hold what the change makes.
    """

    id: Slug
    kind: ExperimentKind = ExperimentKind.BASELINE
    claims: tuple[ClaimId, ...] = ()
    """What it measures; a sensitivity experiment by default the claims of the one that it is `of`."""
    config: str | None = None
    of: Slug | None = None
    change: Annotated[dict[str, Any], Field(min_length=1)] | None = None
    assumption: Slug | None = None
    """The assumption whose alternative a sensitivity experiment runs with."""
    timeout: Seconds = 3600.0

    @model_validator(mode="after")
    def _config_or_change(self) -> ExperimentEntry:
        if self.config is None and self.of is None:
            raise ValueError(f"{self.id}: needs `config`, or `of` with `change`")
        if self.kind is ExperimentKind.PROBE:
            raise ValueError(f"{self.id}: probes are made by the pipeline, not declared")
        if (self.of is None) != (self.change is None):
            raise ValueError(f"{self.id}: `of` and `change` go together")
        if self.kind in {ExperimentKind.ABLATION, ExperimentKind.SENSITIVITY}:
            if self.change is None:
                raise ValueError(f"{self.id}: `kind: {self.kind}` needs `of` and `change`")
            if len(self.change) != 1:
                raise Misfit(
                    f"{self.id}: `kind: {self.kind}` changes one factor, "
                    f"not {', '.join(self.change)}",
                    "change",
                )
        if not self.claims and self.kind is not ExperimentKind.SENSITIVITY:
            raise Misfit(f"{self.id}: names no claims", "claims")
        if self.assumption and self.kind is not ExperimentKind.SENSITIVITY:
            raise Misfit(f"{self.id}: `assumption` belongs to `kind: sensitivity`", "assumption")
        return self


class SampleSpec(Frozen):
    """What the small first run changes in each configuration."""

    config: dict[str, Any] = {}


_PLACES = ("{config}", "{seed}", "{out}")


class ExperimentSpec(Frozen):
    """The whole of `experiment.yaml`.

    `entry` is given `--config FILE --seed N --out DIR`, or holds `{config}`, `{seed}` and `{out}`.
    """

    schema_: Annotated[Literal[1], Field(alias="schema")] = 1
    entry: Annotated[tuple[str, ...], Field(min_length=1)]
    experiments: Annotated[tuple[ExperimentEntry, ...], Field(min_length=1)]
    sample: SampleSpec = SampleSpec()

    @model_validator(mode="after")
    def _refers_to_itself(self) -> ExperimentSpec:
        absent = [place for place in _PLACES if not any(place in word for word in self.entry)]
        if 0 < len(absent) < len(_PLACES):
            raise Misfit(f"names some places, and so must name {' and '.join(absent)}", "entry")
        by_id: dict[str, ExperimentEntry] = {}
        for position, entry in enumerate(self.experiments):
            if entry.id in by_id:
                raise Misfit(f"'{entry.id}' stands twice", "experiments", position, "id")
            by_id[entry.id] = entry
        for position, entry in enumerate(self.experiments):
            if entry.of is None:
                continue
            place = ("experiments", position, "of")
            base = by_id.get(entry.of)
            if base is None:
                raise Misfit(f"'{entry.of}' is not among: {', '.join(by_id)}", *place)
            if base.of is not None:
                raise Misfit(f"'{entry.of}' is itself a change of '{base.of}'", *place)
        return self


class Experiment(Frozen):
    """An experiment with its configuration resolved: what is run for each seed."""

    id: Slug
    kind: ExperimentKind
    claims: tuple[ClaimId, ...]
    config: dict[str, Any]
    of: Slug | None = None
    change: dict[str, Any] | None = None
    assumption: Slug | None = None
    timeout: Seconds


class RunIdentity(Frozen):
    """What makes two runs the same run; its digest is the run key."""

    code_tree: Sha256
    command: tuple[str, ...]
    config: dict[str, Any]
    seed: int | None
    """None for code that takes no seed."""
    environment: Sha256
    """Digest of the lock, or of the image."""
    data_manifest: Sha256
    reads: Sha256
    """Digest of the claims that the run must give values for, and of how its output maps to them."""
    purpose: Purpose
    repeat: int = 0
    """Sweep number, or the number of a deliberate repetition."""

    @property
    def run_key(self) -> str:
        """The identity of the run."""
        return digest(self)


class MetricValue(Frozen):
    """One value that a run reports for a claim, in the claim's unit."""

    claim: ClaimId
    value: float


class MetricsFile(Frozen):
    """The whole of `metrics.json`."""

    metrics: tuple[MetricValue, ...]
    notes: str = ""
