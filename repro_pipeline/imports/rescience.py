"""A ReScience C article's folder into a bundle: its LaTeX under a title page made of `metadata.yaml`.

The journal's own class file sets title, authors and abstract from the metadata, so the LaTeX alone has
none; and `content.tex` has no preamble. So a main file is made of `article.tex` (or, without it, of
`content.tex`) with these put in, and named in an `00README.json`, as arXiv does.
"""

from __future__ import annotations

import json
import re
from itertools import count
from pathlib import Path
from typing import Any

from repro_pipeline.imports.foreign_yaml import read_foreign
from repro_pipeline.imports.record import (
    ImportFault,
    ImportRecord,
    Original,
    Taken,
    files_below,
    refuse_pointer,
    take,
    written,
)
from repro_pipeline.imports.task import OURS, begin_task

_METADATA = "metadata.yaml"
_MARKS = ("replication", "contributors", "journal", "article", "domain")
_TEXTS = {".tex", ".bib", ".bbl", ".sty", ".cls", ".def"}
_MAIN = "title-page"


def metadata_of(source: Path) -> tuple[str, dict[str, Any]] | None:
    """The article's folder within `source` (`.` or one below), and its metadata; None: it is none.

    Raises ImportFault where several folders hold one.
    """
    if at_top := _article(source / _METADATA):
        return ".", at_top
    articles = {
        path.parent.name: found
        for path in sorted(source.glob(f"*/{_METADATA}"))
        if (found := _article(path))
    }
    if len(articles) > 1:
        raise ImportFault(
            f"holds several articles: {', '.join(articles)}.",
            where=str(source),
            hint="Add the folder of one.",
        )
    return next(iter(articles.items()), None)


def _article(path: Path) -> dict[str, Any] | None:
    found = read_foreign(path)
    is_one = found and {"title", "authors"} <= found.keys() and any(m in found for m in _MARKS)
    return found if is_one else None


def import_rescience(source: Path, bundle: Path, *, asked: str) -> ImportRecord:
    """Fill the empty folder `bundle`. Raises ImportFault where there is neither LaTeX nor a PDF."""
    found = metadata_of(source)
    if found is None:
        raise ImportFault("has no metadata of an article.", where=str(source / _METADATA))
    inner, metadata = found
    title = _plain(metadata["title"]) or None
    authors = tuple(_plain(one.get("name")) for one in _mappings(metadata["authors"]))
    names = files_below(source)
    files = [
        *_latex(source, bundle, inner, metadata, authors),
        *_pdf(source, bundle, inner),
    ]
    if not files:
        raise ImportFault(
            "holds neither content.tex, article.tex nor article.pdf.",
            where=str(source / inner),
            hint="Put the article there.",
        )
    files += [take(source, name, bundle, name) for name in names if name.startswith(OURS)]
    files.append(begin_task(source, bundle, title=title))
    taken = {one.source for one in files}
    code = [_address(one) for one in _values(metadata.get("code"), "url")]
    original = Original(
        citation=next(iter(_values(metadata.get("replication"), "cite")), None),
        url=next(iter(_values(metadata.get("replication"), "url")), None),
        doi=next(iter(_values(metadata.get("replication"), "doi")), None),
    )
    known = original != Original()
    notes = ["Title, authors and abstract are of metadata.yaml."]
    if any(one.source.endswith("content.tex") for one in files) and not _has_article(files):
        notes.append(
            "Without article.tex, only content.tex and what it names is read: no appendix."
        )
    return ImportRecord(
        layout="rescience",
        asked=asked,
        title=title,
        authors=tuple(filter(None, authors)),
        original=original if known else None,
        code_named=tuple(code),
        files=tuple(files),
        left_out=tuple(name for name in names if name not in taken),
        notes=tuple(notes),
    )


def _latex(
    source: Path, bundle: Path, inner: str, metadata: dict[str, Any], authors: tuple[str, ...]
) -> list[Taken]:
    """The text files of the tree below `paper/`, and the main file that begins the article."""
    base = source / inner
    names = [
        name
        for name in files_below(source)
        if Path(name).suffix.lower() in _TEXTS and not name.startswith(OURS)
    ]
    body = _body(base, metadata)
    if body is None:
        return []
    prefix = "" if inner == "." else f"{inner}/"
    main = next(name for n in count() if (name := f"{prefix}{_MAIN}{'-' * n}.tex") not in names)
    files = [take(source, name, bundle, f"paper/{name}") for name in names]
    begins = _BEGINS.search(body)
    text = f"{body[: begins.end(1)]}{_title_page(metadata, authors)}{body[begins.end() :]}"
    manifest = {"sources": [{"usage": "toplevel", "filename": main}]}
    return [
        *files,
        written(bundle, f"paper/{main}", text),
        written(bundle, "paper/00README.json", json.dumps(manifest)),
    ]


def _body(base: Path, metadata: dict[str, Any]) -> str | None:
    """The document: `article.tex`, or one around `content.tex`; None where there is neither."""
    article, content = base / "article.tex", base / "content.tex"
    if article.is_file():
        text = article.read_text(encoding="utf-8", errors="replace")
        if _BEGINS.search(text):
            return text
    if not content.is_file():
        return None
    bibliography = str(metadata.get("bibliography") or "bibliography.bib").removesuffix(".bib")
    text = content.read_text(encoding="utf-8", errors="replace")
    has_own = re.search(r"^[^%\n]*\\bibliography\b", text, re.M)
    last = "" if has_own else rf"\bibliography{{{bibliography}}}"
    lines = [r"\documentclass{article}", _BEGIN, r"\input{content.tex}", last, r"\end{document}"]
    return "\n".join([*lines, ""])


def _has_article(files: list[Taken]) -> bool:
    return any(Path(one.source).name == "article.tex" for one in files)


def _pdf(source: Path, bundle: Path, inner: str) -> list[Taken]:
    name = "article.pdf" if inner == "." else f"{inner}/article.pdf"
    if not (source / name).is_file():
        return []
    refuse_pointer(source / name)
    return [take(source, name, bundle, "paper.pdf")]


def _title_page(metadata: dict[str, Any], authors: tuple[str, ...]) -> str:
    """What begins the document: the metadata as LaTeX."""
    lines = [
        rf"\title{{{_latex_text(_plain(metadata['title']))}}}",
        rf"\author{{{_latex_text(_AND.join(filter(None, authors)))}}}",
        _BEGIN,
        r"\maketitle",
    ]
    if abstract := _plain(metadata.get("abstract")):
        lines += [r"\begin{abstract}", _latex_text(abstract), r"\end{abstract}"]
    return "\n".join(lines)


_BEGIN = r"\begin{document}"
_BEGINS = re.compile(rf"^((?:[^%\n]|(?<=\\)%)*?){re.escape(_BEGIN)}", re.M)
"""Where the document begins: in no comment."""
_AND = r" \and "


def _mappings(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _values(value: Any, key: str) -> list[str]:
    """The texts under `key` in a list of mappings, which is how the journal writes a mapping."""
    listed = [value] if isinstance(value, dict) else _mappings(value)
    return [text for one in listed if (text := _plain(one.get(key)))]


def _plain(value: Any) -> str:
    text = " ".join(str(value).split()) if isinstance(value, str) else ""
    return "" if text.lower() in {"~", "null", "none"} else text


def _latex_text(text: str) -> str:
    """With `%` as a sign: on the one line that is made of it, all that follows would be a comment."""
    return re.sub(r"(?<!\\)%", r"\%", text)


def _address(text: str) -> str:
    """An address with both its slashes: some articles have one."""
    return re.sub(r"^(https?):/+", r"\1://", text)
