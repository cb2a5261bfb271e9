"""`repro sandbox`: any command under a policy, and what it used; or as a Kubernetes job, printed."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from repro_pipeline.commands.exits import FAULT, INTERRUPTED, OK
from repro_pipeline.commands.parser import command, family
from repro_pipeline.errors import UserError

if TYPE_CHECKING:
    from repro_pipeline.config import Docker
    from repro_pipeline.sandbox.policy import RunOutcome, SandboxPolicy

TIMED_OUT, LIMITED = 124, 125


def add_to(commands) -> None:
    """Add these to the parser."""
    parts = family(commands, "sandbox", "try the sandbox")
    one = command(parts, run, "run")
    one.add_argument(
        "--runner", default="bubblewrap", help="bubblewrap (default), docker or unsafe_local"
    )
    one.add_argument("--policy", metavar="FILE", help="a YAML file: limits, mounts, minimum, …")
    one.add_argument(
        "--mount", action="append", default=[], metavar="SOURCE:TARGET", help="a read-only input"
    )
    one.add_argument("--work", metavar="DIR", help="copied to the working folder /work")
    one.add_argument("--out", metavar="DIR", help="a new folder for what is left in /out")
    one.add_argument("--json", action="store_true", help="print the outcome as JSON")
    one.add_argument("words", nargs=argparse.REMAINDER, metavar="-- COMMAND")
    one = command(parts, job, "job")
    one.add_argument("--name", required=True, help="of the job")
    one.add_argument("--image", required=True, help="that the command runs in")
    one.add_argument("--policy", metavar="FILE", help="a YAML file: limits, mounts, minimum, …")
    one.add_argument(
        "--claim",
        action="append",
        default=[],
        metavar="PATH=CLAIM",
        help="the volume claim, with a folder of it if wanted, behind /work, /out or a mount",
    )
    one.add_argument("words", nargs=argparse.REMAINDER, metavar="-- COMMAND")


def run(options: argparse.Namespace) -> int:
    """Run a command under a policy, show its output, and say what it used and what held.

    Exit code: the command's own; 124 timed out, 125 ended by a limit, 3 no sandbox here.
    """
    from repro_pipeline.sandbox.outputs import printable
    from resources.runners import make_runner

    words = _words(options)
    policy, runner = _policy(options.policy, options.mount), make_runner(options.runner, _docker())
    with tempfile.TemporaryDirectory(prefix="repro-sandbox-") as scratch:
        work, out = Path(scratch, "work"), Path(scratch, "out")
        _copy(options.work, work)
        out.mkdir()
        outcome = runner.run(
            words,
            policy,
            workdir=work,
            out=out,
            log=Path(scratch, "log"),
            on_output=lambda piece: print(printable(piece), end="", flush=True),
        )
        kept = _keep(out, options.out)
    if options.json:
        print(json.dumps({**outcome.model_dump(mode="json"), "out": kept}, indent=2))
    else:
        _print(outcome, kept)
    return _exit_code(outcome)


def job(options: argparse.Namespace) -> int:
    """Print a command under a policy as a Kubernetes job, with a network policy beside it.

    Nothing is sent to a cluster: hand it to `kubectl apply -f -`. What the manifest alone cannot
    hold is said.
    """
    import yaml

    from repro_pipeline.sandbox.kubernetes import ENFORCED, job_manifest

    claims = {}
    for given in options.claim:
        path, equals, claim = given.partition("=")
        if not equals:
            raise UserError(f"'{given}' is no PATH=CLAIM.", where="--claim")
        claims[path] = claim
    manifest = job_manifest(
        _policy(options.policy, []),
        name=options.name,
        image=options.image,
        command=_words(options),
        claims=claims,
    )
    print(yaml.safe_dump(manifest, sort_keys=False), end="")
    lacking = [name for name, level in ENFORCED.items() if level == "unavailable"]
    print(f"Not held by the manifest alone: {', '.join(lacking)}.", file=sys.stderr)
    return OK


def _words(options: argparse.Namespace) -> list[str]:
    words = options.words[1:] if options.words[:1] == ["--"] else options.words
    if not words:
        raise UserError("there is no command.", hint="repro sandbox run -- python3 -c 'print(1)'")
    return words


def _docker() -> Docker:
    """The engine of the project here; the usual one where there is no project."""
    from repro_pipeline.config import CONFIG_NAME, Docker, ProjectConfig, find_project
    from repro_pipeline.yamlfile import load_model

    root = find_project(Path.cwd())
    return load_model(root / CONFIG_NAME, ProjectConfig).docker if root else Docker()


def _policy(file: str | None, given_mounts: list[str]) -> SandboxPolicy:
    from repro_pipeline.sandbox.policy import Mount, SandboxPolicy
    from repro_pipeline.yamlfile import load_model

    policy = load_model(Path(file), SandboxPolicy) if file else SandboxPolicy()
    mounts = []
    for given in given_mounts:
        source, colon, target = given.rpartition(":")
        if not colon or not source:
            raise UserError(f"'{given}' is no SOURCE:TARGET.", where="--mount")
        try:
            mounts.append(Mount(source=Path(source).absolute(), target=Path(target)))
        except ValueError as error:
            reason = str(error).splitlines()[2].strip().removeprefix("Value error, ")
            raise UserError(f"{reason}.", where=f"--mount {given}") from None
    return policy.model_copy(update={"mounts": (*policy.mounts, *mounts)})


def _copy(source: str | None, work: Path) -> None:
    if source is None:
        work.mkdir()
    elif not Path(source).is_dir():
        raise UserError("is no folder.", where=f"--work {source}")
    else:
        shutil.copytree(source, work, symlinks=True)


def _keep(out: Path, target: str | None) -> list[str]:
    """Copy what may be collected to `target`, where asked for; the names of these files."""
    from repro_pipeline.sandbox.outputs import safe_outputs

    files = safe_outputs(out, 1 << 40)
    names = [path.relative_to(out).as_posix() for path in files]
    if target is not None:
        root = Path(target)
        if root.exists() and any(root.iterdir()):
            raise UserError("is not empty.", where=f"--out {target}", hint="Name a new folder.")
        root.mkdir(parents=True, exist_ok=True)
        for path, name in zip(files, names, strict=True):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, root / name)
    return names


def _print(outcome: RunOutcome, kept: list[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    used = {
        "status": f"{outcome.status}: {outcome.reason}" if outcome.reason else str(outcome.status),
        "exit code": "none" if outcome.exit_code is None else str(outcome.exit_code),
        "wall clock": f"{outcome.seconds:.2f} s",
        "CPU": "unknown" if outcome.cpu_seconds is None else f"{outcome.cpu_seconds:.2f} s",
        "peak memory": _mebibytes(outcome.peak_memory_bytes),
        "written": _mebibytes(outcome.output_bytes),
        "files in /out": ", ".join(kept[:10]) + (" …" if len(kept) > 10 else "") or "none",
        "what held": ", ".join(f"{name} {level}" for name, level in outcome.enforcement.items()),
    }
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, text in used.items():
        table.add_row(name, text)
    Console(file=sys.stderr, highlight=False).print(table)


def _mebibytes(count: int | None) -> str:
    return "unknown" if count is None else f"{count / (1 << 20):.1f} MiB"


def _exit_code(outcome: RunOutcome) -> int:
    if outcome.status == "ok":
        return OK
    by_status = {"timed_out": TIMED_OUT, "budget_exhausted": LIMITED, "cancelled": INTERRUPTED}
    return by_status.get(str(outcome.status), outcome.exit_code or FAULT)
