"""XML and HTML as text: a parser that trusts no file, and an element's text on one line."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.citations import mark, print_marks
from repro_pipeline.paper.names import one_line

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

LARGEST = 100 << 20
"""Bytes of an XML file that are still a paper's."""

DEEPEST = 200
"""Elements inside of elements: what is nested deeper is left out. The parser itself stops at 256."""

_BOLD = {"b", "strong", "bold"}
_UNDERLINED = {"u", "ins", "underline"}
_BREAKS = {"br", "break", "lb", "p", "div", "li", "title", "list-item", "s", "label"}
_SKIPPED = frozenset(
    {"tex-math", "script", "style", "annotation", "annotation-xml", "fn", "object-id"}
)
_NOTES = {"fn", "table-fn", "bibr"}


def parse_xml(path: Path) -> tuple[Element, str]:
    """The root of an XML file, without comments, and the file's SHA-256.

    Nothing outside of the file is loaded. Raises PaperError for a file that is not well-formed, is
    nested too deep, or declares entities of its own (they can multiply without end).
    """
    from lxml import etree

    try:
        data = path.read_bytes()
    except OSError as error:
        raise PaperError(f"cannot be read ({error.strerror}).", where=str(path)) from None
    if len(data) > LARGEST:
        raise PaperError("larger than a paper can be.", where=path.name)
    parser = etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser=parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f"{path.name}:{line}" if line else path.name
        raise PaperError(f"is no well-formed XML ({_first(error)}).", where=where) from None
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and any(declared.iterentities()):
        raise PaperError(
            "declares entities of its own, which are not expanded.",
            where=path.name,
            hint="Save it with its entities written out.",
        )
    _name_characters(root)
    return root, hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class Inline:
    """Text of an element, and whether its first letter or digit is bold or underlined."""

    text: str
    bold: bool = False
    underline: bool = False


@dataclass(frozen=True)
class Reading:
    """How text is taken: elements left out, and the works that an element cites."""

    skipped: frozenset[str] = _SKIPPED
    cited: Callable[[Element], Sequence[str]] = lambda element: ()

    def without(self, *names: str) -> Reading:
        """The same, with more elements left out."""
        return Reading(self.skipped | set(names), self.cited)


PLAIN = Reading()


def inline(element: Element, reading: Reading = PLAIN) -> Inline:
    """An element's text on one line: raised and lowered parts are written `^{…}` and `_{…}`.

    A raised number that refers to a note or a work is written `[1]`, so that it is no exponent.
    """
    pieces = list(_pieces(element, reading, False, False, 0))
    text = one_line("".join(text for text, _, _ in pieces))
    first = next(
        (piece for piece in pieces if any(character.isalnum() for character in piece[0])),
        ("", False, False),
    )
    return Inline(text, first[1], first[2])


def text_of(element: Element | None, reading: Reading = PLAIN) -> str:
    """The text of an element on one line; empty for none."""
    return "" if element is None else inline(element, reading).text


def local_name(element: Element) -> str:
    """An element's name without its namespace; empty for comments and entities."""
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


def named(element: Element, *names: str) -> Iterator[Element]:
    """The elements of these names inside of an element, in order, whatever their namespace."""
    return (inner for inner in element.iterdescendants() if local_name(inner) in names)


def child(element: Element | None, *path: str) -> Element | None:
    """The first child of the first child … of these names, or None."""
    for name in path:
        if element is None:
            return None
        element = next((inner for inner in element if local_name(inner) == name), None)
    return element


def replace(element: Element, text: str) -> None:
    """Put a text in the place of an element."""
    parent, before = element.getparent(), element.getprevious()
    text += element.tail or ""
    if before is not None:
        before.tail = (before.tail or "") + text
    else:
        parent.text = (parent.text or "") + text
    parent.remove(element)


def _name_characters(root: Element) -> None:
    """Characters for the names that the document's type would define, as `&alpha;`."""
    from lxml import etree

    for entity in list(root.iter(etree.Entity)):
        replace(entity, html.unescape(entity.text))


def _first(error: Exception) -> str:
    return str(error).split(", line ")[0].rstrip(".")[:200]


# An element's text

Piece = tuple[str, bool, bool]


def _pieces(
    element: Element, reading: Reading, bold: bool, underline: bool, depth: int
) -> Iterator[Piece]:
    name = local_name(element)
    if depth > DEEPEST or not name or name in reading.skipped:
        return
    bold = bold or name in _BOLD
    underline = underline or name in _UNDERLINED
    if name in _SHAPES:
        parts = [_joined(_pieces(part, reading, bold, underline, depth + 1)) for part in element]
        yield _SHAPES[name](parts), bold, underline
        return
    children = _children(element, reading, bold, underline, depth)
    if name in {"sup", "sub"}:
        inside = _joined(children)
        noted = name == "sup" and _is_note(element)
        yield (_note(inside) if noted else _script("^_"[name == "sub"], inside)), bold, underline
        return
    if element.get("ref-type") in {"fn", "table-fn"} and not _is_raised(element):
        yield _note(_joined(children)), bold, underline
        return
    yield from children
    if keys := reading.cited(element):
        yield mark(keys), bold, underline
    if name in _BREAKS:
        yield " ", bold, underline


def _children(
    element: Element, reading: Reading, bold: bool, underline: bool, depth: int
) -> Iterator[Piece]:
    if element.text:
        yield element.text, bold, underline
    for inner in element:
        yield from _pieces(inner, reading, bold, underline, depth + 1)
        if inner.tail:
            yield inner.tail, bold, underline


def _joined(pieces: Iterator[Piece]) -> str:
    return "".join(text for text, _, _ in pieces).strip()


def _is_note(raised: Element) -> bool:
    """Whether a raised text is a reference to a note or a work."""
    around = raised.getparent()
    inside = any(inner.get("ref-type") in _NOTES for inner in raised)
    return inside or (around is not None and around.get("ref-type") in _NOTES)


def _is_raised(reference: Element) -> bool:
    around = reference.getparent()
    inside = any(local_name(inner) == "sup" for inner in reference.iterdescendants())
    return inside or (around is not None and local_name(around) == "sup")


def _note(inside: str) -> str:
    """A mark: `[1]` for a number, `^a` for a letter."""
    printed = print_marks(inside, lambda keys: "").strip()
    if not printed or not set(printed) <= set("0123456789,;–- "):
        return _script("^", inside)
    return f"[{printed}]{inside[len(printed) :] if inside.startswith(printed) else ''}"


def _script(sign: str, inside: str) -> str:
    """A raised or lowered text; footnote marks need no sign."""
    if not inside or (sign == "^" and set(inside) <= set("*∗†‡§¶‖#, ")):
        return inside
    return f"{sign}{inside}" if len(inside) == 1 else f"{sign}{{{inside}}}"


def _scripted(signs: str) -> Callable[[list[str]], str]:
    def shape(parts: list[str]) -> str:
        scripts = zip(signs, parts[1:], strict=False)
        return parts[0] + "".join(_script(sign, part) for sign, part in scripts) if parts else ""

    return shape


_SHAPES: dict[str, Callable[[list[str]], str]] = {
    "msup": _scripted("^"),
    "msub": _scripted("_"),
    "msubsup": _scripted("_^"),
    "mfrac": "/".join,
    "msqrt": lambda parts: f"√({''.join(parts)})",
}
"""How the parts of MathML's elements are put together."""
