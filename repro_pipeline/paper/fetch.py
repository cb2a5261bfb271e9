"""Published papers by name: what an id, a DOI or an address asks for, and what came back.

Pure: whatever talks to a network lies behind `ports.PaperSource`.
"""

from __future__ import annotations

import re
import zlib
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Annotated
from urllib.parse import unquote, urlsplit

from pydantic import Field

from repro_pipeline.errors import FetchError
from repro_pipeline.frozen import Frozen, Sha256

RECORD_NAME = "source.json"
LARGEST_UNPACKED = 1 << 30
"""A source that unpacks to more bytes than this is no paper."""

_NEW_ID = r"\d{4}\.\d{4,5}"
_OLD_ID = r"[a-z]+(?:-[a-z]+)*(?:\.[A-Z]{2})?/\d{7}"
_ARXIV_ID = re.compile(rf"(?P<id>{_NEW_ID}|{_OLD_ID})(?P<version>v[1-9]\d?)?", re.ASCII)
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(?P<id>.+)", re.IGNORECASE)
_ARXIV_PATH = re.compile(r"/(?:abs|pdf|e-print|src|html|format|ps)/(?P<id>.+?)(?:\.pdf)?/?")
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_BY_HAND = "Download the PDF or the LaTeX source yourself, and `repro add FOLDER`."


class ArxivPaper(Frozen):
    """A paper of arXiv, of one version or of the latest."""

    id: str
    version: str | None = None

    @property
    def name(self) -> str:
        """The id with its version, as arXiv writes it."""
        return f"{self.id}{self.version or ''}"

    @property
    def paper_id(self) -> str:
        """As the id of a paper of the project."""
        return re.sub(r"[^a-z0-9.]+", "-", self.name.lower())


class PaperUrl(Frozen):
    """A file behind an address."""

    url: str

    @property
    def paper_id(self) -> str:
        """From the address's last part."""
        last = PurePosixPath(unquote(urlsplit(self.url).path)).name.lower()
        stem = re.sub(r"\.(?:pdf|tar\.gz|tgz|tar|zip|gz|tex)$", "", last)
        return re.sub(r"[^a-z0-9._-]+", "-", stem).strip("-._")[:100] or "paper"


class FetchedFile(Frozen):
    """One file of a bundle, and where it came from."""

    file: str
    url: str
    """As it was asked for, before redirects."""
    sha256: Sha256
    """Of the file in the bundle."""
    bytes: Annotated[int, Field(gt=0)]
    at: datetime


class FetchRecord(Frozen):
    """`source.json` of a fetched bundle."""

    asked: str
    files: tuple[FetchedFile, ...]
    absent: tuple[str, ...] = ()
    """What the server does not have, in sentences."""


def parse_target(text: str) -> ArxivPaper | PaperUrl | None:
    """What `repro add TEXT` is to fetch; None for what is no id, DOI or address, so a path.

    Raises FetchError for a DOI that is not arXiv's, a malformed id, and other schemes than http(s).
    """
    text = text.strip()
    scheme, _, rest = text.partition(":")
    if scheme.lower() == "arxiv":
        return _arxiv(rest.strip(), text)
    if scheme.lower() == "doi" or _DOI.fullmatch(text):
        return _doi(rest.strip() if scheme.lower() == "doi" else text)
    if "://" not in text:
        return None
    try:
        parts = urlsplit(text)
        usable = parts.scheme.lower() in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        raise FetchError("is no address.", where=text, hint=_BY_HAND) from None
    if not usable:
        raise FetchError("only http and https addresses are fetched.", where=text, hint=_BY_HAND)
    if "@" in parts.netloc:
        raise FetchError(
            "holds a user name or a password, which would be kept.",
            where=parts.hostname,
            hint=_BY_HAND,
        )
    host = parts.hostname.lower()
    if host in {"doi.org", "dx.doi.org", "www.doi.org"}:
        return _doi(unquote(parts.path).lstrip("/"))
    if host == "arxiv.org" or host.endswith(".arxiv.org"):
        named = _ARXIV_PATH.fullmatch(unquote(parts.path))
        if named:
            return _arxiv(named["id"], text)
    return PaperUrl(url=text)


def _arxiv(name: str, asked: str) -> ArxivPaper:
    found = _ARXIV_ID.fullmatch(name)
    if not found:
        raise FetchError(
            f"'{name}' is no arXiv id.",
            where=asked,
            hint="Ids look like 2505.20662, 2505.20662v2 or hep-th/9901001.",
        )
    return ArxivPaper(id=found["id"], version=found["version"])


def _doi(doi: str) -> ArxivPaper:
    found = _ARXIV_DOI.fullmatch(doi)
    if found:
        return _arxiv(found["id"], doi)
    raise FetchError(
        "is a publisher's DOI; only arXiv's DOIs (10.48550/arXiv.…) lead to a file that may be "
        "fetched.",
        where=doi,
        hint=f"Give the arXiv id or the address of the PDF. Or: {_BY_HAND}",
    )


# What came back


def file_name(path: Path, *, where: str) -> str | None:
    """The name in a bundle of a file that was fetched, by its content: `paper.pdf` and so on.

    None for the placeholder that arXiv serves as the source of a withdrawn paper. The whole file is
    looked at, so a truncated one is found. Raises FetchError for what is no paper; `where` is its
    address.
    """
    with path.open("rb") as file:
        head = file.read(4096)
    if not head.strip():
        raise FetchError("the answer is empty.", where=where, hint="Try again later.")
    if head[:2] == b"\x1f\x8b":
        return _gzipped_name(path, where)
    if b"%PDF-" in head[:1024]:
        _check_pdf_end(path, where)
        return "paper.pdf"
    if head[257:262] == b"ustar":
        return "paper.tar"
    if head[:4] == b"PK\x03\x04":
        return "paper.zip"
    return _text_name(head, where)


def _gzipped_name(path: Path, where: str) -> str | None:
    """Of a gzip file: a tree of LaTeX, or one file of LaTeX. Raises FetchError if it is damaged."""
    head = _unpacked_head(path, where)
    if head[257:262] == b"ustar":
        return "paper.tar.gz"
    name = _text_name(head, where)
    return name and "paper.gz"


def _unpacked_head(path: Path, where: str) -> bytes:
    """The first bytes of a gzip file's content, all of which is unpacked and let go."""
    head, total = b"", 0
    unpacker = zlib.decompressobj(wbits=31)
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 16):
                while block and not unpacker.eof:
                    piece = unpacker.decompress(block, 1 << 20)
                    head += piece[: 4096 - len(head)]
                    total += len(piece)
                    if total > LARGEST_UNPACKED:
                        raise FetchError("unpacks to more than 1 GiB.", where=where)
                    block = unpacker.unconsumed_tail
    except zlib.error:
        raise FetchError("came damaged.", where=where, hint="Try again later.") from None
    if not unpacker.eof:
        raise FetchError("came truncated.", where=where, hint="Try again later.")
    return head


def _check_pdf_end(path: Path, where: str) -> None:
    """Raises FetchError for a PDF without its last line."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 4096))
        if b"%%EOF" not in file.read():
            raise FetchError("came truncated.", where=where, hint="Try again later.")


def _text_name(head: bytes, where: str) -> str | None:
    text = head.decode("latin-1").lstrip("\ufeff \t\r\n")
    if text.startswith("%auto-ignore"):
        return None
    if re.match(r"<(?:!doctype html|html|\?xml)", text, re.IGNORECASE):
        raise FetchError(
            "the server answered with a web page, not with a paper.", where=where, hint=_BY_HAND
        )
    if re.search(r"\\documentclass|\\documentstyle|\\begin\b|\\input\b", text) or (
        text.startswith("%") and not text.startswith("%!")
    ):
        return "paper.tex"
    kind = "PostScript" if text.startswith("%!") else "neither LaTeX nor a PDF"
    raise FetchError(f"the server's file is {kind}.", where=where, hint=_BY_HAND)
