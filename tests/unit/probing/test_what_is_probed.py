"""The frozen code as readings get it, and the ways in which a run is changed."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from repro_pipeline.forensics import halves, spoil
from repro_pipeline.probing.changes import Way
from repro_pipeline.probing.source import Source, unpack_source
from resources.artifact_store import FsspecArtifactStore


def unpacked(tmp_path: Path, **files: bytes) -> Source:
    tree = tmp_path / "tree"
    tree.mkdir()
    for name, content in files.items():
        (tree / name).write_bytes(content)
    (tree / "link").symlink_to(next(iter(files)))
    store = FsspecArtifactStore(str(tmp_path / "store"))
    return unpack_source(store, store.put_tree(tree), tmp_path / "code")


def test_texts_are_told_from_other_files_and_links_are_not_followed(tmp_path):
    code = b"import sys\nprint(sys.argv)\n"
    source = unpacked(tmp_path, run=code, notes=b"caf\xe9", model=b"\0\1", long=b"x" * (2 << 20))
    assert source.texts == {"run": code.decode(), "notes": "caf\ufffd"}
    assert dict(source.code.python) == {"run": code.decode()}
    assert [name for name, _ in source.files()] == ["long", "model", "notes", "run"]
    assert all(path.is_relative_to(tmp_path / "code") for _, path in source.files())
    assert source.binaries() == {"long", "model", "link"}


def test_the_text_of_a_place_is_that_of_its_file(tmp_path):
    source = unpacked(tmp_path, run=b"import sys\n")
    assert source.text_at("run:12") == "import sys\n"
    assert source.text_at("/usr/lib/python3/json.py:1") == source.text_at("") == ""


def test_every_way_in_which_files_are_spoilt_is_a_way_of_changing():
    assert {*get_args(spoil.Way), *get_args(halves.Kind)} <= set(Way)
