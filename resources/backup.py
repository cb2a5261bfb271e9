"""A project as one file, and a project from such a file.

What is copied is what cannot be made again: the ledger as it stood at one moment, the artifacts that
it refers to, the project's files and its secret. Environments are built anew from their locks, and
Dagster's own instance from new launches. The ledger comes first: an artifact is stored before the event
that names it, and one that an event names is never removed, so a copy is consistent while others write.
"""

from __future__ import annotations

import io
import json
import os
import re
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

import repro_pipeline
from repro_pipeline.config import CONFIG_NAME, ProjectConfig
from repro_pipeline.errors import IntegrityError, StoreError
from repro_pipeline.frozen import Frozen, Sha256
from repro_pipeline.ledger.chain import verify_chain
from repro_pipeline.ledger.events import Head
from repro_pipeline.project import Project
from repro_pipeline.tree import missing_from, references_in
from repro_pipeline.yamlfile import load_model
from resources.artifact_store import FsspecArtifactStore
from resources.ledger_sql import SqlLedger

FORMAT = 1
LOCAL_LEDGER, LOCAL_STORE = "sqlite:///.repro/ledger.sqlite", ".repro/store"
_MANIFEST, _LEDGER, _STORE, _FILES = "manifest.json", "ledger.sqlite", "store", "project"
_KEPT_STATE = (Path(".repro/secret"), Path(".repro/dagster/dagster.yaml"))
_UNFINISHED = ".backup-"
_LEFT_OUT = {"__pycache__", ".venv"}


class Manifest(Frozen):
    """What a backup holds."""

    format: int
    program: str
    heads: tuple[Head, ...]
    artifacts: tuple[Sha256, ...]


def write_backup(project: Project, target: Path) -> Manifest:
    """Copy a project into a new file, readable by its owner alone: it holds the secret and all data.

    Raises StoreError where the file exists or an artifact that the ledger names is missing.
    """
    if target.exists():
        raise StoreError("is there already, and would be overwritten.", where=str(target))
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=_UNFINISHED) as folder:
        ledger_file = Path(folder) / _LEDGER
        with _ledger(f"sqlite:///{_LEDGER}", Path(folder)) as copy:
            project.ledger.copy_to(copy)
            if missing := missing_from(copy, project.store):
                digest, event = next(iter(missing.items()))
                raise StoreError(
                    f"{len(missing)} artifacts are missing that the ledger names.",
                    where=f"{digest}, event {event.seq} of {event.chain}",
                    hint="Restore them first: `repro store verify` names all.",
                )
            manifest = _manifest(copy, project.store)
        file = Path(folder) / "archive"
        with (
            os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as stream,
            tarfile.open(fileobj=stream, mode="w:gz", compresslevel=1) as archive,
        ):
            _add_bytes(archive, _MANIFEST, manifest.model_dump_json(indent=1).encode())
            archive.add(ledger_file, _LEDGER)
            for digest in manifest.artifacts:
                _add_bytes(archive, f"{_STORE}/{digest}", project.store.get(digest))
            for path in _files(project):
                archive.add(path, f"{_FILES}/{path.relative_to(project.root)}", recursive=False)
        file.rename(target)
    return manifest


def restore_backup(
    backup: Path, root: Path, *, ledger: str = LOCAL_LEDGER, store: str = LOCAL_STORE
) -> Manifest:
    """Make the project of a backup in a new folder; its ledger and store where the URLs say.

    Everything is checked: hashes, chains, heads. Raises StoreError where the folder is not empty or the
    file is no backup, and IntegrityError where what came back is not what was copied.
    """
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise StoreError("is there already, and is not empty.", where=str(root))
    root.mkdir(parents=True, exist_ok=True)
    (root / ".repro").mkdir()
    with tempfile.TemporaryDirectory(dir=root / ".repro") as folder:
        with _opened(backup) as archive:
            manifest = _unpacked(archive, Path(folder), root, _absolute(store, root))
        _point_to(root / CONFIG_NAME, ledger, store)
        with (
            _ledger(f"sqlite:///{_LEDGER}", Path(folder)) as copy,
            _ledger(ledger, root) as restored,
        ):
            if restored.chains():
                raise StoreError("holds events already.", where=ledger, hint="Name an empty one.")
            copy.copy_to(restored)
            _check(restored, FsspecArtifactStore(_absolute(store, root)), manifest)
    return manifest


def _manifest(ledger: SqlLedger, store: FsspecArtifactStore) -> Manifest:
    events = chain.from_iterable(ledger.events(name) for name in ledger.chains())
    named = references_in(events, store)
    return Manifest(
        format=FORMAT,
        program=repro_pipeline.__version__,
        heads=tuple(filter(None, map(ledger.head, ledger.chains()))),
        artifacts=tuple(sorted(named & set(store.digests()))),
    )


def _files(project: Project) -> Iterator[Path]:
    """The project's files outside `.repro`, and the few inside that cannot be made again."""
    for folder, names, files in os.walk(project.root):
        here = Path(folder)
        names[:] = sorted(
            name
            for name in names
            if name not in _LEFT_OUT
            and not name.startswith(_UNFINISHED)
            and here / name != project.state
        )
        links = [here / name for name in names if (here / name).is_symlink()]
        for path in (*links, *(here / name for name in sorted(files))):
            if path.is_symlink() or path.is_file():
                yield path
    yield from (path for kept in _KEPT_STATE if (path := project.root / kept).is_file())


def _add_bytes(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


@contextmanager
def _opened(backup: Path) -> Iterator[tarfile.TarFile]:
    hint = "Name a file that `repro backup` wrote."
    try:
        with tarfile.open(backup, "r:gz") as archive:
            yield archive
    except FileNotFoundError as error:
        raise StoreError("there is no such file.", where=str(backup), hint=hint) from error
    except (tarfile.TarError, EOFError, OSError) as error:
        what = f"the backup cannot be read: {error}."
        raise StoreError(what, where=str(backup), hint=hint) from error


def _unpacked(archive: tarfile.TarFile, folder: Path, root: Path, store: str) -> Manifest:
    """Put the ledger into `folder`, the files into `root`, the artifacts into the store."""
    manifest, kept = None, FsspecArtifactStore(store)
    for entry in archive:
        place, _, name = entry.name.partition("/")
        if entry.name == _MANIFEST:
            manifest = _read_manifest(archive.extractfile(entry).read())
        elif entry.name == _LEDGER:
            archive.extract(entry, folder, filter="data")
        elif place == _STORE and kept.put(archive.extractfile(entry).read()) != name:
            raise IntegrityError("the backup holds other bytes than it says.", where=entry.name)
        elif place == _FILES:
            entry.name = name
            archive.extract(entry, root, filter="data")
    if manifest is None or not (folder / _LEDGER).is_file():
        raise tarfile.ReadError("it holds no manifest or no ledger")
    return manifest


def _read_manifest(content: bytes) -> Manifest:
    made = json.loads(content).get("format")
    if made != FORMAT:
        raise StoreError(f"the backup has format {made}.", hint="Update repro-pipeline.")
    return Manifest.model_validate_json(content)


def _point_to(file: Path, ledger: str, store: str) -> None:
    """Let `repro.yaml` name the restored ledger and store: the old ones are the original's."""
    text = file.read_text(encoding="utf-8")
    for key, value in (("ledger", ledger), ("store", store)):
        line = f"{key}: {json.dumps(value)}"
        text, found = re.subn(rf"(?m)^{key}:.*$", lambda _, line=line: line, text)
        if not found:
            text = f"{text.rstrip()}\n{line}\n"
    file.write_text(text, encoding="utf-8")
    config = load_model(file, ProjectConfig)
    if (config.ledger, config.store) != (ledger, store):
        raise StoreError("names another ledger or store still.", where=str(file))


def _check(ledger: SqlLedger, store: FsspecArtifactStore, manifest: Manifest) -> None:
    heads = tuple(filter(None, map(ledger.head, ledger.chains())))
    faults = [
        fault for head in heads for fault in verify_chain(head.chain, ledger.stored(head.chain))
    ]
    lost = set(manifest.artifacts) - set(store.digests())
    if heads != manifest.heads or faults or lost:
        raise IntegrityError(
            "what was restored is not what was copied: "
            f"{len(faults)} faults in chains, {len(lost)} artifacts lost.",
            hint="Run `repro ledger verify` in the original: it may have been damaged already.",
        )


def _absolute(store: str, root: Path) -> str:
    return store if "://" in store or store.startswith("/") else str(root / store)


@contextmanager
def _ledger(url: str, folder: Path) -> Iterator[SqlLedger]:
    ledger = SqlLedger(url, folder=folder)
    try:
        yield ledger
    finally:
        ledger.close()
