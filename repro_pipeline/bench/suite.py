"""A suite's folder, read: which tasks it has, and where each one's parts lie.

suite.yaml
tasks/<id>/bundle/        what an agent is given, blinded: paper, task.yaml, data, references
tasks/<id>/reference/     the verified implementation, laid out as a submission
tasks/<id>/truth.yaml     what is known of the task
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from repro_pipeline.bench.model import SuiteFile, Truth
from repro_pipeline.bench.places import SUITE_NAME
from repro_pipeline.bundle.folder import Bundle, open_bundle
from repro_pipeline.choices import choices
from repro_pipeline.errors import BundleError
from repro_pipeline.frozen import digest
from repro_pipeline.yamlfile import load_model
from repro_pipeline.yamltext import read_yaml

TRUTH_NAME = "truth.yaml"


@dataclass(frozen=True)
class SuiteTask:
    """One task: a paper, its verified implementation, and the truth."""

    id: str
    folder: Path

    @property
    def bundle_folder(self) -> Path:
        """The paper's folder."""
        return self.folder / "bundle"

    @property
    def reference(self) -> Path:
        """The verified implementation, as a submission."""
        return self.folder / "reference"

    @cached_property
    def bundle(self) -> Bundle:
        """The paper's folder, read. Raises UserError."""
        return open_bundle(self.bundle_folder, paper=self.id)

    @cached_property
    def truth(self) -> Truth:
        """What is known of the task. Raises UserError where it does not go with the bundle."""
        path = _there(self.folder / TRUTH_NAME, "says what is known of a task")
        truth = load_model(path, Truth)
        task = self.bundle.task
        claims = {one.claim: n for n, one in enumerate(truth.claims)}
        pairs = {one.pair: n for n, one in enumerate(truth.ablations)}
        self._same("claims", claims, {one.id for one in task.claims})
        self._same("ablations", pairs, {one.id for one in task.ablations})
        return truth

    def where(self, *place: str | int) -> str:
        """A place of truth.yaml, as file:line."""
        path = self.folder / TRUTH_NAME
        return f"{path}:{read_yaml(path.read_text(encoding='utf-8'), str(path)).line(place)}"

    def _same(self, field: str, known: Mapping[str, int], asked: Collection[str]) -> None:
        for name in sorted(known.keys() ^ asked):
            if name in known:
                said, where = (
                    f"'{name}' is not in bundle/task.yaml.",
                    self.where(field, known[name]),
                )
            else:
                said, where = f"'{name}' of bundle/task.yaml is missing.", self.where(field)
            raise BundleError(f"{field}: {said}", where=where)


@dataclass(frozen=True)
class Suite:
    """A suite, opened."""

    folder: Path
    file: SuiteFile

    @cached_property
    def tasks(self) -> tuple[SuiteTask, ...]:
        """The tasks in their order."""
        return tuple(SuiteTask(name, self.folder / "tasks" / name) for name in self.file.tasks)

    def task(self, name: str) -> SuiteTask:
        """The task of that id. Raises BundleError."""
        if name not in self.file.tasks:
            raise BundleError(
                f"the suite has no task '{name}'.",
                where=str(self.folder / SUITE_NAME),
                hint=choices(name, self.file.tasks),
            )
        return self.tasks[self.file.tasks.index(name)]

    def check(self) -> None:
        """Raises UserError where a task cannot be read: no agent is to fail for that."""
        for task in self.tasks:
            task.truth  # noqa: B018 - it reads the bundle as well

    @cached_property
    def content(self) -> str:
        """Digest of every file of the suite's tasks and of suite.yaml."""
        found = [self.folder / SUITE_NAME]
        for task in self.tasks:
            found += sorted(path for path in task.folder.rglob("*") if path.is_file())
        return digest(
            {
                path.relative_to(self.folder).as_posix(): hashlib.sha256(
                    path.read_bytes()
                ).hexdigest()
                for path in found
                if "__pycache__" not in path.parts
            }
        )


def open_suite(folder: Path) -> Suite:
    """Read `suite.yaml`, and see that every task's parts are there.

    Raises BundleError for a missing part, FileFormatError with the line for a fault of the file. The
    truths are read when they are asked for.
    """
    path = _there(folder / SUITE_NAME, "and a folder for each task in tasks/ make a suite")
    suite = Suite(folder, load_model(path, SuiteFile))
    for position, task in enumerate(suite.tasks):
        for part in (task.folder, task.bundle_folder, task.reference):
            if not part.is_dir():
                line = read_yaml(path.read_text(encoding="utf-8"), str(path)).line(
                    ("tasks", position)
                )
                raise BundleError(
                    f"the task '{task.id}' lacks the folder {part.relative_to(folder)}.",
                    where=f"{path}:{line}",
                    hint="A task has bundle/ (the paper and task.yaml), reference/ (the verified "
                    f"implementation, as a submission) and {TRUTH_NAME}.",
                )
    return suite


def _there(path: Path, what: str) -> Path:
    if not path.exists():
        hint = f"A {path.name} {what}; `repro schema {path.name}` prints what stands in it."
        raise BundleError("no such file.", where=str(path), hint=hint)
    return path
