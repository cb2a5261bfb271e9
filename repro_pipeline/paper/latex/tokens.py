"""LaTeX as tokens that know their file and line. Category codes are LaTeX's own; nothing runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from repro_pipeline.errors import PaperError

Kind = Literal["command", "{", "}", "$", "&", "#", "^", "_", "space", "par", "char", "verbatim"]


class Token(NamedTuple):
    """A token: `text` is a command's name without backslash, `$` or `$$`, `#1`, a character."""

    kind: Kind
    text: str
    file: str
    line: int

    def __repr__(self) -> str:
        return f"\\{self.text}" if self.kind == "command" else self.text


_VERBATIM = ["verbatim*?", "Verbatim", "lstlisting", "minted", "alltt", "filecontents*?", "comment"]
_RAW_ENVIRONMENT = re.compile(
    r"\\begin\s*\{(" + "|".join(name.replace("*", r"\*") for name in _VERBATIM) + r")\}"
)
_RAW_COMMAND = re.compile(r"\\(?:url|path|nolinkurl|href|hyperlink|hypertarget)\s*(?=\{)")
_VERB = re.compile(r"\\(?:verb|lstinline)\*?([^\sA-Za-z*{\[])(.*?)\1")
_COMMAND = re.compile(r"\\(?:([A-Za-z]+)(\*?)[ \t]*(?:\n[ \t]*(?!\n|[ \t]*\n))?|(.|\n))", re.S)
_COMMAND_AT = re.compile(r"\\(?:([A-Za-z@]+)(\*?)[ \t]*(?:\n[ \t]*(?!\n|[ \t]*\n))?|(.|\n))", re.S)
_SPACE = re.compile(r"[ \t\n\u00a0]+")
_COMMENT = re.compile(r"%[^\n]*(?:\n[ \t]*|$)")
_PARAMETER = re.compile(r"#+\d?")
_SPECIAL: dict[str, Kind] = {"{": "{", "}": "}", "&": "&", "^": "^", "_": "_"}


def tokenise(text: str, file: str, *, at_is_letter: bool = False) -> list[Token]:
    """The tokens of a file. Comments are dropped; `\\verb`, verbatim text and addresses are kept raw.

    A star after a command name is a character of its own, as in TeX. Raises PaperError for a
    verbatim environment without end.
    """
    return list(_scan(text.replace("\r\n", "\n").replace("\r", "\n"), file, at_is_letter))


def without_comments(text: str) -> str:
    """The text without comments, for a quick look; verbatim text is not spared."""
    return re.sub(r"(?<!\\)%[^\n]*", "", text)


def _scan(text: str, file: str, at_is_letter: bool) -> Iterator[Token]:
    position, line = 0, 1
    command_pattern = _COMMAND_AT if at_is_letter else _COMMAND
    while position < len(text):
        char = text[position]
        start = position
        if char == "\\":
            raw = _raw(text, position, file, line)
            if raw is not None:
                tokens, position = raw
                yield from tokens
            else:
                match = command_pattern.match(text, position)
                name = (match[1] or match[3] or "") if match else ""
                position = match.end() if match and match[3] is None else position + 1 + len(name)
                if match and match[2]:
                    position = match.end(2) - 1
                if name in {"makeatletter", "makeatother"}:
                    command_pattern = _COMMAND_AT if name == "makeatletter" else _COMMAND
                elif name in {" ", "\n", "\t"}:
                    yield Token("char", "\u00a0", file, line)
                elif name:
                    yield Token("command", name, file, line)
        elif char == "%":
            match = _COMMENT.match(text, position)
            position = match.end() if match else len(text)
            if text[position : position + 1] == "\n":
                yield Token("par", "\n\n", file, line)
        elif char.isspace():
            match = _SPACE.match(text, position)
            position = match.end() if match else position + 1
            breaks = text.count("\n", start, position)
            yield (
                Token("par", "\n\n", file, line) if breaks > 1 else Token("space", " ", file, line)
            )
        elif char == "$":
            position += 2 if text.startswith("$$", position) else 1
            yield Token("$", text[start:position], file, line)
        elif char == "#":
            match = _PARAMETER.match(text, position)
            position = match.end() if match else position + 1
            yield Token("#", text[start:position], file, line)
        else:
            position += 1
            yield Token(_SPECIAL.get(char, "char"), char, file, line)
        line += text.count("\n", start, position)


def _raw(text: str, position: int, file: str, line: int) -> tuple[list[Token], int] | None:
    """What stands raw at a position: `\\verb`, a verbatim environment, a command with an address."""
    if verb := _VERB.match(text, position):
        return [Token("verbatim", verb[2], file, line)], verb.end()
    if begun := _RAW_ENVIRONMENT.match(text, position):
        end = text.find(f"\\end{{{begun[1]}}}", begun.end())
        if end < 0:
            raise PaperError(
                f"\\begin{{{begun[1]}}} has no \\end{{{begun[1]}}}.", where=f"{file}:{line}"
            )
        after = end + len(f"\\end{{{begun[1]}}}")
        if begun[1].startswith(("comment", "filecontents")):
            return [], after
        return [Token("verbatim", text[begun.end() : end], file, line)], after
    if command := _RAW_COMMAND.match(text, position):
        end = _closing(text, command.end())
        if end is None:
            return None
        address = text[command.end() + 1 : end]
        if "#" in address and re.search(r"#\d", address):
            return None  # the body of a macro
        name = command[0].strip().lstrip("\\")
        return [
            Token("command", name, file, line),
            Token("{", "{", file, line),
            Token("verbatim", address, file, line),
            Token("}", "}", file, line),
        ], end + 1
    return None


def _closing(text: str, opening: int) -> int | None:
    depth = 0
    for position in range(opening, min(len(text), opening + 4000)):
        if text[position] == "{" and text[position - 1] != "\\":
            depth += 1
        elif text[position] == "}" and text[position - 1] != "\\":
            depth -= 1
            if depth == 0:
                return position
    return None
