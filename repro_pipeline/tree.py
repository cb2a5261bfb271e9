"""A folder as one artifact: the canonical listing of its files, by digest, and what refers to what."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, model_validator

from repro_pipeline.errors import IntegrityError, StoreError
from repro_pipeline.frozen import Frozen, Sha256, canonical_json
from repro_pipeline.ledger.events import (
    AgentStepped,
    AttemptFinished,
    AttemptStarted,
    BenchPlanned,
    BenchTrialEnded,
    DownloadFinished,
    EnvironmentBuilt,
    Event,
    ImplementationFrozen,
    ModelCalled,
    PatchApplied,
    Payload,
    RubricSeen,
    ScoresChanged,
    StageFinished,
    SweepEnded,
)

if TYPE_CHECKING:
    from repro_pipeline.ports import ArtifactStore, Ledger

LEFT_OUT = frozenset({".git", "__pycache__", ".venv"})
"""Names that are no part of a tree, at any depth."""

_DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_CHUNK = 1 << 20


def _inside(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path:
        raise ValueError(f"'{path}' does not stay inside the tree")
    return path


InnerPath = Annotated[str, AfterValidator(_inside)]
"""A path below a tree's root, with `/` between its parts."""


class TreeFile(Frozen):
    """A file of a tree."""

    path: InnerPath
    sha256: Sha256
    executable: bool


class TreeLink(Frozen):
    """A symbolic link that stays inside the tree."""

    path: InnerPath
    target: str

    @model_validator(mode="after")
    def _stays_inside(self) -> TreeLink:
        if self.target.startswith("/") or _leaves(PurePosixPath(self.path).parent, self.target):
            raise ValueError(f"the link '{self.path}' leaves the tree")
        return self


class Tree(Frozen):
    """What `put_tree` stores: files, links and empty folders, each sorted by path."""

    kind: Literal["tree"] = "tree"
    version: Literal[1] = 1
    files: tuple[TreeFile, ...] = ()
    links: tuple[TreeLink, ...] = ()
    empty_folders: tuple[InnerPath, ...] = ()


def walk(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Each file, link and empty folder below `folder`, in order of path.

    Raises StoreError, naming it, for a file that is no regular file, folder or link, for a link
    that leaves the folder, and for a name that is no UTF-8.
    """
    try:
        yield from _walk(folder, PurePosixPath())
    except OSError as error:
        raise StoreError(
            f"the folder cannot be read: {error.strerror}", where=str(error.filename or folder)
        ) from error


def link_target(folder: Path, path: str) -> str:
    """Where the link at `path` below `folder` points to. Raises StoreError if it leaves it."""
    link = folder / path
    target = str(link.readlink())
    # By words and by what they lead to: `a/..` is elsewhere where `a` is a link.
    outside = target.startswith("/") or _leaves(PurePosixPath(path).parent, target)
    if outside or not Path(os.path.realpath(link)).is_relative_to(os.path.realpath(folder)):
        raise StoreError(
            f"the link points outside its folder, to '{target}'",
            where=str(link),
            hint="Replace it by a copy, or by a relative link that stays inside.",
        )
    return target


def references_in(events: Iterable[Event], store: ArtifactStore) -> set[str]:
    """Every stored digest that the events name, directly or through trees and JSON artifacts.

    Every artifact named is read to its end, since a damaged listing may not look like one.
    Raises IntegrityError where one is damaged.
    """
    found: set[str] = set()
    waiting = {name for event in events for name in _digests(canonical_json(event.payload))}
    while waiting:
        name = waiting.pop()
        if name in found or name not in store:
            continue
        found.add(name)
        with store.open(name) as stream:
            waiting |= _named_by(stream) - found
    return found


def missing_from(ledger: Ledger, store: ArtifactStore) -> dict[str, Event]:
    """What the events name as an artifact and the store has not, with the first event that does."""
    missing: dict[str, Event] = {}
    for chain in ledger.chains():
        for event in ledger.events(chain):
            for name in _artifacts(event.content, store):
                if name not in store:
                    missing.setdefault(name, event)
    return missing


def _artifacts(payload: Payload, store: ArtifactStore) -> list[str]:
    """The artifacts that an event names, and the files of a code tree and of a report."""
    match payload:
        case StageFinished(stage="report", output=str() as output):
            return [output, *sorted(_digests(_whole(output, store)))]
        case (
            StageFinished(output=str() as name)
            | EnvironmentBuilt(lock=name)
            | ModelCalled(answer=name)
            | PatchApplied(patch=name)
            | ScoresChanged(change=name)
            | SweepEnded(result=str() as name)
            | BenchPlanned(plan=name)
            | BenchTrialEnded(row=name)
        ):
            return [name]
        case RubricSeen(rubric=rubric, text=text):
            return [rubric, *([text] if text else [])]
        case AttemptFinished(attempt=attempt):
            kept = (attempt.log, attempt.record, *attempt.outputs.values())
            return [name for name in kept if name]
        case DownloadFinished(log=log, code_tree=tree):
            return [*([log] if log else []), *_of_tree(tree, store)]
        case (
            AttemptStarted(code_tree=tree)
            | ImplementationFrozen(code_tree=tree)
            | AgentStepped(code_tree=tree)
        ):
            return _of_tree(tree, store)
    return []


def _of_tree(tree: str, store: ArtifactStore) -> list[str]:
    """A tree's listing, and the files in it, as far as it can be read."""
    listing = _whole(tree, store)
    files = Tree.model_validate_json(listing).files if listing else ()
    return [tree, *(file.sha256 for file in files)]


def _whole(name: str, store: ArtifactStore) -> bytes:
    """The artifact's bytes; none where it is missing or damaged, which is said of the artifact."""
    try:
        return store.get(name)
    except (IntegrityError, StoreError):
        return b""


def _walk(folder: Path, below: PurePosixPath) -> Iterator[tuple[str, os.stat_result]]:
    names = (child.name for child in (folder / below).iterdir())
    for name in sorted(set(names) - LEFT_OUT):
        path = below / name
        full = folder / path
        try:
            str(path).encode()
        except UnicodeEncodeError as error:
            raise StoreError(
                "the file's name is not UTF-8", where=repr(str(full)), hint="Rename it."
            ) from error
        status = full.lstat()
        if stat.S_ISDIR(status.st_mode):
            inner = list(_walk(folder, path))
            yield from inner or [(str(path), status)]
        elif stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
            yield str(path), status
        else:
            raise StoreError(
                "only files, folders and links can be stored, and this is none of them",
                where=str(full),
                hint="Remove it.",
            )


def _leaves(start: PurePosixPath, target: str) -> bool:
    normal = os.path.normpath(start / target)
    return normal == ".." or normal.startswith("../")


def _digests(text: bytes) -> set[str]:
    return {match.decode() for match in _DIGEST.findall(text)}


def _named_by(stream: IO[bytes]) -> set[str]:
    """The digests in a JSON text, read in pieces; none in anything else."""
    piece = stream.read(_CHUNK)
    is_json = piece.lstrip()[:1] in {b"{", b"["}
    found = _digests(piece)
    while more := stream.read(_CHUNK):
        found |= _digests(piece[-64:] + more)  # one may lie across the seam
        piece = more
    return found if is_json else set()
