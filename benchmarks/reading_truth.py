"""Truth about papers that our readers did not make."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

from reading_measures import Texts, Truth


def pandoc_tables(source: str) -> list[Texts]:
    """The tables that pandoc reads in a LaTeX document; none where it gives up on it."""
    import pypandoc
    from lxml import html as parser

    try:
        text = pypandoc.convert_text(source, "html", format="latex", extra_args=["--quiet"])
    except RuntimeError:
        return []
    if not text.strip():
        return []
    return [
        grid
        for table in parser.fromstring(f"<div>{text}</div>").iter("table")
        if (grid := _grid(table))
    ]


def _grid(table) -> Texts:
    """The rows of an HTML table with their spans filled."""
    rows = [[cell for cell in row if cell.tag in {"td", "th"}] for row in table.iter("tr")]
    spanned = [
        [
            (
                " ".join(_formulas(cell).split()),
                int(cell.get("rowspan", 1)),
                int(cell.get("colspan", 1)),
            )
            for cell in row
        ]
        for row in rows
        if row
    ]
    return expanded(spanned)


def expanded(rows: list[list[tuple[str, int, int]]]) -> Texts:
    """Cells as (text, rows, columns) to a full grid."""
    grid: dict[tuple[int, int], str] = {}
    for y, row in enumerate(rows):
        x = 0
        for text, height, width in row:
            while (y, x) in grid:
                x += 1
            for down in range(min(height, len(rows) - y)):
                for right in range(width):
                    grid.setdefault((y + down, x + right), text)
            x += width
    width = 1 + max((x for _, x in grid), default=-1)
    return [[grid.get((y, x), "") for x in range(width)] for y in range(len(rows))]


def _formulas(cell) -> str:
    """Text of a cell; raised and lowered parts are marked as in our own text."""
    for tag, sign in (("sup", "^"), ("sub", "_")):
        for element in cell.iter(tag):
            element.text = sign + (element.text or "")
    return "".join(cell.itertext())


def tabulars(folder: Path) -> Iterator[str]:
    """Each tabular of a source as a document of its own, with the source's one-line macros.

    What pandoc cannot read is taken out or written plainly: rules and colours (it takes their
    arguments for text), cells of several lines (it makes rows of them), citations, footnotes.
    """
    sources = [
        _uncommented(path.read_text(errors="replace")) for path in sorted(folder.rglob("*.tex"))
    ]
    macros = [
        line
        for source in sources
        for line in re.findall(
            r"^\s*\\(?:newcommand|def|newcolumntype|DeclareMathOperator)\b.*$", source, re.M
        )
        if line.count("{") == line.count("}") and "@" not in line
    ]
    head = "\n".join(dict.fromkeys(macros))
    for source in sources:
        for found in re.finditer(
            r"\\begin\{(tabular\*?|tabularx|longtable)\}(?:(?!\\begin\{\1\}).)*?\\end\{\1\}",
            source,
            re.S,
        ):
            body = re.sub(r"\\c(?:mid)?(?:rule|line)\s*(?:\([^)]*\))?\s*\{[^}]*\}", "", found[0])
            body = re.sub(
                r"\\(?:cellcolor|rowcolor|arrayrulecolor)(?:\[[^]]*\])?\{[^}]*\}", "", body
            )
            body = re.sub(r"~?\\(?:cite[a-z]*|parencite)\s*(?:\[[^]]*\])?\{[^}]*\}", "", body)
            body = re.sub(r"\\(?:red|green|orange|blue)\{([^{}]*)\}", r"\1", body)
            body = re.sub(r"\\makecell(?:\[\w\])?\{([^{}]*)\}", _on_one_line, body)
            body = re.sub(r"\\(?:table)?footnote\{[^{}]*\}|\\Xhline\{[^}]*\}", "", body)
            if "\\input" not in body:
                yield (
                    f"\\documentclass{{article}}\n{head}\n\\begin{{document}}\nText.\n"
                    f"\\begin{{table}}\\caption{{C}}\n{body}\n\\end{{table}}\n\\end{{document}}\n"
                )


def _on_one_line(cell: re.Match[str]) -> str:
    return cell[1].replace("\\\\", " ")


def _uncommented(source: str) -> str:
    return re.sub(r"(?<!\\)%[^\n]*\n?[ \t]*", "", source)


def docling_tables(path: Path) -> list[Truth]:
    """The tables of a stored docling document, with the header rows that it names."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return [
        Truth(
            [[cell["text"] for cell in row] for row in table["data"]["grid"]],
            sum(all(cell["column_header"] for cell in row) for row in table["data"]["grid"]),
        )
        for table in document["tables"]
        if table["data"]["grid"]
    ]


def pubtabnet(path: Path) -> Iterator[tuple[str, Truth, str]]:
    """Name, truth and HTML of each table of PubTabNet's examples."""
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        structure = "".join(entry["html"]["structure"]["tokens"])
        cells = ["".join(map(_escaped, cell["tokens"])) for cell in entry["html"]["cells"]]
        texts = [re.sub(r"<[^>]*>", "", "".join(cell["tokens"])) for cell in entry["html"]["cells"]]
        parts = re.findall(r"<td((?:\s\w+=\"\d+\")*)>|(</tr>)|(</thead>)", structure)
        rows: list[list[tuple[str, int, int]]] = [[]]
        head = at = 0
        for spans, end, end_of_head in parts:
            if end:
                rows.append([])
            elif end_of_head:
                head = len(rows) - 1
            else:
                size = dict(re.findall(r'(\w+)="(\d+)"', spans))
                height, width = int(size.get("rowspan", 1)), int(size.get("colspan", 1))
                rows[-1].append((" ".join(texts[at].split()), height, width))
                at += 1
        pieces = structure.split("</td>")
        filled = zip(pieces, [*cells, ""], strict=True)
        source = "</td>".join(piece + cell for piece, cell in filled)
        yield entry["filename"], Truth(expanded(rows[:-1]), head), f"<table>{source}</table>"


def _escaped(token: str) -> str:
    return token if re.fullmatch(r"</?\w+>", token) else html.escape(token)


def s2orc_titles(path: Path) -> list[str]:
    """The titles of the references in a stored S2ORC parse."""
    entries = json.loads(path.read_text(encoding="utf-8"))["pdf_parse"]["bib_entries"]
    return [entry["title"] for entry in entries.values()]


def jats_titles(path: Path) -> list[str]:
    """The titles that stand in a JATS file's reference list, found by their tags."""
    text = path.read_text(encoding="utf-8")
    titles = re.findall(
        r"<article-title[^>]*>(.*?)</article-title>", text[text.rfind("<ref-list") :]
    )
    return [html.unescape(re.sub(r"<[^>]*>", "", title)) for title in titles]


def bib_titles(folder: Path) -> list[str]:
    """The titles of the works that a LaTeX source cites, from the BibTeX entries in it."""
    text = "\n".join(
        path.read_text(errors="replace")
        for path in sorted(folder.rglob("*"))
        if path.suffix in {".tex", ".bib"}
    )
    cited = {
        key.strip()
        for keys in re.findall(r"\\cite[a-z]*\*?(?:\[[^]]*\])*\{([^}]*)\}", text)
        for key in keys.split(",")
    }
    entries = re.findall(r"@\w+\s*\{\s*([^,\s]+)\s*,(.*?)\n\s*\}", text, re.S)
    titles = [
        _braced(body[found.end() :])
        for key, body in entries
        if key in cited and (found := re.search(r"\btitle\s*=\s*(?=[{\"])", body))
    ]
    plain = (re.sub(r"\\[a-zA-Z]+|[{}\\$\"]", "", title) for title in titles)
    return [" ".join(title.split()) for title in plain]


def _braced(text: str) -> str:
    """The value at the start of a text, in braces or quotes."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if at and depth == 0 and character in '}"':
            return text[: at + 1]
    return text
