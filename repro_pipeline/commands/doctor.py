"""`repro doctor`: what works on this machine, found by trying, and how to mend what does not."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import repro_pipeline
from repro_pipeline.commands import opening
from repro_pipeline.commands.doctor_packages import graphics_cards, packages
from repro_pipeline.commands.exits import MENDABLE, OK
from repro_pipeline.commands.parser import command
from repro_pipeline.errors import UserError

if TYPE_CHECKING:
    from repro_pipeline.config import ProjectConfig
    from repro_pipeline.project import Project

_ROOM_NEEDED = 5 << 30
"""Bytes that environments and artifacts of a few papers take."""


_PAIRED = ("dagster-postgres", "dagster-docker", "dagster-k8s")
_APART = 16
"""Dagster 1.n.p goes with 0.(n + 16).p of its other packages."""


@dataclass(frozen=True)
class Finding:
    """One thing that was tried."""

    subject: str
    state: Literal["ok", "warning", "fault"]
    sentence: str


def add_to(commands) -> None:
    """Add it to the parser."""
    one = command(commands, doctor, "doctor")
    one.add_argument("--json", action="store_true", help="one JSON object per finding")
    one.add_argument(
        "--ask-models", action="store_true", help="ask each model for one token (it costs a little)"
    )


def doctor(options: argparse.Namespace) -> int:
    """Try Python, the sandboxes, disk and, in a project, its files, ledger, store and services.

    Exit code 2 where something is at fault that a run needs.
    """
    findings = list(examine(ask_models=options.ask_models))
    if options.json:
        for finding in findings:
            print(json.dumps(asdict(finding)))
    else:
        _print(findings)
    return MENDABLE if any(finding.state == "fault" for finding in findings) else OK


def examine(*, ask_models: bool = False) -> Iterator[Finding]:
    """Everything that can be tried here; the project's part where there is a project."""
    from repro_pipeline.config import ProjectConfig

    yield _python()
    yield _versions()
    project, trouble = None, ""
    try:
        project = opening.project_here()
    except UserError as error:
        trouble = str(error)
    yield from _runners(project.config if project else ProjectConfig())
    yield Finding(*graphics_cards())
    yield _disk(Path.cwd())
    if project is None:
        absent = "there is no repro.yaml" in trouble
        yield Finding("project", "warning" if absent else "fault", trouble)
        return
    yield Finding("project", "ok", str(project.root))
    yield _tried("ledger", lambda: _ledger(project))
    yield _tried("store", lambda: _store(project))
    yield _tried("rubric", lambda: _rubric(project))
    yield _tried("Dagster", lambda: _dagster(project))
    if project.tei_service is not None:
        yield _tried("GROBID", lambda: f"version {project.tei_service.version()}")
    yield from (Finding(*one) for one in packages(project))
    yield from _models(project, ask_models)


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    if (3, 11) <= sys.version_info[:2] < (3, 14):
        return Finding("Python", "ok", version)
    return Finding("Python", "fault", f"{version}; 3.11, 3.12 or 3.13 is needed.")


def _versions() -> Finding:
    """Dagster's packages come in pairs of versions; others do not even import."""
    found = {}
    for name in ("dagster", "dagster-webserver", "dagster-graphql", *_PAIRED):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    core = found["dagster"]
    minor, patch = core.split(".")[1:3]
    paired = f"0.{int(minor) + _APART}.{patch}"
    wrong = [f"{n} {v}" for n, v in found.items() if v != (paired if n in _PAIRED else core)]
    if wrong:
        hint = "Install the locked ones: `pip install --require-hashes -r requirements.lock`."
        return Finding("versions", "fault", f"dagster {core} and {', '.join(wrong)} differ. {hint}")
    shown = ", ".join(f"{name} {one}" for name, one in found.items())
    return Finding("versions", "ok", f"repro-pipeline {repro_pipeline.__version__}, {shown}")


def _runners(config: ProjectConfig) -> Iterator[Finding]:
    from repro_pipeline.errors import SandboxUnavailable
    from resources.runners import RUNNERS, make_runner

    for name in RUNNERS:
        unsafe = name == "unsafe_local"
        try:
            held = make_runner(name, config.docker).enforcement()
        except SandboxUnavailable as error:
            state = "fault" if name == config.runner else "warning"
            yield Finding(f"runner {name}", state, str(error))
            continue
        levels = {level: [n for n, one in held.items() if one == level] for level in held.values()}
        said = "; ".join(f"{level}: {', '.join(names)}" for level, names in levels.items())
        why = "NO sandbox, by explicit choice only. " if unsafe else ""
        yield Finding(f"runner {name}", "warning" if unsafe else "ok", f"{why}{said}")


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    sentence = f"{free / (1 << 30):.1f} GiB free"
    if free >= _ROOM_NEEDED:
        return Finding("disk", "ok", sentence)
    wanted = f"{_ROOM_NEEDED >> 30} GiB are wanted for environments and artifacts."
    return Finding("disk", "warning", f"{sentence}; {wanted}")


def _tried(subject: str, trying: Callable[[], str]) -> Finding:
    try:
        return Finding(subject, "ok", trying())
    except UserError as error:
        return Finding(subject, "fault", str(error))


def _ledger(project: Project) -> str:
    chains = project.ledger.chains()
    events = sum(head.seq for head in map(project.ledger.head, chains) if head)
    return f"{events} events in {len(chains)} chains (`repro ledger verify` checks them)"


def _store(project: Project) -> str:
    content = b"repro doctor"
    digest = project.store.put(content)
    if project.store.get(digest) != content:
        raise UserError("gives back other bytes than it was given.", where="the artifact store")
    return "writes and reads"


def _rubric(project: Project) -> str:
    from repro_pipeline.scoring.rubric import Rubric
    from repro_pipeline.yamlfile import load_model

    dimensions = load_model(project.rubric_file, Rubric).dimensions
    critical = [name for name, rule in dimensions if rule.critical]
    return f"critical: {', '.join(critical) or 'nothing'}"


def _dagster(project: Project) -> str:
    home = project.state / "dagster"
    try:
        instance = opening.instance_of(project)
        count = instance.get_runs_count()
    except Exception as error:  # of its database's driver, or of an older version's tables
        said = (str(error).strip() or repr(error)).splitlines()[0]
        raise UserError(
            f"its instance cannot be read: {said}",
            where=str(home),
            hint=f"After an update of Dagster run `DAGSTER_HOME={home} dagster instance migrate`.",
        ) from error
    return f"{count} launches, telemetry {'ON' if instance.telemetry_enabled else 'off'}"


def _models(project: Project, ask: bool) -> Iterator[Finding]:
    roles = [(name, role) for name, role in project.config.models if role is not None]
    for name, role in roles:
        if ask:
            yield _tried(f"model {name}", lambda name=name: _answer_of(project, name))
        else:
            said = f"{role.model} is configured; it was not called (--ask-models does)."
            yield Finding(f"model {name}", "ok", said)
    if not roles:
        yield Finding("models", "warning", "None is configured: only given code can be run.")


def _answer_of(project: Project, role: str) -> str:
    from repro_pipeline.chat import ChatRequest, Message

    question = ChatRequest(
        step="doctor", role=role, messages=[Message(role="user", content="Say yes.")], max_tokens=1
    )
    answer = project.chat.complete(question)
    return f"{answer.model} answers"


def _print(findings: list[Finding]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    style = {"ok": "green", "warning": "yellow", "fault": "bold red"}
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for finding in findings:
        state = Text(finding.state, style=style[finding.state])
        table.add_row(state, finding.subject, Text(finding.sentence))
    Console(highlight=False).print(table)
