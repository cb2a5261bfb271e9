"""Artifacts by the SHA-256 of their bytes, in any place that fsspec knows: a folder, S3, GCS.

`ab/abcd…` holds the bytes, `ab/abcd….gz` the same compressed, where that makes them smaller.
In a folder, an artifact appears whole or not at all, and is on disk before its digest is returned.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import os
import re
import shutil
import tempfile
import time
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, NamedTuple

import fsspec
from fsspec.implementations.local import LocalFileSystem
from pydantic import ValidationError

from repro_pipeline.errors import IntegrityError, StoreError
from repro_pipeline.frozen import canonical_json
from repro_pipeline.tree import Tree, TreeFile, TreeLink, link_target, walk

CHUNK = 1 << 20
SAMPLE = 1 << 16
"""Bytes at the start that decide whether compression helps."""
HELPS = 0.9
"""Compression helps where the sample shrinks to less than this share."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(rf"({_DIGEST.pattern})(\.gz)?")
_INCOMING = "incoming"
_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs"}
"""What must be installed for a kind of place."""
_CLIENTS = {"botocore", "aiobotocore", "aiohttp", "gcsfs", "google"}
"""Packages whose errors are no OSErrors, and say what a server or the network did."""


class Stored(NamedTuple):
    """An artifact as it lies in the store."""

    digest: str
    bytes: int
    """As stored, compressed."""


class FsspecArtifactStore:
    """`ports.ArtifactStore` in a folder, or at an fsspec URL such as `s3://bucket/prefix`.

    Raises StoreError where the place cannot be used. Storing the same bytes again mends a damaged
    copy, and counts as new for `gc`.
    """

    def __init__(self, url_or_folder: str) -> None:
        with _opening(url_or_folder):
            # A listing that was kept would not show what other processes stored since.
            self._fs, root = fsspec.core.url_to_fs(url_or_folder, use_listings_cache=False)
            self._root = root.rstrip("/")
            self._local = Path(self._root) if isinstance(self._fs, LocalFileSystem) else None
            if self._local:
                (self._local / _INCOMING).mkdir(parents=True, exist_ok=True)

    def put(self, content: bytes) -> str:
        """Store bytes; return their digest."""
        return self._put(io.BytesIO(content))

    def put_file(self, path: Path) -> str:
        """Store a file without loading it whole; return its digest."""
        with _explained(str(path)):
            stream = path.open("rb")
        with stream:
            return self._put(stream)

    def put_tree(self, folder: Path) -> str:
        """Store a folder's files, links and empty folders; return the digest of its listing.

        Left out: `.git`, `__pycache__`, `.venv`. Raises StoreError for a link that leaves the
        folder, and for what is neither file, folder nor link.
        """
        files, links, empty = [], [], []
        for path, status in walk(folder):
            full = folder / path
            if full.is_symlink():
                links.append(TreeLink(path=path, target=link_target(folder, path)))
            elif full.is_dir():
                empty.append(path)
            else:
                digest = self.put_file(full)
                executable = bool(status.st_mode & 0o100)
                files.append(TreeFile(path=path, sha256=digest, executable=executable))
        tree = Tree(files=files, links=links, empty_folders=empty)
        return self.put(canonical_json(tree.model_dump(mode="json")))

    def get(self, digest: str) -> bytes:
        """The bytes of that digest. Raises IntegrityError when missing or altered."""
        with self.open(digest) as stream:
            return stream.read()

    def open(self, digest: str) -> IO[bytes]:
        """The bytes as a stream, checked as it is read to its end.

        Raises IntegrityError when missing; reading raises it at the latest at the end when altered.
        """
        path = self._find(digest)
        if path is None:
            raise IntegrityError(
                "the artifact is missing", where=digest, hint="Run `repro store verify`."
            )
        with _explained(path):
            raw = self._fs.open(path, "rb")
        plain = gzip.GzipFile(fileobj=raw) if path.endswith(".gz") else raw
        return io.BufferedReader(_Checked(plain, raw, digest), CHUNK)

    def get_tree(self, digest: str, target: Path) -> None:
        """Write a stored folder to `target`, which must not exist; it appears whole or not at all.

        Raises StoreError where `target` exists, IntegrityError for anything missing or altered.
        """
        tree = self._tree(digest)
        if target.exists() or target.is_symlink():
            raise StoreError("the target exists already", where=str(target))
        with _explained(str(target)):
            target.parent.mkdir(parents=True, exist_ok=True)
            partial = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            with _explained(str(target)):
                self._write_tree(tree, partial)
                partial.chmod(0o755)
                partial.rename(target)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise

    def __contains__(self, digest: str) -> bool:
        """Whether the bytes are there; not whether they are whole."""
        return self._find(digest) is not None

    def digests(self) -> Iterator[str]:
        """Every digest in the store."""
        return (digest for digest, _, _ in self._all())

    def verify(self) -> list[str]:
        """The digests whose bytes are not what their name says, or that cannot be read.

        All others were read and agree. Raises StoreError where a server does not answer.
        """
        return [digest for digest in sorted(set(self.digests())) if not self._intact(digest)]

    def gc(
        self, referenced: Collection[str], *, older_than_seconds: float, dry_run: bool = False
    ) -> list[Stored]:
        """Remove what is neither referenced nor younger than that; return what was removed.

        A dry run removes nothing, and returns what would be. `referenced` must hold all that is
        needed, trees' files included: see `references_in`. The age must exceed the time from
        storing an artifact to appending the event that names it.
        """
        limit = time.time() - older_than_seconds
        removed = []
        for digest, path, size in list(self._all()):
            if digest not in referenced and self._modified(path) < limit:
                removed.append(Stored(digest, size))
                if not dry_run:
                    with _explained(path):
                        self._fs.rm_file(path)
        if not dry_run:
            self._remove_leftovers(limit)
        return removed

    def _remove_leftovers(self, limit: float) -> None:
        """Remove what killed writers left."""
        for leftover in self._local.joinpath(_INCOMING).iterdir() if self._local else ():
            with contextlib.suppress(FileNotFoundError):  # its writer has ended well meanwhile
                if leftover.stat().st_mtime < limit:
                    leftover.unlink()

    def _put(self, stream: IO[bytes]) -> str:
        with _explained(self._root):
            handle, name = tempfile.mkstemp(dir=self._local and self._local / _INCOMING)
            staged = Path(name)
            try:
                with os.fdopen(handle, "wb") as file:
                    digest, suffix = _copy(stream, file)
                    file.flush()
                    if self._local:
                        os.fsync(file.fileno())
                self._publish(staged, digest, suffix)
            finally:
                staged.unlink(missing_ok=True)
        return digest

    def _publish(self, staged: Path, digest: str, suffix: str) -> None:
        path = self._path(digest, suffix)
        if self._local:
            folder = Path(path).parent
            folder.mkdir(exist_ok=True)
            staged.chmod(0o444)
            staged.replace(path)
            _sync_folder(folder)
            _sync_folder(self._local)
        else:
            self._fs.put_file(str(staged), path)
        # Another version of zlib may have decided otherwise.
        other = self._path(digest, "" if suffix else ".gz")
        if self._fs.exists(other):
            self._fs.rm_file(other)

    def _path(self, digest: str, suffix: str) -> str:
        return f"{self._root}/{digest[:2]}/{digest}{suffix}"

    def _find(self, digest: str) -> str | None:
        if not _DIGEST.fullmatch(digest):
            return None
        with _explained(self._root):
            paths = (self._path(digest, suffix) for suffix in ("", ".gz"))
            # What is no file is no artifact: a folder, a pipe, a link to nothing.
            return next((path for path in paths if self._fs.isfile(path)), None)

    def _all(self) -> Iterator[tuple[str, str, int]]:
        """Digest, path and stored bytes of each artifact."""
        with _explained(self._root):
            self._fs.invalidate_cache()
            paths = self._fs.find(self._root, detail=True)
        for path, info in paths.items():
            if match := _NAME.fullmatch(path.rsplit("/", 1)[-1]):
                yield match[1], path, info["size"]

    def _intact(self, digest: str) -> bool:
        try:
            with self.open(digest) as stream:
                while stream.read(CHUNK):
                    pass
        except IntegrityError:
            return False
        except StoreError:
            if self._local is None:  # the server may be away, and the artifact whole
                raise
            return False
        return True

    def _modified(self, path: str) -> float:
        with _explained(path):
            if self._local:
                return os.lstat(path).st_mtime  # of a link itself, wherever it leads
            return self._fs.modified(path).timestamp()

    def _tree(self, digest: str) -> Tree:
        try:
            return Tree.model_validate_json(self.get(digest))
        except ValidationError as error:
            raise IntegrityError("the artifact is not a folder's listing", where=digest) from error

    def _write_tree(self, tree: Tree, folder: Path) -> None:
        for path in tree.empty_folders:
            (folder / path).mkdir(parents=True, exist_ok=True)
        for entry in tree.files:
            path = folder / entry.path
            path.parent.mkdir(parents=True, exist_ok=True)
            with self.open(entry.sha256) as stream, path.open("xb") as file:
                shutil.copyfileobj(stream, file, CHUNK)
            path.chmod(0o755 if entry.executable else 0o644)
        # Last, so that no file is written through a link.
        for link in tree.links:
            path = folder / link.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(link.target)
        for link in tree.links:
            link_target(folder, link.path)


class _Checked(io.RawIOBase):
    """A stream that knows what its bytes should hash to."""

    def __init__(self, plain: IO[bytes], raw: IO[bytes], digest: str) -> None:
        self._plain, self._raw, self._digest = plain, raw, digest
        self._hash = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        with _explained(self._digest):
            try:
                piece = self._plain.read(len(buffer))
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise self._altered() from error
        if not piece and self._hash.hexdigest() != self._digest:
            raise self._altered()
        self._hash.update(piece)
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._plain.close()
        self._raw.close()
        super().close()

    def _altered(self) -> IntegrityError:
        return IntegrityError(
            "the artifact's bytes are not those that were stored",
            where=self._digest,
            hint="Restore it from a copy, or run the stage that made it again.",
        )


def _copy(source: IO[bytes], target: IO[bytes]) -> tuple[str, str]:
    """Copy, compressed where that helps; return digest and suffix of the name."""
    piece = source.read(CHUNK)
    sample = piece[:SAMPLE]
    helps = len(zlib.compress(sample, 1)) < HELPS * len(sample)
    # No time and no name in the header: the same bytes give the same file.
    packed = gzip.GzipFile("", "wb", 6, target, mtime=0) if helps else target
    digest = hashlib.sha256()
    while piece:
        digest.update(piece)
        packed.write(piece)
        piece = source.read(CHUNK)
    if helps:
        packed.close()
    return digest.hexdigest(), ".gz" if helps else ""


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _opening(where: str) -> Iterator[None]:
    """Turn what a place that is none, or none here, gives rise to into a StoreError."""
    try:
        with _explained(where):
            yield
    except ImportError as error:
        extra = _EXTRAS.get(where.partition("://")[0])
        hint = f"Run `pip install 'repro-pipeline[{extra}]'`." if extra else str(error)
        what = "the artifact store cannot be opened: the package for such a place is not installed."
        raise StoreError(what, where=where, hint=hint) from error
    except ValueError as error:
        raise StoreError(f"the artifact store cannot be opened: {error}", where=where) from error


@contextlib.contextmanager
def _explained(where: str) -> Iterator[None]:
    """Turn the errors of file systems and servers into a StoreError."""
    try:
        yield
    except OSError as error:
        what = f"the artifact store failed: {error.strerror or error}"
        hint = "Check the path, its permissions, and the space."
        raise StoreError(what, where=where, hint=hint) from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in _CLIENTS:
            raise
        hint = "Check the server, the credentials, and the network; what was stored stays stored."
        what = f"the artifact store failed: {error}"
        raise StoreError(what, where=where, hint=hint, transient=True) from error
