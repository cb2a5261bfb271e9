"""A LaTeX source as a closed tree of text files: nothing outside of it is ever read."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.latex.tokens import without_comments

LARGEST_FILE = 20 << 20
MOST_TEXT = 100 << 20
MOST_FILES = 20_000

_TEXT = {".tex", ".ltx", ".latex", ".bbl", ".bib", ".sty", ".cls", ".def", ".txt", ".json", ""}
_USUAL = ("paper.tex", "main.tex", "ms.tex", "article.tex", "root.tex", "manuscript.tex")
_INPUT = re.compile(r"\\(?:input|include|subfile)\s*\{?\s*([^\s{}\\]+)")


@dataclass(frozen=True)
class Tree:
    """A source: which of its files can be read, and what was read so far.

    `names` are the files that were listed; `load` gives a file's bytes, or None if there is none
    of that name inside of the tree.
    """

    name: str
    main: str
    names: tuple[str, ...]
    load: Callable[[str], bytes | None]
    others: tuple[str, ...] = ()
    """Further files that could be the main one."""
    read: dict[str, bytes] = field(default_factory=dict)

    def find(self, name: str, suffixes: Iterable[str] = ("", ".tex", ".ltx")) -> str | None:
        """The file that an `\\input` of this name reads; None if the tree has none.

        Names are relative to the main file's folder, else to the root. Raises PaperError for a
        name that leaves the tree.
        """
        path = PurePosixPath(name.strip().strip('"'))
        candidates: list[str] = []
        for base in (PurePosixPath(self.main).parent, PurePosixPath()):
            parts = _collapsed(base / path)
            if parts[:2] == ["..", self.name]:
                parts = parts[2:]
            if not path.is_absolute() and ".." not in parts:
                candidates.append("/".join(parts))
        if not candidates:
            raise PaperError(f"'{name}' leads out of the paper's folder.")
        ends = [plain + end for plain in candidates for end in suffixes]
        return next((end for end in ends if self._get(end) is not None), None)

    def text(self, name: str) -> str:
        """A file's text, in UTF-8, else Latin-1. Raises PaperError for a file that is missing."""
        data = self._get(name)
        if data is None:
            raise PaperError("is missing.", where=name)
        return decode(data)

    @property
    def sha256(self) -> str:
        """Of the names and contents of all files that were read."""
        total = hashlib.sha256()
        for name in sorted(self.read):
            total.update(f"{name}\0{hashlib.sha256(self.read[name]).hexdigest()}\0".encode())
        return total.hexdigest()

    def _get(self, name: str) -> bytes | None:
        if name not in self.read:
            data = self.load(name)
            if data is None:
                return None
            if len(data) > LARGEST_FILE or sum(map(len, self.read.values())) > MOST_TEXT:
                raise PaperError("is too large to read.", where=name)
            self.read[name] = data
        return self.read[name]


def open_tree(path: Path) -> Tree:
    """The tree of a .tex file (with its folder), a folder, a .tar.gz, .tgz, .tar, .gz or .zip.

    Files are read when they are asked for. Links, absolute names and names with `..` in an archive
    are refused, as are sizes beyond `LARGEST_FILE`, `MOST_TEXT`, `MOST_FILES`. Raises PaperError.
    """
    if path.is_dir():
        return _with_main(path.name, _names_in(path, deep=True), _from_folder(path), path)
    if not path.is_file():
        raise PaperError("there is no such file.", where=str(path))
    if path.suffix.lower() in {".tex", ".ltx", ".latex"}:
        names = _names_in(path.parent, deep=False)
        return Tree(path.parent.name, path.name, names, _from_folder(path.parent))
    files = _read_archive(path)
    return _with_main(path.name, tuple(sorted(files)), files.get, path)


def decode(data: bytes) -> str:
    """Text of a file whose encoding is not named."""
    for encoding in ("utf-8-sig", "latin-1"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise AssertionError("latin-1 decodes every byte")


def _collapsed(path: PurePosixPath) -> list[str]:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return parts


def _keep(name: str) -> bool:
    hidden = any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)
    return not hidden and PurePosixPath(name).suffix.lower() in _TEXT


def _collect(named: Iterable[tuple[str, Callable[[], bytes]]], path: Path) -> dict[str, bytes]:
    """Reads what is kept, within the bounds."""
    files: dict[str, bytes] = {}
    total = 0
    for count, (name, read) in enumerate(named):
        if count > MOST_FILES:
            raise PaperError(f"more than {MOST_FILES} files.", where=str(path))
        if not _keep(name):
            continue
        data = read()
        total += len(data)
        if len(data) > LARGEST_FILE or total > MOST_TEXT:
            raise PaperError(f"'{name}' makes the source too large to read.", where=str(path))
        files[name] = data
    return files


def _names_in(folder: Path, *, deep: bool) -> tuple[str, ...]:
    """The text files in a folder; `deep` goes into its folders. Links that leave it do not count."""
    found: list[str] = []
    waiting = [folder]
    root = folder.resolve()
    try:
        while waiting:
            for entry in sorted(waiting.pop().iterdir()):
                name = entry.relative_to(folder).as_posix()
                if deep and entry.is_dir() and not entry.is_symlink() and entry.name != ".git":
                    waiting.append(entry)
                elif _keep(name) and entry.is_file() and entry.resolve().is_relative_to(root):
                    found.append(name)
            if len(found) > MOST_FILES:
                raise PaperError(f"more than {MOST_FILES} files.", where=str(folder))
    except OSError as error:
        raise PaperError(f"cannot be read ({error.strerror}).", where=str(folder)) from None
    return tuple(sorted(found))


def _from_folder(folder: Path) -> Callable[[str], bytes | None]:
    """Reads a file of a folder; a link that leaves the folder counts as missing."""
    root = folder.resolve()

    def load(name: str) -> bytes | None:
        try:
            path = (root / name).resolve()
            if not path.is_relative_to(root) or not path.is_file():
                return None
            with path.open("rb") as file:
                return file.read(LARGEST_FILE + 1)
        except (OSError, ValueError):
            return None

    return load


def _read_archive(path: Path) -> dict[str, bytes]:
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return _collect(_zip_members(archive, path), path)
        if tarfile.is_tarfile(path):
            with tarfile.open(path) as archive:
                return _collect(_tar_members(archive, path), path)
        with gzip.open(path) as file:
            data = file.read(LARGEST_FILE + 1)
    except (OSError, EOFError, zipfile.BadZipFile, tarfile.TarError, RuntimeError) as error:
        raise PaperError(f"not a readable archive ({error}).", where=str(path)) from None
    except Exception as error:  # zlib.error, lzma errors and struct.error have no common base
        raise PaperError(f"a damaged archive ({error}).", where=str(path)) from None
    return _collect([("paper.tex", lambda: data)], path)


def _zip_members(archive: zipfile.ZipFile, path: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    for member in archive.infolist():
        if not member.is_dir():
            name = _safe(member.filename, path)
            yield name, lambda member=member: _limited(archive.open(member))


def _tar_members(archive: tarfile.TarFile, path: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    for member in archive:
        if member.issym() or member.islnk():
            raise PaperError(
                f"the archive holds a link, '{member.name}'.",
                where=str(path),
                hint="Unpack it yourself, look at it, and give the folder.",
            )
        if member.isfile():
            name = _safe(member.name, path)
            yield name, lambda member=member: _limited(archive.extractfile(member) or io.BytesIO())


def _limited(file) -> bytes:
    with file:
        return file.read(LARGEST_FILE + 1)


def _safe(name: str, path: Path) -> str:
    parts = _collapsed(PurePosixPath(name.replace("\\", "/")))
    if PurePosixPath(name).is_absolute() or ".." in parts or not parts:
        raise PaperError(
            f"the archive holds a name that leads out of it, '{name}'.",
            where=str(path),
            hint="Do not unpack it.",
        )
    return "/".join(parts)


def _with_main(
    name: str, names: tuple[str, ...], load: Callable[[str], bytes | None], path: Path
) -> Tree:
    """The tree with its main file: what the arXiv manifest names, else the likeliest document."""
    tree = Tree(name, "", names, load)
    sources = [file for file in names if PurePosixPath(file).suffix.lower() in {".tex", ".ltx"}]
    sources = sources or [
        file
        for file in names
        if not PurePosixPath(file).suffix and "documentclass" in tree.text(file)
    ]
    if not sources:
        raise PaperError("holds no LaTeX file.", where=str(path))
    named = _manifest(tree) if "00README.json" in names else None
    if named:
        return Tree(name, named, names, load)
    texts = {file: without_comments(tree.text(file)) for file in sources}
    whole = [file for file in sources if re.search(r"\\documentclass|\\documentstyle", texts[file])]
    included = {
        f"{target.removesuffix('.tex')}.tex"
        for text in texts.values()
        for target in _INPUT.findall(text)
    }

    def likelihood(file: str) -> tuple[bool, bool, bool, int, int]:
        usual = _USUAL.index(file) if file in _USUAL else len(_USUAL)
        reach = sum(
            len(texts.get(f"{target.removesuffix('.tex')}.tex", ""))
            for target in _INPUT.findall(texts[file])
        )
        return (
            "\\begin{document}" in texts[file],
            file not in included,
            "\\begin{abstract}" in texts[file] or "\\title" in texts[file],
            -usual,
            len(texts[file]) + reach,
        )

    ranked = sorted(whole or sources, key=likelihood, reverse=True)
    return Tree(name, ranked[0], names, load, tuple(ranked[1:]) if whole else ())


def _manifest(tree: Tree) -> str | None:
    """The top-level file that arXiv's `00README.json` names."""
    try:
        listed = json.loads(tree.text("00README.json")).get("sources", [])
        names = [item["filename"] for item in listed if item.get("usage") == "toplevel"]
    except (ValueError, AttributeError, KeyError, TypeError):
        return None
    return next((name for name in names if name in tree.names), None)
