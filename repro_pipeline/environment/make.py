"""From a code folder to its built environment: requirements, lock, build."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from repro_pipeline.bundle.task import TaskCode
from repro_pipeline.environment.build import build
from repro_pipeline.environment.interpreter import python_for
from repro_pipeline.environment.lock import lock_info, resolve
from repro_pipeline.environment.model import BuiltEnvironment, Requirements
from repro_pipeline.environment.requirements import find_requirements
from repro_pipeline.ports import ArtifactStore
from repro_pipeline.sandbox.policy import THREADS, default_environment


def make_environment(
    code: Path | None,
    given: TaskCode | None,
    *,
    store: ArtifactStore,
    cache: Path,
    also: Sequence[str] = (),
) -> BuiltEnvironment:
    """Lock what the code says it needs, keep the lock in the store, and build from it alone.

    `code` is None where it is yet to be written. `also` are packages that the code does not name; they
    are not added to a lock that comes with the code. Raises BuildError where requirements conflict, a
    package cannot be had, or no Python fits.
    """
    named = given.python if given else None
    requirements = Requirements(kind="requirements", file="repro.yaml: agent.packages")
    if code is not None:
        requirements = find_requirements(code, given.requirements if given else None)
    if also and requirements.kind != "given_lock":
        lines = (*requirements.lines, *(one for one in also if one not in requirements.lines))
        requirements = requirements.model_copy(update={"lines": lines})
    python = python_for(named or requirements.python, cache=cache)
    text = resolve(requirements, python=python, cache=cache)
    lock = lock_info(text, requirements=requirements, python=python, named=named)
    store.put(text.encode())
    return build(text, lock=lock, cache=cache, variables=fixed_variables())


def fixed_variables() -> dict[str, str]:
    """The variables that every run has and that can change a number: hash seed, threads, locale."""
    given = default_environment("", "")
    return {name: given[name] for name in ("PYTHONHASHSEED", "LANG", *THREADS)}
