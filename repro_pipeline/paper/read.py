"""Any paper's file or folder to a `Paper`, by the reader for its format, within limits."""

from __future__ import annotations

import re
import stat
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.limits import DEFAULT_LIMITS, Limits, run_limited, serve
from repro_pipeline.paper.model import Paper, SourceFormat

READERS: dict[SourceFormat, tuple[str, str]] = {
    SourceFormat.LATEX: ("repro_pipeline.paper.latex", "read_latex"),
    SourceFormat.JATS: ("repro_pipeline.paper.jats", "read_jats"),
    SourceFormat.TEI: ("repro_pipeline.paper.tei", "read_tei"),
    SourceFormat.MARKDOWN: ("repro_pipeline.paper.markdown", "read_markdown"),
    SourceFormat.PDF: ("repro_pipeline.paper.pdf", "read_pdf"),
}
"""Module and function of each format's reader, the most exact format first."""

_ORDER = list(READERS)
_SUFFIXES = {
    ".tex": SourceFormat.LATEX,
    ".ltx": SourceFormat.LATEX,
    ".tar.gz": SourceFormat.LATEX,
    ".tgz": SourceFormat.LATEX,
    ".tar": SourceFormat.LATEX,
    ".zip": SourceFormat.LATEX,
    ".gz": SourceFormat.LATEX,
    ".tei.xml": SourceFormat.TEI,
    ".tei": SourceFormat.TEI,
    ".nxml": SourceFormat.JATS,
    ".xml": None,
    ".md": SourceFormat.MARKDOWN,
    ".markdown": SourceFormat.MARKDOWN,
    ".pdf": SourceFormat.PDF,
}
"""What a name promises; an .xml file may be TEI or JATS."""


def find_sources(folder: Path) -> tuple[Path, ...]:
    """The sources of the paper in a bundle's folder, the most exact format first.

    Those are files named `paper` with a suffix of a known format, and a folder `paper` of LaTeX.
    Empty if there is none. Raises PaperError for a folder that cannot be listed.
    """
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise PaperError(f"cannot be listed ({error.strerror}).", where=str(folder)) from None
    found = [
        entry
        for entry in entries
        if (entry.name == "paper" and entry.is_dir())
        or (_stem(entry) == "paper" and entry.is_file())
    ]
    return tuple(sorted(found, key=lambda path: (_ORDER.index(_promised_or_xml(path)), path.name)))


def read_paper(path: Path, limits: Limits = DEFAULT_LIMITS) -> Paper:
    """The paper in a file or folder.

    The format is known by name and confirmed by content. Reading happens in a process of its own.
    Raises PaperError when the two differ, the format is not supported, the file is broken or
    hostile, or a limit is met.
    """
    _check_path(path)
    kind = detect(path)
    answer = run_limited(__name__, [kind.value, str(path.resolve())], limits, what=path.name)
    return Paper.model_validate(answer)


def _check_path(path: Path) -> None:
    """Raises PaperError for what is no file or folder; a pipe would be waited for without end."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        what = "there is no such file." if missing else f"cannot be read ({error.strerror})."
        hint = "`repro add` fetches addresses and arXiv ids." if _ADDRESS.match(str(path)) else ""
        raise PaperError(what, where=str(path)[:300], hint=hint) from None
    except ValueError:
        raise PaperError("is no name of a file.", where=repr(str(path))[:300]) from None
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise PaperError("is neither a file nor a folder.", where=str(path))


_ADDRESS = re.compile(r"https?:|doi:|arxiv:|10\.\d{4,}/", re.I)


def detect(path: Path) -> SourceFormat:
    """The format of a file or folder. Raises PaperError when name and content differ."""
    if path.is_dir():
        return SourceFormat.LATEX
    suffix = _suffix(path)
    if suffix is None:
        raise PaperError(
            "is of no known format.",
            where=path.name,
            hint="Papers are read from .pdf, .tex, .tar.gz, .zip, .tei.xml, .xml, .md.",
        )
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise PaperError(f"cannot be read ({error.strerror}).", where=path.name) from None
    if not head.strip():
        raise PaperError("is empty.", where=path.name)
    promised = _SUFFIXES[suffix]
    actual = _by_content(head, promised)
    if promised is None and actual in {SourceFormat.TEI, SourceFormat.JATS}:
        return actual
    if actual is not None and promised == actual and _is_archive(head) == (suffix in _ARCHIVES):
        return actual
    name = _NAMES[promised] if promised else "XML in TEI or JATS"
    content = "an archive" if _is_archive(head) else _NAMES.get(actual, "something else")
    raise PaperError(
        f"is called {suffix}, which is {name}, but holds {content}.",
        where=path.name,
        hint="Rename it to what it is.",
    )


_ARCHIVES = {".tar.gz", ".tgz", ".tar", ".zip", ".gz"}
_NAMES: dict[SourceFormat | None, str] = {
    SourceFormat.LATEX: "LaTeX",
    SourceFormat.JATS: "JATS",
    SourceFormat.TEI: "TEI",
    SourceFormat.MARKDOWN: "Markdown",
    SourceFormat.PDF: "a PDF",
}


def _suffix(path: Path) -> str | None:
    name = path.name.lower()
    return next((s for s in sorted(_SUFFIXES, key=len, reverse=True) if name.endswith(s)), None)


def _stem(path: Path) -> str:
    suffix = _suffix(path)
    return path.name[: -len(suffix)] if suffix else ""


def _promised_or_xml(path: Path) -> SourceFormat:
    suffix = _suffix(path)
    promised = _SUFFIXES[suffix] if suffix else SourceFormat.LATEX
    if promised is not None:
        return promised
    try:
        return detect(path)
    except PaperError:
        return SourceFormat.TEI  # the reader will say what is wrong with it


def _is_archive(head: bytes) -> bool:
    return head[:2] == b"\x1f\x8b" or head[:4] == b"PK\x03\x04" or head[257:262] == b"ustar"


def _by_content(head: bytes, promised: SourceFormat | None) -> SourceFormat | None:
    """The format that the first bytes show; for text, whether it can be what the name promises."""
    if b"%PDF-" in head[:1024]:
        return SourceFormat.PDF
    if _is_archive(head):
        return SourceFormat.LATEX
    if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    text = head.decode("utf-8", errors="replace").lstrip("\ufeff \t\r\n")
    xml = _xml_dialect(text)
    if xml is not None or text.startswith("<?xml"):
        return xml
    if promised == SourceFormat.MARKDOWN and re.match(r"(?:%.*\s+)*\\documentclass", text):
        return SourceFormat.LATEX
    if promised in {SourceFormat.MARKDOWN, SourceFormat.LATEX}:
        return promised
    return None


def _xml_dialect(text: str) -> SourceFormat | None:
    if not text.startswith("<"):
        return None
    if "http://www.tei-c.org" in text or re.search(r"<(?:\w+:)?(?:TEI|teiCorpus)\b", text):
        return SourceFormat.TEI
    if re.search(r"<article\b|<!DOCTYPE (?:article|pmc)|JATS|NLM//DTD|<pmc-articleset", text):
        return SourceFormat.JATS
    return None


def _load(kind: SourceFormat) -> Callable[[Path], Paper]:
    module, name = READERS[kind]
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise PaperError(f"{_NAMES[kind]} is not supported by this version.") from None


def _work(kind: str, path: str) -> Any:
    return _load(SourceFormat(kind))(Path(path)).model_dump(mode="json")


if __name__ == "__main__":
    serve(sys.argv[1:], _work)
