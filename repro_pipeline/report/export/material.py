"""What of a reproduction may leave the project: its code, lock, public inputs and results.

Never exported: private inputs, sealed labels, the paper's own text, the project's secret. A file of
the code whose bytes are those of a private or sealed input, or that lies at its place, is left out and
named. What a run printed or left may quote private rows, so where any input is private only its
numbers go. Copies that code holds in other bytes (an archive, a table of its own) are not found.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from repro_pipeline.bundle.folder import Bundle, code_prefix
from repro_pipeline.environment.model import DataManifest, ManifestEntry
from repro_pipeline.errors import BundleError, IntegrityError
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.ledger.runs import Attempt, Purpose, Run
from repro_pipeline.project import Project
from repro_pipeline.report.model import ReportData
from repro_pipeline.report.privacy import is_private
from repro_pipeline.report.write import ReportFiles
from repro_pipeline.stages import latest, output_of
from repro_pipeline.tree import Tree


@dataclass(frozen=True)
class Material:
    """A paper's latest report, and what it rests on."""

    project: Project
    report: ReportData
    files: ReportFiles
    implementation: Implementation
    tree: Tree
    """The code without what is private or sealed."""
    left_out: tuple[str, ...]
    """Paths of the code's files that are not exported."""

    @property
    def paper(self) -> str:
        """The paper's id."""
        return self.report.paper

    @property
    def lock(self) -> str:
        """Digest of the lock."""
        return self.report.evidence.environment.lock.sha256

    @property
    def inputs(self) -> tuple[ManifestEntry, ...]:
        """The inputs that runs are given."""
        return tuple(entry for entry in self.report.evidence.data.entries if not entry.sealed)

    @property
    def private(self) -> bool:
        """Whether any input is private."""
        return is_private(self.report.evidence.data)

    @property
    def runs(self) -> tuple[Run, ...]:
        """The evaluation runs, failed ones included."""
        return tuple(run for run in self.report.evidence.runs if run.purpose is Purpose.EVAL)


def gather(project: Project, paper: str) -> Material:
    """What may leave of a paper's latest report.

    Raises BundleError where the paper has no report, or nothing that could be run again.
    """
    row = latest(project, paper, "report")
    if row is None or row.output is None:
        raise BundleError(
            f"there is no report of '{paper}'.", hint=f"Make one with `repro run {paper}`."
        )
    files = output_of(project, row, ReportFiles)
    report = ReportData.model_validate_json(project.store.get(files.json_data))
    made = latest(project, paper, "implementation")
    code = report.evidence.code_tree
    if code is None or report.evidence.environment is None or made is None or made.output is None:
        raise BundleError(
            f"'{paper}' has nothing to export: no code was frozen, or no environment was built.",
            hint=f"`repro report {paper}` says what stopped it.",
        )
    bundle = output_of(project, latest(project, paper, "paper_bundle"), Bundle)
    data = output_of(project, latest(project, paper, "data_manifest"), DataManifest)
    tree = Tree.model_validate_json(project.store.get(code))
    kept, left_out = _public(tree, bundle, data)
    return Material(
        project=project,
        report=report,
        files=files,
        implementation=output_of(project, made, Implementation),
        tree=kept,
        left_out=left_out,
    )


def input_name(entry: ManifestEntry) -> str:
    """The file of an input in an export; of a private one nothing but its name shows."""
    return entry.name if entry.private else f"{entry.name}{PurePosixPath(entry.file).suffix}"


def write_code(material: Material, folder: Path) -> None:
    """Write the code's files and inner links into a folder that is made."""
    folder.mkdir(parents=True)
    for empty in material.tree.empty_folders:
        (folder / empty).mkdir(parents=True, exist_ok=True)
    for file in material.tree.files:
        write_artifact(material.project, file.sha256, folder / file.path)
        (folder / file.path).chmod(0o755 if file.executable else 0o644)
    for link in material.tree.links:
        (folder / link.path).parent.mkdir(parents=True, exist_ok=True)
        (folder / link.path).symlink_to(link.target)


def write_inputs(material: Material, folder: Path) -> None:
    """Copy the public inputs into a folder that is made.

    Raises IntegrityError where a file is gone or is no longer what the runs were given.
    """
    from repro_pipeline.environment.manifest import verify_manifest

    folder.mkdir(parents=True)
    public = tuple(entry for entry in material.inputs if not entry.private)
    bundle = material.project.bundle(material.paper)
    verify_manifest(DataManifest(entries=public), bundle)
    for entry in public:
        shutil.copyfile(bundle / entry.file, folder / input_name(entry))


def write_artifact(project: Project, digest: str, path: Path) -> None:
    """Write an artifact to a file. Raises IntegrityError where it is missing or altered."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with project.store.open(digest) as stream, path.open("xb") as file:
        shutil.copyfileobj(stream, file)


def outputs_of(material: Material, attempt: Attempt) -> dict[str, str]:
    """The files that an attempt left and that may be shown, by path, with their digests."""
    return {} if material.private else dict(attempt.outputs)


def log_of(material: Material, attempt: Attempt) -> str | None:
    """An attempt's log, where it may be shown and is in the store."""
    shown = attempt.log and not material.private and attempt.log in material.project.store
    return attempt.log if shown else None


def _public(tree: Tree, bundle: Bundle, data: DataManifest) -> tuple[Tree, tuple[str, ...]]:
    """The tree without what is private or sealed, and the paths of what it lost."""
    hidden = [entry for entry in data.entries if entry.private or entry.sealed]
    places = {entry.file for entry in hidden}
    places |= {file for entry in hidden if entry.private for file in entry.role_files.values()}
    digests = {entry.sha256 for entry in hidden}
    digests |= {bundle.files[place] for place in places if place in bundle.files}
    prefix = code_prefix(bundle.task)
    lost = {f.path for f in tree.files if f.sha256 in digests or prefix + f.path in places}
    kept_links = [link for link in tree.links if not _leads_to(link.path, link.target, lost)]
    lost_links = {link.path for link in tree.links} - {link.path for link in kept_links}
    kept = Tree(
        files=tuple(file for file in tree.files if file.path not in lost),
        links=tuple(kept_links),
        empty_folders=tree.empty_folders,
    )
    return kept, tuple(sorted(lost | lost_links))


def _leads_to(path: str, target: str, lost: Iterable[str]) -> bool:
    parts: list[str] = []
    for part in (PurePosixPath(path).parent / target).parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts) in set(lost)


def check_whole(material: Material) -> None:
    """Raise IntegrityError where an artifact that every export needs is missing."""
    needed = [material.lock, *(file.sha256 for file in material.tree.files)]
    missing = [digest for digest in needed if digest not in material.project.store]
    if missing:
        raise IntegrityError(
            "an artifact is missing.", where=missing[0], hint="Run `repro store verify`."
        )
