"""Markdown as blocks: headings, tables, formulas, code, paragraphs, each with its first line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["heading", "pipe", "html", "math", "code", "image", "text"]


@dataclass(frozen=True)
class Block:
    """A block of a document; `level` is a heading's."""

    kind: Kind
    text: str
    line: int
    level: int = 0


def blocks_of(text: str) -> tuple[dict[str, str], list[Block]]:
    """The front matter's plain entries, and the blocks of a document."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    meta, at = _front_matter(lines)
    blocks: list[Block] = []
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        block, at = _block(lines, at)
        blocks.append(block)
    return meta, blocks


def pipe_cells(line: str) -> list[str]:
    """The cells of a line of a pipe table; `\\|` and pipes in code do not part cells."""
    line = line.strip()
    line = line.removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    cells = [""]
    code = math = False
    for place, character in enumerate(line):
        before = line[place - 1] if place else ""
        if character == "`" and ("`" in line[place + 1 :] or code):
            code = not code
        if character == "$" and before != "\\" and (math or _closes(line, place)):
            math = not math
        if character == "|" and before != "\\" and not code and not math:
            cells.append("")
        else:
            cells[-1] += character
    return [cell.strip().replace("\\|", "|") for cell in cells]


def _closes(line: str, place: int) -> bool:
    """Whether a `$` opens a formula that ends in the same cell, or holds a pipe as `$|k|$` does."""
    end = line.find("$", place + 1)
    if end < 0:
        return False
    inside = line[place + 1 : end]
    return "|" not in inside or re.fullmatch(r"\s*\\?[lr]?\|[^|]*\|.{0,20}", inside) is not None


_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-{2,})\s*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_DELIMITER = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_IMAGE = re.compile(r"^\s*(?:!\[[^\]]*\]\([^)]*\)\s*)+$|^\s*<!--.*-->\s*$")
_TABLE = re.compile(r"<table\b", re.I)


def _block(lines: list[str], at: int) -> tuple[Block, int]:
    line = lines[at]
    if fence := _FENCE.match(line):
        end = next(
            (n for n in range(at + 1, len(lines)) if lines[n].strip().startswith(fence[1])),
            len(lines),
        )
        return Block("code", "\n".join(lines[at + 1 : end]), at + 1), end + 1
    if heading := _HEADING.match(line):
        return Block("heading", heading[2], at + 1, len(heading[1])), at + 1
    if _IMAGE.match(line):
        return Block("image", "", at + 1), at + 1
    if _is_pipe_table(lines, at):
        end = at + 2
        while end < len(lines) and "|" in lines[end] and lines[end].strip():
            end += 1
        return Block("pipe", "\n".join(lines[at:end]), at + 1), end
    if _TABLE.search(line) and not line.lstrip().startswith("`"):
        return _html(lines, at)
    if line.strip().startswith(("$$", "\\[")):
        return _math(lines, at)
    return _paragraph(lines, at)


def _is_pipe_table(lines: list[str], at: int) -> bool:
    if "|" not in lines[at] or at + 1 >= len(lines) or not _DELIMITER.match(lines[at + 1]):
        return False
    return "|" in lines[at + 1] and len(pipe_cells(lines[at])) == len(pipe_cells(lines[at + 1]))


def _html(lines: list[str], at: int) -> tuple[Block, int]:
    """From `<table` to the `</table>` that closes it; to the next blank line if none does."""
    depth = 0
    for end in range(at, len(lines)):
        low = lines[end].lower()
        depth += len(_TABLE.findall(low)) - low.count("</table")
        if depth <= 0:
            return Block("html", "\n".join(lines[at : end + 1]), at + 1), end + 1
        if end > at and not lines[end].strip() and not _goes_on(lines, end):
            return Block("html", "\n".join(lines[at:end]), at + 1), end
    return Block("html", "\n".join(lines[at:]), at + 1), len(lines)


def _goes_on(lines: list[str], blank: int) -> bool:
    following = next((line for line in lines[blank:] if line.strip()), "")
    return following.lstrip().startswith("<")


def _math(lines: list[str], at: int) -> tuple[Block, int]:
    opening, closing = ("$$", "$$") if lines[at].strip().startswith("$$") else ("\\[", "\\]")
    rest = lines[at].strip().removeprefix(opening)
    inner = [rest]
    end = at
    while closing not in inner[-1] and end + 1 < len(lines) and lines[end + 1].strip():
        end += 1
        inner.append(lines[end])
    text = "\n".join(inner)
    if closing not in text:
        return Block("text", "\n".join(lines[at : end + 1]), at + 1), end + 1
    return Block("math", text[: text.index(closing)].strip(), at + 1), end + 1


def _paragraph(lines: list[str], at: int) -> tuple[Block, int]:
    end = at + 1
    while end < len(lines) and lines[end].strip():
        underline = _UNDERLINE.match(lines[end])
        if underline and end == at + 1 and "|" not in lines[at]:
            level = 1 if underline[1][0] == "=" else 2
            return Block("heading", lines[at].strip(), at + 1, level), end + 1
        starts = _HEADING.match(lines[end]) or _FENCE.match(lines[end])
        if starts or _is_pipe_table(lines, end) or _TABLE.search(lines[end]):
            break
        if lines[end].strip().startswith("$$"):
            break
        end += 1
    return Block("text", "\n".join(lines[at:end]), at + 1), end


def _front_matter(lines: list[str]) -> tuple[dict[str, str], int]:
    """`key: value` lines between two `---` at the start; lists are joined with commas."""
    if not lines or lines[0].strip() != "---":
        return {}, 0
    end = next((n for n in range(1, min(len(lines), 200)) if lines[n].strip() in {"---", "..."}), 0)
    meta: dict[str, str] = {}
    key = ""
    for line in lines[1:end]:
        entry = re.match(r"([A-Za-z_-]+):\s*(.*)", line)
        item = re.match(r"\s+-\s+(?:name:\s*)?(.+)|-\s+(?:name:\s*)?(.+)", line)
        if entry:
            key = entry[1].lower().removesuffix("s") if entry[1] == "authors" else entry[1].lower()
            meta[key] = entry[2].strip().strip("\"'[]")
        elif item and key:
            value = (item[1] or item[2]).strip().strip("\"'")
            meta[key] = f"{meta[key]}, {value}" if meta[key] else value
    return meta, end + 1 if end else 0
