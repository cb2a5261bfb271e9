"""The frozen code of a paper as readings need it: unpacked once, its texts, and the Python in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from repro_pipeline.forensics.python_files import Code, code_of
from repro_pipeline.ports import ArtifactStore

_TEXT_LIMIT = 1 << 20


@dataclass(frozen=True)
class Source:
    """The frozen code."""

    tree: Path
    """The folder in which it lies unpacked."""
    texts: Mapping[str, str]
    """The text files, path → content."""
    code: Code

    def files(self) -> Iterator[tuple[str, Path]]:
        """Every file by its path in the code, in order; links are not followed."""
        return _files(self.tree)

    def binaries(self) -> set[str]:
        """The files that are no text, and all links to files."""
        found = {p.relative_to(self.tree).as_posix() for p in self.tree.rglob("*") if p.is_file()}
        return found - set(self.texts)

    def text_at(self, where: str) -> str:
        """The text of the file of a place, `file:line`; empty where that is no text."""
        return self.texts.get(where.rpartition(":")[0], "")


def unpack_source(store: ArtifactStore, code_tree: str, folder: Path) -> Source:
    """The code of that digest, unpacked into a folder that is not there yet."""
    store.get_tree(code_tree, folder)
    texts = {}
    for name, path in _files(folder):
        if path.stat().st_size <= _TEXT_LIMIT:
            content = path.read_bytes()
            if b"\0" not in content:
                texts[name] = content.decode("utf-8", errors="replace")
    return Source(folder, texts, code_of(folder))


def _files(tree: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(tree.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield path.relative_to(tree).as_posix(), path
