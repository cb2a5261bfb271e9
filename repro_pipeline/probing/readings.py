"""All readings of one submission or of given code: what code, records, responses and claims say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from repro_pipeline.findings import Finding
from repro_pipeline.forensics import (
    claimed,
    conduct,
    deeds,
    leakage,
    logs,
    protocol,
    proxies,
    seeding,
    sources,
)
from repro_pipeline.forensics.graph import Graph
from repro_pipeline.forensics.reader import build
from repro_pipeline.ledger.runs import Run
from repro_pipeline.ports import ArtifactStore
from repro_pipeline.probing import code_files, constants, responses
from repro_pipeline.probing.given import Given
from repro_pipeline.sandbox.policy import OUT, WORK

_WRITTEN_DOWN = {
    "constant_metric",
    "constant_formula",
    "follows_constant",
    "hidden_value",
    "looked_up_by_seed",
}
"""Kinds that rest on reported values in the code: in mode `code`, authors may write theirs down."""


def read_all(given: Given) -> tuple[Finding, ...]:
    """Every finding of every reading, once."""
    graph = build(given.source.code.python)
    graph.unread |= given.source.code.unread
    static = [
        *sources.findings(graph, given.claims.claims),
        *conduct.findings(graph),
        *leakage.findings(graph),
        *protocol.findings(graph, _switches(given)),
    ]
    found = [
        *static,
        *_seed_ignored(given, graph),
        *constants.findings(given, graph, static),
        *responses.findings(given, graph),
        *_deeds(given, graph),
        *code_files.unread_files(given),
        *code_files.own_texts(given),
        *proxies.findings(graph, given.files, given.paper),
        *code_files.hidden_values(given),
        *_claims_of(given),
    ]
    if given.said is None and given.setting.implementation.mode == "code":
        found = [_as_information(one) for one in found]
    used = code_files.used_files(given)
    kinds, unmoved = {one.kind for one in found}, constants.unmoved(given.tried.changes, found)
    found = [_together(one, kinds, unmoved) for one in found]
    found = [_unused(one, given, used) for one in found]
    found = [
        one.model_copy(update={"evidence": given.source.code.placed(one.evidence)}) for one in found
    ]
    unique = {_same(one): one for one in reversed(found)}
    return tuple(reversed(unique.values()))


def _same(one: Finding) -> tuple:
    """What two findings have in common that say the same; each file that was not read is told."""
    named = one.evidence if one.kind == "unread_code" else ""
    return one.kind, one.severity, one.claims, named


def _seed_ignored(given: Given, graph: Graph) -> Iterator[Finding]:
    """The same values for every seed, from code that draws random numbers from a seed of its own."""
    values: dict[str, set[float]] = defaultdict(set)
    for run in given.runs:
        for claim, value in run.values.items():
            values[claim].add(value)
    fixed = seeding.fixed_seeds(graph)
    same = tuple(sorted(claim for claim, found in values.items() if len(found) == 1))
    if fixed and same and len({run.seed for run in given.runs}) > 1:
        yield Finding(
            kind="seed_ignored",
            evidence="Every seed gives the same, and the code has a seed of its own "
            f"({fixed[0]}): how others "
            "would do is not shown.",
            severity="unverified",
            claims=same,
        )


def _together(finding: Finding, kinds: set[str], unmoved: set[str]) -> Finding:
    """What only two readings together show."""
    if finding.kind == "constant_metric" and set(finding.claims) <= unmoved:
        sentence = f"{finding.evidence} But the value does not follow them."
        return finding.model_copy(update={"severity": "info", "evidence": sentence})
    if finding.kind == "made_up_data" and "data_not_read" in kinds:
        sentence = f"{finding.evidence} And no run was seen to read the input data."
        return finding.model_copy(update={"severity": "suspect", "evidence": sentence})
    return finding


def _switches(given: Given) -> set[str]:
    experiments = given.setting.implementation.experiments
    return {key for one in experiments for key in one.change or {}}


def _unused(finding: Finding, given: Given, used: set[str]) -> Finding:
    """What is read in code that no run uses, or of a pickle that the run itself made, is no reproach."""
    file = finding.evidence.partition(":")[0]
    if finding.kind == "names_answers" and used and file not in used:
        sentence = f"{finding.evidence} No run uses this file."
        return finding.model_copy(update={"severity": "info", "evidence": sentence})
    own = finding.kind == "hidden_code" and "`pickle." in finding.evidence
    if own and given.runs and not code_files.reads_binary(given):
        sentence = f"{finding.evidence} But no run was seen to read such a file of the submission."
        return finding.model_copy(update={"severity": "info", "evidence": sentence})
    return finding


def _as_information(finding: Finding) -> Finding:
    if finding.kind in _WRITTEN_DOWN and finding.severity != "info":
        return finding.model_copy(update={"severity": "info"})
    return finding


def _deeds(given: Given, graph: Graph) -> Iterator[Finding]:
    if given.stage.project.runner.name == "unsafe_local":
        return  # its places are those of the host, and differ from run to run
    if not given.runs:
        return
    train = any("train" in claim.metric for claim in given.claims.claims)
    split = not train and any(map(leakage.is_test, (*graph.direct, *graph.derived)))
    yield from deeds.findings(
        given.records, given.inputs, work=str(WORK), out=str(OUT), split=split
    )


def _claims_of(given: Given) -> Iterator[Finding]:
    said = given.said
    if said is None:
        return
    store = given.stage.project.store
    again = {place: run.values or None for place, run in given.tried.again.items()}
    fresh: dict[str, list] = defaultdict(list)
    for run in (*given.runs, *given.tried.passed_over):
        if run.values:
            fresh[run.experiment].append(run.values)
    yield from claimed.findings(
        said,
        given.claims.claims,
        again,
        fresh,
        repeatable=given.repeatable,
        experiments=[e.id for e in given.setting.implementation.experiments],
    )
    printed = {
        place: _printed(store, run)
        for place, run in given.tried.again.items()
        if run.counted.log and run.values
    }
    code = "\n".join(
        text for path, text in given.source.texts.items() if not path.endswith((".md", ".rst"))
    )
    yield from logs.findings(said.runs, printed, code, repeatable=given.repeatable)


def _printed(store: ArtifactStore, run: Run) -> str:
    """What a run printed, and the texts that it left."""
    parts = [store.get(run.counted.log)]
    parts += [
        store.get(digest)
        for name, digest in run.counted.outputs.items()
        if name.endswith((".log", ".txt", "/log"))
    ]
    return "\n".join(part.decode("utf-8", errors="replace") for part in parts)
