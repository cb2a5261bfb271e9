"""YAML text to plain values, each with the line it stands on; nothing in it is guessed at.

The dialect is the core of YAML 1.2: `2024-01-01`, `1:30` and `007` are texts, `1e-3` is a number,
and every key is a text. A bare word that YAML 1.1 takes for true or false (`yes`, `off`) is refused,
because its readers do not agree on it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import yaml

from repro_pipeline.choices import short
from repro_pipeline.errors import FileFormatError

Location = tuple[str | int, ...]
"""The keys and positions that lead to a value."""

LARGEST = 1 << 20
"""Characters of a text, also with its aliases written out."""

MOST_VALUES = 100_000
"""Values of a text; one with an alias counts wherever the alias stands."""

DEEPEST = 40
"""Lists and mappings within each other."""


@dataclass(frozen=True)
class Document:
    """The value of a YAML text, and where its parts stand."""

    value: Any
    lines: dict[Location, int]
    """Line of each value, from 1; of a value with a key, the key's line."""
    written: dict[Location, str]
    """Scalars that are no texts, as they are written: `3.10` for 3.1."""

    def line(self, place: Location) -> int:
        """The line of a place, or of the nearest part around it that exists."""
        ends = range(len(place), -1, -1)
        return next((self.lines[place[:end]] for end in ends if place[:end] in self.lines), 1)


def read_yaml(text: str, name: str) -> Document:
    """Read a text; `name` stands for its file in errors.

    Raises FileFormatError, with the line, for what is no YAML, for a key that stands twice, a tag,
    an ambiguous word or a number that is not finite, and for what is empty, too long or too deep.
    """
    if len(text) > LARGEST:
        raise too_large(name)
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        what = f"holds the character U+{ord(text[error.position]):04X}, which YAML does not allow."
        raise FileFormatError(what, where=f"{name}:{line}") from None
    except yaml.MarkedYAMLError as error:
        raise _no_yaml(error, loader.plain, text, name) from None
    except RecursionError:
        raise FileFormatError(f"is nested more than {DEEPEST} deep.", where=name) from None
    if node is None:
        raise FileFormatError("is empty.", where=name)
    walk = _Walk(name)
    return Document(walk.value(node, (), ()), walk.lines, walk.written)


def too_large(name: str) -> FileFormatError:
    """The error for a file beyond LARGEST."""
    return FileFormatError(f"is larger than {LARGEST >> 20} MiB.", where=name)


def _no_yaml(
    error: yaml.MarkedYAMLError, plain: yaml.ScalarToken | None, text: str, name: str
) -> FileFormatError:
    mark = error.problem_mark or error.context_mark
    lines = text.removeprefix("\ufeff").splitlines()
    if mark and (known := _known_slip(error, plain, lines)):
        line, what, hint = known
        return FileFormatError(f"is no valid YAML: {what}", where=f"{name}:{line}", hint=hint)
    hint = "Indent with spaces, not with tabs." if "'\\t'" in (error.problem or "") else ""
    if "flow" in (error.context or ""):
        hint = "Within [] and {} write a text that holds one of , : ? # [ ] { } in quotes."
    problem = ", ".join(part for part in (error.context, error.problem) if part)
    where = f"{name}:{mark.line + 1}" if mark else name
    return FileFormatError(f"is no valid YAML: {problem}.", where=where, hint=hint)


_READ = 500
"""Characters of a line that are looked at for a slip; nothing is said of the parts of a longer one."""
_LONGEST_KEY = 1024
_KEY_AND_TEXT = re.compile(r"\s*(?:- +)*(?P<key>\w[\w.-]*)(?: +(?P<text>.+?))?\s*")
"""A line that would be a key with its value, were there a colon."""
_TIGHT = re.compile(r"\s*(?:- +)*(?P<key>\w[\w.-]*):(?P<text>[^\s:/].*?)\s*")
_HAS_KEY = re.compile(r"\s*(?:- +)*[^\s#'\"][^:]*:(?:\s|$)")
_DASHES = re.compile(r" *(?:- +)*")
"""What stands before the first key or value of a line."""
_NO_SPACE = re.compile(r"\s*-[^\s-]")
"""A line that would be an item of a list, were there a space behind its dash."""

_Slip = tuple[int, str, str]
"""Line, sentence and hint of what people often get wrong."""


def _known_slip(
    error: yaml.MarkedYAMLError, plain: yaml.ScalarToken | None, lines: list[str]
) -> _Slip | None:
    """The slip behind an error, `plain` the last bare text before it; None to tell it as the parser does."""
    problem, context = error.problem or "", error.context or ""
    here = error.problem_mark or error.context_mark
    start = error.context_mark or here
    if "could not find expected ':'" in problem:
        return _no_key(start, here, lines)
    if "expected '<document start>', but found '<block mapping" in problem:
        before = _line_before(here.line, lines)
        alike = before is not None and _column(lines[before]) == here.column
        return _without_colon(before, lines) if alike else None
    if "mapping values are not allowed" in problem:
        return _colon_not_allowed(here, plain, lines)
    if "quoted scalar" in context and "end of stream" in problem:
        return start.line + 1, "the quote that opens here is never closed.", ""
    if "flow" in context and here.line > start.line:
        sign = "[" if "sequence" in context else "{"
        what = (
            f"the {sign} that opens on line {start.line + 1} is not closed, or a comma is missing."
        )
        return here.line + 1, what, ""
    if "expected <block end>" in problem:
        found = problem.rpartition("found ")[2].strip("'")
        return here.line + 1, *_does_not_follow(found, start, here, lines)
    return None


def _does_not_follow(
    found: str, start: yaml.Mark, here: yaml.Mark, lines: list[str]
) -> tuple[str, str]:
    """Sentence and hint for what goes neither on with the mapping or list from `start`, nor ends it."""
    head = lines[here.line][: here.column]
    if found in {"]", "}"}:
        sign = "[" if found == "]" else "{"
        return f"a {found} stands here that closes no {sign}.", ""
    if head.rstrip().endswith(("'", '"', "]", "}")):
        hint = (
            "Close each quote where its text ends, and put the whole text in quotes "
            "of a kind that it does not hold."
        )
        return "text stands behind a closed quote or bracket.", hint
    if found in {"-", "?"} and here.column == start.column:
        what = (
            "this line is an item of a list, in the column of a mapping's keys."
            if found == "-"
            else "this line is a key, in the column of a list's items."
        )
        return what, "A dash is missing or one too many, or the line is indented wrongly."
    if found.startswith("<block") and here.column != start.column and not head.strip(" -"):
        before = _line_before(here.line, lines)
        if here.column > _DASHES.match(lines[before]).end():
            return _deeper(before)
        what = "this line starts in another column than those that it goes with."
        return what, "Keys of one mapping, and items of one list, are indented alike."
    hint = "Look at its indentation, and at the quotes and brackets before it."
    return "this line does not go on with those before it.", hint


def _deeper(before: int) -> tuple[str, str]:
    what = f"this line is indented deeper than line {before + 1}, which has a value already."
    hint = "Indent the keys of one mapping alike. Put a text over several lines in quotes."
    return what, hint


def _no_key(start: yaml.Mark, here: yaml.Mark, lines: list[str]) -> _Slip:
    """What to say of a line that stands where a key must, and is none."""
    if here.line == start.line and here.index - start.index > _LONGEST_KEY:
        return start.line + 1, f"a key has at most {_LONGEST_KEY} characters.", ""
    before = _line_before(start.line, lines)
    after_item = before is not None and lines[before][start.column :].startswith("- ")
    if not after_item and (found := _without_colon(start.line, lines)):
        return found
    dashed = after_item or _NO_SPACE.match(lines[start.line])
    hint = "An item of a list starts with a dash and a space." if dashed else ""
    return start.line + 1, "a key with its colon must stand here, in one line.", hint


def _without_colon(at: int, lines: list[str]) -> _Slip | None:
    """What to say of a line that is no key with a value; None for one that may be."""
    line = lines[at]
    if len(line) > _READ or not line.isprintable():
        return None
    if found := _TIGHT.fullmatch(line):
        what = f"behind '{short(found['key'])}:' a space is missing."
    elif found := _KEY_AND_TEXT.fullmatch(line):
        what = f"behind '{short(found['key'])}' a colon is missing."
    else:
        return None
    return at + 1, what, f"Write `{short(found['key'])}: {short(found['text'] or '…')}`."


def _colon_not_allowed(
    here: yaml.Mark, plain: yaml.ScalarToken | None, lines: list[str]
) -> _Slip | None:
    """What to say of a colon where there can be none: the bare text before it tells why."""
    head = lines[here.line][: here.column]
    ends_here = plain and plain.end_mark.line == here.line
    begin = plain.start_mark if ends_here and not head[plain.end_mark.column :].strip() else here
    if _HAS_KEY.match(head):
        hint = "Write a text that holds a colon and a space in quotes."
        return here.line + 1, "a second colon stands in this line.", hint
    if begin.line < here.line:
        return _text_goes_on(begin, here, lines)
    if here.index - begin.index > _LONGEST_KEY:
        return here.line + 1, f"a key has at most {_LONGEST_KEY} characters.", ""
    return None


def _text_goes_on(begin: yaml.Mark, here: yaml.Mark, lines: list[str]) -> _Slip:
    """What to say of a bare text over several lines that would be a key at its end."""
    head = lines[begin.line][: begin.column]
    next_line = _line_before(here.line, lines) == begin.line
    if begin.column == 0 and (found := _without_colon(begin.line, lines)):
        return found  # the file itself would be a text
    if next_line and _HAS_KEY.match(head):
        return here.line + 1, *_deeper(begin.line)
    alike = begin.column == _column(lines[here.line])
    own_line = next_line and alike and not head.strip(" -")
    if own_line and (found := _without_colon(begin.line, lines)):
        line, what, hint = found
        return line, what, f"{hint} If it is a text over several lines, put it in quotes."
    what = f"this line goes on with the text that begins on line {begin.line + 1}, and has a colon."
    hint = (
        "A text over several lines that holds a colon and a space must stand in quotes; "
        "a key is indented like the others of its mapping."
    )
    if any(_NO_SPACE.match(line) for line in lines[begin.line : here.line + 1]):
        hint = "An item of a list starts with a dash and a space."
    return here.line + 1, what, hint


def _column(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _line_before(at: int, lines: list[str]) -> int | None:
    """The last line before another that is neither empty nor a comment."""
    told = (n for n in range(at - 1, -1, -1) if lines[n].strip() and lines[n].lstrip()[0] != "#")
    return next(told, None)


class _Loader(yaml.SafeLoader):
    """Tells the kinds of bare scalars apart as YAML 1.2 does."""

    yaml_implicit_resolvers: dict = {}
    plain: yaml.ScalarToken | None = None
    """The last bare text that was read."""

    def scan_plain(self) -> yaml.ScalarToken:
        self.plain = super().scan_plain()
        return self.plain


_TAG = "tag:yaml.org,2002:"
_AMBIGUOUS = "!ambiguous"
_KINDS = (
    (f"{_TAG}null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    (f"{_TAG}bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    (
        _AMBIGUOUS,
        r"yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF",
        list("yYnNoO"),
    ),
    (f"{_TAG}int", r"[-+]?(?:0|[1-9][0-9_]*|0x[0-9a-fA-F]+|0o[0-7]+)", list("-+0123456789")),
    (
        f"{_TAG}float",
        r"[-+]?(?:[0-9][0-9_]*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)|"
        r"[-+]?(?:[0-9][0-9_]*\.[0-9]*|\.[0-9]+)|"
        r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
)
for _tag, _pattern, _first in _KINDS:
    _Loader.add_implicit_resolver(_tag, re.compile(rf"(?:{_pattern})\Z"), _first)

_READERS: dict[str, Callable[[str], Any]] = {
    f"{_TAG}null": lambda text: None,
    f"{_TAG}bool": lambda text: text.lower() == "true",
    f"{_TAG}int": lambda text: int(text.replace("_", ""), 0),
    f"{_TAG}float": lambda text: float(re.sub(r"_|\.(?=inf|nan)", "", text.lower())),
    f"{_TAG}str": str,
}


@dataclass
class _Walk:
    """One walk over the nodes of a text; aliases are walked wherever they stand."""

    name: str
    lines: dict[Location, int] = field(default_factory=dict)
    written: dict[Location, str] = field(default_factory=dict)
    room: int = LARGEST

    def value(self, node: yaml.Node, place: Location, above: tuple[yaml.Node, ...]) -> Any:
        line = node.start_mark.line + 1
        self.lines.setdefault(place, line)
        if any(node is outer for outer in above):
            raise self.fault("an alias refers to itself.", line)
        if len(above) >= DEEPEST:
            raise self.fault(f"is nested more than {DEEPEST} deep.", line)
        if len(self.lines) > MOST_VALUES:
            raise self.fault(f"holds more than {MOST_VALUES} values.", line)
        inside = (*above, node)
        if isinstance(node, yaml.MappingNode) and node.tag == f"{_TAG}map":
            return {
                key: self.value(item, (*place, key), inside)
                for key, item in self.keyed(node, place)
            }
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAG}seq":
            return [self.value(item, (*place, n), inside) for n, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode) and node.tag in {*_READERS, _AMBIGUOUS}:
            return self.scalar(node, place, line)
        raise self.fault(f"the tag '{node.tag.replace(_TAG, '!!')}' is not known here.", line)

    def keyed(self, node: yaml.MappingNode, place: Location):
        """The values of a mapping with their keys, as texts."""
        seen: set[str] = set()
        for key_node, item in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.fault("a key must be a text.", line)
            key = key_node.value
            if key in seen:
                raise self.fault(f"the key '{key}' stands twice.", line)
            seen.add(key)
            self.take(len(key))
            self.lines[*place, key] = line
            yield key, item

    def scalar(self, node: yaml.ScalarNode, place: Location, line: int) -> Any:
        text = node.value
        self.take(len(text))
        if node.tag == _AMBIGUOUS:
            raise self.fault(
                f"the bare word {text} may mean a text or true or false.",
                line,
                hint=f"Write true, false or '{text}'.",
            )
        try:
            value = _READERS[node.tag](text)
        except ValueError:
            raise self.fault(f"'{text[:40]}' cannot be read as its tag says.", line) from None
        if isinstance(value, float) and not math.isfinite(value):
            raise self.fault(
                f"{text[:40]} is no finite number.", line, hint="If it is a text, put it in quotes."
            )
        if value is not None and not isinstance(value, str):
            self.written[place] = text
        return value

    def take(self, characters: int) -> None:
        self.room -= characters
        if self.room < 0:
            raise too_large(self.name)

    def fault(self, what: str, line: int, *, hint: str = "") -> FileFormatError:
        return FileFormatError(what, where=f"{self.name}:{line}", hint=hint)
