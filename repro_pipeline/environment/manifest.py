"""The bytes that the experiments' inputs must have, and the rows of each split, checked as they are read.

Row numbers count from 0. The first line of a CSV file is its header and is not counted, unless it
holds numbers only. A file of row numbers holds one number a line.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import itertools
import json
import os
import re
import time
from collections.abc import Iterable
from pathlib import Path

from repro_pipeline.bundle.task import DataFile
from repro_pipeline.environment.model import DataManifest, ManifestEntry
from repro_pipeline.errors import BundleError, IntegrityError
from repro_pipeline.frozen import digest
from repro_pipeline.places import resolved

_BLOCK = 1 << 20
_LONGEST_CELL = 1 << 30
_ROW = re.compile(r"[0-9]{1,18}")
_SETTLED_SECONDS = 2.0
"""A file that changed later than this before it was read may change again with the same time."""


def make_manifest(data: tuple[DataFile, ...], bundle: Path, cache: Path) -> DataManifest:
    """The manifest of a bundle's data; sealed labels are entries of their own.

    Digests are kept in `cache` by path, inode, size and times of change. Raises BundleError for a
    file that is missing, lies outside the bundle, is not on this machine, or has another digest
    than the task says, and for row numbers that are none or lie beyond the file's rows.
    """
    entries = []
    for item in data:
        entries.append(_entry(item, bundle, cache))
        if item.sealed_labels is not None:
            entries.append(_sealed(item, bundle, cache))
    return DataManifest(entries=tuple(entries))


def verify_manifest(manifest: DataManifest, bundle: Path) -> None:
    """Read every file of the manifest again. Raises IntegrityError naming what has changed."""
    for entry in manifest.entries:
        path = bundle / entry.file
        if not path.is_file():
            raise IntegrityError("the data file has disappeared.", where=entry.file)
        found = file_digest(path)
        if found != entry.sha256:
            raise IntegrityError(
                f"the data file has changed: its sha256 is {found}, not {entry.sha256}.",
                where=entry.file,
                hint="Restore it, or describe the data again.",
            )
        for role, file in entry.role_files.items():
            if not (bundle / file).is_file():
                raise IntegrityError("the file of row numbers has disappeared.", where=file)
            if digest(_row_numbers(bundle / file, file)) != entry.roles[role]:
                raise IntegrityError(f"the row numbers of '{role}' have changed.", where=file)


def role_rows(entry: ManifestEntry, role: str, bundle: Path) -> list[int] | None:
    """The row numbers of a role, from 0: None for all rows, none at all without that role.

    Raises BundleError where their file cannot be read.
    """
    if role not in entry.roles:
        return []
    file = entry.role_files.get(role)
    return None if file is None else _row_numbers(bundle / file, file)


def _entry(item: DataFile, bundle: Path, cache: Path) -> ManifestEntry:
    if item.path is None:
        raise BundleError(
            f"the data '{item.name}' are not on this machine: {item.uri} is not fetched.",
            hint="Fetch the file, put it into the bundle and name it with `path`.",
        )
    path = _inside(item.path, bundle, item.name)
    sha256, rows = _described(path, cache)
    if item.sha256 is not None and sha256 != item.sha256:
        raise BundleError(
            f"the data '{item.name}' have the sha256 {sha256}, and the task says {item.sha256}.",
            where=item.path,
        )
    numbers = {role: _role_rows(item, role, bundle, rows) for role in item.roles}
    return ManifestEntry(
        name=item.name,
        file=item.path,
        sha256=sha256,
        size=path.stat().st_size,
        roles={role: digest("all" if rows is None else rows) for role, rows in numbers.items()},
        role_files={role: file for role, file in item.roles.items() if file != "all"},
        shared_rows=_shared(numbers),
        rows=rows,
        private=item.private,
        licence=item.licence,
        source=item.source,
    )


def _sealed(item: DataFile, bundle: Path, cache: Path) -> ManifestEntry:
    file = str(item.sealed_labels)
    path = _inside(file, bundle, item.name)
    if item.path is not None and path.samefile(bundle / item.path):
        raise BundleError(
            f"the sealed labels of '{item.name}' are the data that runs are given.",
            where=file,
            hint="Put the test labels into a file of their own.",
        )
    sha256, rows = _described(path, cache)
    return ManifestEntry(
        name=item.name,
        file=file,
        sha256=sha256,
        size=path.stat().st_size,
        rows=rows,
        sealed=True,
        private=item.private,
        licence=item.licence,
        source=item.source,
    )


def _inside(file: str, bundle: Path, name: str) -> Path:
    path = bundle / file
    if "\0" in file or not resolved(path, where=name).is_relative_to(bundle.resolve()):
        raise BundleError(
            f"the data '{name}' lie outside the bundle.", where=file, hint="Copy them into it."
        )
    if path.is_dir():
        raise BundleError(
            f"the data '{name}' are a folder.", where=file, hint="Name each file, or an archive."
        )
    if not path.is_file():
        raise BundleError(
            f"the data '{name}' name a file that does not exist.",
            where=file,
            hint="Put it there, or have it brought by `repro download` (docs/environment.md).",
        )
    return path


def _role_rows(item: DataFile, role: str, bundle: Path, rows: int | None) -> list[int] | None:
    """The row numbers of a role; None for all rows of an unknown number."""
    file = item.roles[role]
    if file == "all":
        return None if rows is None else list(range(rows))
    path = _inside(file, bundle, item.name)
    numbers = _row_numbers(path, file)
    beyond = next((n for n, one in enumerate(numbers) if rows is not None and one >= rows), None)
    if beyond is not None:
        raise BundleError(
            f"row {numbers[beyond]} lies beyond the {rows} rows of '{item.path}' (the first is 0).",
            where=file,
        )
    return numbers


def _row_numbers(path: Path, file: str) -> list[int]:
    numbers = []
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for count, line in enumerate(lines, 1):
                text = line.strip()
                if text and not _ROW.fullmatch(text):
                    raise BundleError(f"'{text[:40]}' is no row number.", where=f"{file}:{count}")
                numbers += [int(text)] if text else []
    except (UnicodeDecodeError, OSError) as error:
        raise BundleError(f"the row numbers cannot be read: {error}.", where=file) from None
    return numbers


def _shared(numbers: dict[str, list[int] | None]) -> dict[str, int | None]:
    """Rows that two roles have in common, per pair that has any."""
    shared: dict[str, int | None] = {}
    for one, other in itertools.combinations(sorted(numbers), 2):
        first, second = numbers[one], numbers[other]
        if first is None or second is None:
            known = second if first is None else first
            shared[f"{one} & {other}"] = len(set(known)) if known is not None else None
        elif common := set(first) & set(second):
            shared[f"{one} & {other}"] = len(common)
    return shared


def _described(path: Path, cache: Path) -> tuple[str, int | None]:
    """Digest and number of rows of a file, from the cache where the file is unchanged."""
    state = path.stat()
    times = [state.st_mtime_ns, state.st_ctime_ns]
    key = digest([str(path.resolve()), state.st_dev, state.st_ino, state.st_size, *times])
    kept = cache / f"{key}.json"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):  # none yet, or a broken one
        content = json.loads(kept.read_bytes())
        return content["sha256"], content["rows"]
    sha256, rows = file_digest(path), _count_rows(path)
    if time.time() - max(state.st_mtime, state.st_ctime) > _SETTLED_SECONDS:
        cache.mkdir(parents=True, exist_ok=True)
        partial = kept.with_suffix(f".{os.getpid()}.partial")
        partial.write_text(json.dumps({"sha256": sha256, "rows": rows}), encoding="utf-8")
        partial.rename(kept)
    return sha256, rows


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, read piece by piece."""
    hashed = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            hashed.update(block)
    return hashed.hexdigest()


def _count_rows(path: Path) -> int | None:
    match path.suffix.lower():
        case ".csv" | ".tsv":
            with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
                delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
                return _count_records(csv.reader(file, delimiter=delimiter), path)
        case ".jsonl" | ".ndjson":
            with path.open("rb") as file:
                return sum(1 for line in file if line.strip())
        case ".parquet":
            from pyarrow import ArrowInvalid
            from pyarrow.parquet import read_metadata

            try:
                return read_metadata(path).num_rows
            except (ArrowInvalid, OSError) as error:
                raise BundleError(f"is no Parquet file: {error}.", where=path.name) from None
    return None


def _count_records(records: Iterable[list[str]], path: Path) -> int:
    before = csv.field_size_limit(_LONGEST_CELL)  # a cell may hold a whole document
    try:
        filled = (record for record in records if record)
        first = next(filled, None)
        if first is None:
            return 0
        return sum(1 for _ in filled) + all(map(is_number, first))
    except csv.Error as error:
        raise BundleError(f"is no CSV file: {error}.", where=path.name) from None
    finally:
        csv.field_size_limit(before)


def is_number(text: str) -> bool:
    """Whether a cell of a table holds a number: a first line of such cells is no header."""
    try:
        float(text)
    except ValueError:
        return False
    return True
