"""no_leakage: no evaluation data in training, no label within reach, no reported value shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from repro_pipeline.environment.model import ManifestEntry
from repro_pipeline.evidence.model import Evidence
from repro_pipeline.findings import Finding, Probe
from repro_pipeline.scoring.dimension import combine, summary
from repro_pipeline.scoring.model import Check, DimensionScore
from repro_pipeline.scoring.rubric import Rubric
from repro_pipeline.status import Outcome
from repro_pipeline.wording import counted

LEAKS = frozenset(
    {
        "fit_on_test",
        "test_in_training",
        "fit_before_split",
        "chosen_on_test",
        "best_of_several",
        "target_among_features",
        "tested_on_training_rows",
        "labels_do_not_matter",
        "training_does_not_matter",
        "test_labels_used",
        "test_rows_together",
        "test_rows_unused",
    }
)
"""The kinds of findings that are about leakage, whatever they rest on."""
_FEW, _HALF = 0.01, 0.5


def score(evidence: Evidence, rubric: Rubric) -> DimensionScore:
    """Score the dimension. It has no threshold: one leak fails it."""
    probes = evidence.integrity.probes
    checks = (
        *_data(evidence),
        _shown(evidence.mode, _probe(probes, "shown_text")),
        *_duplicates(_probe(probes, "shared_rows")),
        *_code(_probe(probes, "code_read"), evidence.integrity.found),
    )
    return DimensionScore(
        id="no_leakage",
        outcome=combine(checks),
        critical=rubric.dimensions.no_leakage.critical,
        value=None,
        threshold=None,
        sentence=summary(checks),
        checks=checks,
    )


_LOOKED_AT_BY = ("paper_bundle", "parsed_paper", "reported_claims", "data_manifest")
"""The stages without which nobody knows what the data are."""


def _data(evidence: Evidence) -> tuple[Check, ...]:
    """Files, rows and labels; where the data could not be looked at, the one reason for all three."""
    entries = evidence.data.entries
    for failure in evidence.failures:
        if not entries and failure.sentence.startswith(tuple(f"{s}:" for s in _LOOKED_AT_BY)):
            sentence = f"The data could not be looked at ({failure.sentence})"
            return tuple(_check(id, Outcome.NOT_CHECKABLE, sentence) for id in _OF_DATA)
    return _files(entries), _rows(entries), _labels(entries)


_OF_DATA = ("files", "rows", "labels")


def _files(entries: Sequence[ManifestEntry]) -> Check:
    """Whether one file serves, under two names, for training and for evaluation."""
    if reason := _no_splits(entries):
        return _check("files", Outcome.NOT_CHECKABLE, reason)
    shared = [
        (first, second)
        for first in entries
        for second in entries
        if first is not second
        and first.sha256 == second.sha256
        and "train" in first.roles
        and _evaluation_roles(second)
    ]
    names = ", ".join(f"{first.name} and {second.name}" for first, second in shared)
    if not shared:
        count = counted(len({entry.sha256 for entry in entries}), "file")
        sentence = f"No file serves under two names for training and evaluation ({count} by hash)."
        return _check("files", Outcome.PASS, sentence)
    if all(_by_rows(first) and _by_rows(second) for first, second in shared):
        sentence = f"The same file stands under two names, so its rows were not compared: {names}."
        return _check("files", Outcome.NOT_CHECKABLE, sentence)
    return _check("files", Outcome.FAIL, f"Training and evaluation use the same file: {names}.")


def _rows(entries: Sequence[ManifestEntry]) -> Check:
    """Whether rows of one file serve under two roles: for model choice and test as well."""
    if reason := _no_splits(entries):
        return _check("rows", Outcome.NOT_CHECKABLE, reason)
    split = [entry for entry in entries if "train" in entry.roles and _evaluation_roles(entry)]
    if not split:
        sentence = "Training and evaluation lie in different files, whose rows are not compared."
        return _check("rows", Outcome.NOT_APPLICABLE, sentence)
    shared = [
        f"{entry.name}: {'all' if count is None else count} rows ({roles})"
        for entry in split
        for roles, count in entry.shared_rows.items()
        if count != 0
    ]
    names = ", ".join(entry.name for entry in split)
    if shared:
        sentence = f"The same rows serve under two roles: {', '.join(shared)}."
        return _check("rows", Outcome.FAIL, sentence)
    return _check("rows", Outcome.PASS, f"No row of {names} serves under two roles.")


def _duplicates(probe: Probe | None) -> Iterator[Check]:
    """Whether rows for evaluation occur among those for training, by their content.

    Data sets hold some rows twice; a share beyond 1 % wants a look, and half of them is no split.
    """
    if probe is None:
        return
    if not probe.applies:
        yield _check("duplicates", Outcome.NOT_CHECKABLE, probe.sentence)
        return
    share = float(probe.evidence["near"]) / float(probe.evidence["rows"])
    outcome = Outcome.PASS if share <= _FEW else Outcome.INCONCLUSIVE
    yield _check("duplicates", Outcome.FAIL if share >= _HALF else outcome, probe.sentence)


def _code(read: Probe | None, found: Sequence[Finding]) -> Iterator[Check]:
    """What reading the code, and its answers to spoilt labels, say of leaks."""
    if read is None:
        return
    leaks = [one for one in found if one.kind in LEAKS and one.severity != "info"]
    grave = [one for one in leaks if one.severity in {"suspect", "violation"}]
    if grave:
        yield _check("code", Outcome.FAIL, grave[0].evidence)
    elif leaks:
        yield _check("code", Outcome.INCONCLUSIVE, leaks[0].evidence)
    elif not read.applies:
        yield _check("code", Outcome.NOT_CHECKABLE, read.sentence)
    else:
        yield _check("code", Outcome.PASS, f"{read.sentence} No leak was seen in it.")


def _labels(entries: Sequence[ManifestEntry]) -> Check:
    """Whether test labels lie out of the runs' reach."""
    sealed = {entry.name for entry in entries if entry.sealed}
    tests = [entry.name for entry in entries if "test" in entry.roles and not entry.sealed]
    in_reach = [name for name in tests if name not in sealed]
    if not entries:
        sentence = "The test labels are not sealable: no data file is declared."
    elif not tests:
        sentence = "The test labels are not sealable: no data file has the role test."
    elif in_reach:
        sentence = f"The test labels of {', '.join(in_reach)} are not sealed: runs can read them."
    else:
        sentence = f"The test labels of {', '.join(tests)} are sealed: no run is given them."
        return _check("labels", Outcome.PASS, sentence)
    return _check("labels", Outcome.NOT_CHECKABLE, sentence)


def _shown(mode: str, probe: Probe | None) -> Check:
    """Whether text that the code's author, an agent, was shown holds a reported value."""
    if mode == "code":
        return _check(
            "shown_text", Outcome.NOT_APPLICABLE, "The code was given; no agent was shown anything."
        )
    if probe is None or not probe.applies:
        why = probe.sentence if probe else "What the agent was shown was not recorded."
        return _check("shown_text", Outcome.NOT_CHECKABLE, why)
    outcome = Outcome.FAIL if probe.evidence.get("hits") else Outcome.PASS
    return _check("shown_text", outcome, probe.sentence)


def _no_splits(entries: Sequence[ManifestEntry]) -> str:
    """Why splits cannot be compared; empty where they can."""
    if not entries:
        return "No data file is declared, so its splits cannot be compared."
    if not any("train" in entry.roles for entry in entries):
        return "No data file has the role train, so the splits cannot be compared."
    if not any(_evaluation_roles(entry) for entry in entries):
        return "No data file has the role validation or test, so the splits cannot be compared."
    return ""


def _evaluation_roles(entry: ManifestEntry) -> list[str]:
    return [role for role in ("validation", "test") if role in entry.roles]


def _by_rows(entry: ManifestEntry) -> bool:
    """Whether every role of the file names its rows."""
    return all(role in entry.role_files for role in entry.roles)


def _probe(probes: Sequence[Probe], name: str) -> Probe | None:
    return next((probe for probe in probes if probe.id == name), None)


def _check(name: str, outcome: Outcome, sentence: str) -> Check:
    return Check(id=name, outcome=outcome, sentence=sentence)
