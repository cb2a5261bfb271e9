"""What archives and compressed files hold, read within bounds and never written out."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator

LIMIT = 32 << 20
"""Bytes of one file that are looked at."""
_MEMBERS = 500
_FAULTS = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    OSError,  # gzip and bz2 of a broken stream, a name that no file can have
    EOFError,  # a stream that is cut off
    ValueError,  # a field of a header that is no number
    RuntimeError,  # a member that is encrypted, or packed in a way that Python does not know
    MemoryError,  # a size in a header that is not meant
)
"""What Python's readers of archives raise for bytes that somebody else wrote."""


def unpacked(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and content of what a file packs; "" is the name of what is only compressed.

    Nothing for a file that is not packed, or that cannot be unpacked.
    """
    try:
        if content[:2] == b"PK" or zipfile.is_zipfile(io.BytesIO(content)):
            yield from _of_zip(content)
        elif (plain := inflated(content)) is not None:
            members = list(_of_tar(plain))
            yield from members or [("", plain)]
        else:
            yield from _of_tar(content)
    except _FAULTS:
        return


def inflated(content: bytes) -> bytes | None:
    """What is compressed by gzip, zlib, bzip2 or LZMA, up to a limit; None for anything else."""
    try:
        if content[:2] == b"\x1f\x8b":
            return gzip.GzipFile(fileobj=io.BytesIO(content)).read(LIMIT)
        if content[:1] == b"\x78":
            return zlib.decompressobj().decompress(content, LIMIT)
        if content[:3] == b"BZh":
            return bz2.BZ2Decompressor().decompress(content, LIMIT)
        if content[:6] == b"\xfd7zXZ\x00":
            return lzma.LZMADecompressor(memlimit=LIMIT * 8).decompress(content, LIMIT)
    except _FAULTS:
        return None
    return None


def _of_zip(content: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for one in archive.infolist()[:_MEMBERS]:
            if not one.is_dir() and one.file_size <= LIMIT:
                yield one.filename, archive.read(one)


def _of_tar(content: bytes) -> Iterator[tuple[str, bytes]]:
    if content[257:262] != b"ustar":
        return
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
        for _, one in zip(range(_MEMBERS), archive, strict=False):
            if one.isfile() and one.size <= LIMIT and (file := archive.extractfile(one)):
                yield one.name, file.read()
