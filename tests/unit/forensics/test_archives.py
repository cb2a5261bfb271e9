"""Archives as somebody else may have made them: read, or nothing, and never an error."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.forensics.archives import unpacked

CODE = b"x = 1\n" * 40


def a_zip() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.py", CODE)
    return made.getvalue()


def a_tar() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        entry = tarfile.TarInfo("a.py")
        entry.size = len(CODE)
        archive.addfile(entry, io.BytesIO(CODE))
    return made.getvalue()


TAR = a_tar()
MADE = [a_zip(), TAR, gzip.compress(TAR), bz2.compress(TAR), lzma.compress(TAR)]


def test_each_kind_is_read():
    assert [list(unpacked(content)) for content in MADE] == [[("a.py", CODE)]] * len(MADE)


@given(
    st.sampled_from(MADE),
    st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), max_size=6),
    st.integers(0, 1 << 16),
)
def test_damage_is_no_error(content, changes, length):
    damaged = bytearray(content[: length or None])
    for place, byte in changes:
        damaged[place % len(damaged)] = byte
    assert all(isinstance(name, str) for name, _ in unpacked(bytes(damaged)))


def test_an_encrypted_member_is_no_error():
    content = bytearray(MADE[0])
    content[6] |= 1  # the flag in its own header
    content[content.index(b"PK\x01\x02") + 8] |= 1  # and in the directory
    assert list(unpacked(bytes(content))) == []
