"""All readings of one submission or of given code: what code, records, responses and claims say."""

from __future__ import annotations

import struct
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from repro_pipeline.claims.model import Claim, ReportedClaims
from repro_pipeline.experiment import responses
from repro_pipeline.experiment.campaign import Setting, input_mounts
from repro_pipeline.experiment.changed import Changed
from repro_pipeline.experiment.model import Run
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
    unread,
)
from repro_pipeline.forensics.archives import unpacked
from repro_pipeline.forensics.following import Followed, followed, held
from repro_pipeline.forensics.graph import Graph
from repro_pipeline.forensics.mutate import FACTORS
from repro_pipeline.forensics.prose import in_prose, is_prose
from repro_pipeline.forensics.python_files import Code
from repro_pipeline.forensics.reader import build
from repro_pipeline.forensics.record import Record, parse
from repro_pipeline.sandbox.policy import OUT, WORK
from repro_pipeline.scoring.literals import telling_digits
from repro_pipeline.scoring.model import Finding
from repro_pipeline.scoring.words import number
from repro_pipeline.stages import Stage
from repro_pipeline.submission.model import Submission

_WRITTEN_DOWN = {
    "constant_metric",
    "constant_formula",
    "follows_constant",
    "hidden_value",
    "looked_up_by_seed",
}
"""Kinds that rest on reported values in the code: in mode `code`, authors may write theirs down."""
_OF_DATA = {"noise", "labels", "train_labels", "test_labels", "test_inputs", "fit_labels"}
_RECORDS = 4
_BINARY_LIMIT = 32 << 20


@dataclass(frozen=True)
class Readings:
    """What is read."""

    stage: Stage
    setting: Setting
    claims: ReportedClaims
    runs: tuple[Run, ...]
    """The evaluation runs that gave values."""
    texts: Mapping[str, str]
    """The text files, path → content."""
    code: Code
    changed: Sequence[Changed]
    again: Mapping[tuple[str, int], Run]
    """Claimed runs, run again."""
    passed_over: Sequence[Run]
    said: Submission | None
    repeatable: bool | None


def read_all(given: Readings) -> tuple[Finding, ...]:
    """Every finding of every reading, once."""
    graph = build(given.code.python)
    graph.unread |= given.code.unread
    static = [
        *sources.findings(graph, given.claims.claims),
        *conduct.findings(graph),
        *leakage.findings(graph),
        *protocol.findings(graph, _switches(given)),
    ]
    found = [
        *static,
        *_seed_ignored(given, graph),
        *_followed(given, graph, {one.kind for one in static}, static),
        *responses.findings(given, graph),
        *_deeds(given, graph),
        *_unread(given),
        *_texts_read(given),
        *proxies.findings(graph, _files(given), _paper(given)),
        *_binaries(given),
        *_claims_of(given),
    ]
    if given.said is None and given.setting.implementation.mode == "code":
        found = [_as_information(one) for one in found]
    used = _used_files(given)
    kinds, moved = {one.kind for one in found}, _unmoved_by_constants(given, found)
    found = [_together(one, kinds, moved) for one in found]
    found = [_unused(one, given, used) for one in found]
    found = [one.model_copy(update={"evidence": given.code.placed(one.evidence)}) for one in found]
    unique = {_same(one): one for one in reversed(found)}
    return tuple(reversed(unique.values()))


def _same(one: Finding) -> tuple:
    """What two findings have in common that say the same; each file that was not read is told."""
    named = one.evidence if one.kind == "unread_code" else ""
    return one.kind, one.severity, one.claims, named


def _seed_ignored(given: Readings, graph: Graph) -> Iterator[Finding]:
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


def _unmoved_by_constants(given: Readings, found: Sequence[Finding]) -> set[str]:
    """The claims whose near constants were all changed, and that did not follow."""
    mutants = [c for c in given.changed if c.way == "mutant"]
    ran = [c for c in mutants if c.run is not None and c.run.values]
    tried = {claim for change in ran for claim in change.places or {}}
    failed = {claim for c in mutants if c not in ran for claim in c.places or {}}
    follow = {claim for one in found if one.kind == "follows_constant" for claim in one.claims}
    return tried - failed - follow


def _together(finding: Finding, kinds: set[str], unmoved: set[str]) -> Finding:
    """What only two readings together show."""
    if finding.kind == "constant_metric" and set(finding.claims) <= unmoved:
        sentence = f"{finding.evidence} But the value does not follow them."
        return finding.model_copy(update={"severity": "info", "evidence": sentence})
    if finding.kind == "made_up_data" and "data_not_read" in kinds:
        sentence = f"{finding.evidence} And no run was seen to read the input data."
        return finding.model_copy(update={"severity": "suspect", "evidence": sentence})
    return finding


def _switches(given: Readings) -> set[str]:
    experiments = given.setting.implementation.experiments
    return {key for one in experiments for key in one.change or {}}


def _used_files(given: Readings) -> set[str]:
    """The Python files that the entry may run: named in it, or in one that it names, and so on."""
    python = given.code.python
    texts = {**given.texts, **python}
    entry = {word for word in given.setting.implementation.command if word in texts}
    used, waiting = set(entry), list(entry)
    while waiting:
        text = texts[waiting.pop()]
        for path in python:
            if path not in used and PurePosixPath(path).stem in text:
                used.add(path)
                waiting.append(path)
    return used


def _unused(finding: Finding, given: Readings, used: set[str]) -> Finding:
    """What is read in code that no run uses, or of a pickle that the run itself made, is no reproach."""
    file = finding.evidence.partition(":")[0]
    if finding.kind == "names_answers" and used and file not in used:
        sentence = f"{finding.evidence} No run uses this file."
        return finding.model_copy(update={"severity": "info", "evidence": sentence})
    own = finding.kind == "hidden_code" and "`pickle." in finding.evidence
    if own and given.runs and not _reads_binary(given):
        sentence = f"{finding.evidence} But no run was seen to read such a file of the submission."
        return finding.model_copy(update={"severity": "info", "evidence": sentence})
    return finding


def _reads_binary(given: Readings) -> bool:
    """Whether a run read a file of the submission that is no text, or left no record of it."""
    records = _records(given)
    asked = {e.about.removeprefix(f"{WORK}/") for r in records for e in r.of("read")}
    return not any(r.processes for r in records) or bool(_binary_files(given) & asked)


def _binary_files(given: Readings) -> set[str]:
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch, "tree")
        given.stage.project.store.get_tree(given.setting.implementation.code_tree, tree)
        files = {p.relative_to(tree).as_posix() for p in tree.rglob("*") if p.is_file()}
    return files - set(given.texts)


def _unread(given: Readings) -> Iterator[Finding]:
    """What the runs may have executed and no reading covers."""
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch, "tree")
        given.stage.project.store.get_tree(given.setting.implementation.code_tree, tree)
        files = {}
        for path in sorted(tree.rglob("*")):
            if path.is_file() and not path.is_symlink():
                with path.open("rb") as file:
                    files[path.relative_to(tree).as_posix()] = file.read(4096)
    command = given.setting.implementation.command
    yield from unread.findings(files, given.code, command, _records(given), str(WORK))


def _files(given: Readings) -> list[Path]:
    return [mount.source for mount in input_mounts(given.stage, given.setting).values()]


def _paper(given: Readings) -> str:
    """The paper's sources as text, where they are text; of a folder of LaTeX, all of them."""
    return paper_text([given.stage.bundle_folder / name for name in given.setting.bundle.sources])


def paper_text(sources: Sequence[Path]) -> str:
    """The text of files, and of the files in folders, that are text as they stand."""
    files = [
        file
        for source in sources
        for file in (sorted(source.rglob("*")) if source.is_dir() else [source])
        if file.suffix in {".md", ".tex", ".txt"} and file.is_file()
    ]
    return "\n".join(file.read_text(errors="replace") for file in files)


def _texts_read(given: Readings) -> Iterator[Finding]:
    """Texts for people that a run reads, or its own code."""
    for record in _records(given):
        for entry in record.of("read"):
            name = entry.about.removeprefix(f"{WORK}/")
            path = PurePosixPath(name)
            prose = is_prose(name) and (path.suffix or path.stem.isupper())
            own = path.suffix == ".py" and "__file__" in _text_of(given, entry.where)
            if name in given.texts and (prose or own):
                yield Finding(
                    kind="reads_own_texts",
                    evidence=f"{entry.where} reads {name}, which no experiment needs.",
                    severity="unverified",
                )
                return


def _text_of(given: Readings, where: str) -> str:
    """The text of the file that did something, from `file:line`."""
    return given.texts.get(where.rpartition(":")[0], "")


def _as_information(finding: Finding) -> Finding:
    if finding.kind in _WRITTEN_DOWN and finding.severity != "info":
        return finding.model_copy(update={"severity": "info"})
    return finding


def _by_id(given: Readings) -> dict[str, Claim]:
    return {claim.id: claim for claim in given.claims.claims}


def _followed(
    given: Readings, graph: Graph, kinds: set[str], static: Sequence[Finding]
) -> Iterator[Finding]:
    direct, _ = sources.path_kinds(graph)
    lines = {f"{c.file}:{c.line}" for n, c in graph.constants.items() if n in direct}
    names = {node[-1] for node in direct if node[0] in {"key", "attr"}}
    by_experiment: dict[str, dict[float, Changed]] = defaultdict(dict)
    for change in given.changed:
        if change.way == "mutant":
            by_experiment[change.experiment][change.factor] = change
    for mutants in by_experiment.values():
        if set(mutants) != set(FACTORS):
            continue
        first = mutants[FACTORS[0]]
        after = [mutants[f].run.values or None if mutants[f].run else None for f in FACTORS]
        claims = _by_id(given)
        for one in followed(claims, first.places or {}, first.base.values, after):
            hidden = "hidden_code" in kinds or one.claim in _ignoring_data(given)
            claim = claims[one.claim]
            joined, targeted = _joined(one, lines, names), _targeted(static, one.claim)
            yield _follows(one, claim, joined, hidden, targeted)
            if _nothing_else_moves(claim.id, given):
                yield from held(one, claim, _paper(given))


def _ignoring_data(given: Readings) -> set[str]:
    """The claims whose value is the same to the bit with data that mean nothing."""
    spoilt = [c for c in given.changed if c.way == "noise" and c.run and c.run.values]
    return {
        claim
        for change in spoilt
        for claim, value in change.base.values.items()
        if change.run.values.get(claim) == value
    }


def _targeted(static: Sequence[Finding], claim: str) -> bool:
    return any(
        one.kind in {"chosen_by_target", "clipped_to_target"} and claim in one.claims
        for one in static
    )


def _joined(one: Followed, lines: set[str], names: set[str]) -> bool:
    """Whether the graph joins a constant to a metric, or all stand where no experiment reads."""
    passes = any(
        place.split(" ")[0] in lines
        or (place.startswith("config") and place.split(" ")[0].rsplit(".", 1)[-1] in names)
        for place in one.places
    )
    return passes or all(map(in_prose, one.places))


def _follows(one: Followed, claim: Claim, joined: bool, hidden: bool, targeted: bool) -> Finding:
    if one.how == "linear":
        severity = "violation" if joined else "suspect" if hidden else "unverified"
        moves = "in exact proportion"
    else:
        severity = "suspect" if targeted else "unverified"
        moves = "to wherever they are moved"
    return Finding(
        kind="follows_constant",
        evidence=f"{one.claim} follows, {moves}, constants at or near its reported value "
        f"{number(claim.value)}: {'; '.join(one.places[:3])}.",
        severity=severity,
        claims=(one.claim,),
    )


def _nothing_else_moves(claim: str, given: Readings) -> bool:
    """Whether a value differs between seeds, and no change of data or labels was seen to move it."""
    seeds = {run.values[claim] for run in given.runs if claim in run.values}
    moved = any(
        c.way in _OF_DATA
        and c.run is not None
        and c.run.values.get(claim) != c.base.values.get(claim)
        for c in given.changed
    )
    return len(seeds) > 1 and not moved


def _records(given: Readings) -> list[Record]:
    store, seen = given.stage.project.store, {}
    for run in given.runs:
        if run.counted.record is not None and sum(e == run.experiment for e, _ in seen) < _RECORDS:
            seen[run.experiment, run.seed] = parse(store.get(run.counted.record))
    return list(seen.values())


def _deeds(given: Readings, graph: Graph) -> Iterator[Finding]:
    if given.stage.project.runner.name == "unsafe_local":
        return  # its places are those of the host, and differ from run to run
    if not given.runs:
        return
    data = {name: str(m.target) for name, m in input_mounts(given.stage, given.setting).items()}
    train = any("train" in claim.metric for claim in given.claims.claims)
    split = not train and any(map(leakage.is_test, (*graph.direct, *graph.derived)))
    yield from deeds.findings(_records(given), data, work=str(WORK), out=str(OUT), split=split)


def _binaries(given: Readings) -> Iterator[Finding]:
    """Reported values in files that are no text: archives of arrays, pickles, models."""
    claims = [c for c in given.claims.claims if c.value and telling_digits(c) >= 2]
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch, "tree")
        given.stage.project.store.get_tree(given.setting.implementation.code_tree, tree)
        for path in sorted(tree.rglob("*")):
            name = path.relative_to(tree).as_posix()
            if name in given.texts or not path.is_file() or path.is_symlink():
                continue
            if path.stat().st_size > _BINARY_LIMIT:
                continue
            content = path.read_bytes()
            content += b"".join(part for _, part in unpacked(content))
            hit = [claim for claim in claims if _holds(content, claim.value)]
            if hit:
                yield Finding(
                    kind="hidden_value",
                    evidence=f"{name} holds reported values.",
                    severity="suspect" if len({c.value for c in hit}) > 1 else "unverified",
                    claims=tuple(claim.id for claim in hit),
                )


def _holds(content: bytes, value: float) -> bool:
    numbers = {value, value / 100}
    return any(
        struct.pack(order, number) in content for number in numbers for order in ("<d", ">d")
    )


def _claims_of(given: Readings) -> Iterator[Finding]:
    said = given.said
    if said is None:
        return
    store = given.stage.project.store
    again = {place: run.values or None for place, run in given.again.items()}
    fresh: dict[str, list] = defaultdict(list)
    for run in (*given.runs, *given.passed_over):
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
        for place, run in given.again.items()
        if run.counted.log and run.values
    }
    code = "\n".join(
        text for path, text in given.texts.items() if not path.endswith((".md", ".rst"))
    )
    yield from logs.findings(said.runs, printed, code, repeatable=given.repeatable)


def _printed(store, run: Run) -> str:
    """What a run printed, and the texts that it left."""
    parts = [store.get(run.counted.log)]
    parts += [
        store.get(digest)
        for name, digest in run.counted.outputs.items()
        if name.endswith((".log", ".txt", "/log"))
    ]
    return "\n".join(part.decode("utf-8", errors="replace") for part in parts)
