"""What the site is built from besides its pages: the commands' parser and the files' schemas.

`reference/commands.md` and `reference/schemas.md` are made here at each build, so they cannot differ from
the program. Links that lead out of `docs/` are shown as the paths they are: the site does not hold the code.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import itertools
import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from mkdocs.structure.files import File, Files

from repro_pipeline.cli import _parser
from repro_pipeline.frozen import Frozen
from repro_pipeline.schemas import FILES, json_schema

ROOT = Path(__file__).resolve().parents[1]
WRITTEN_BY_PEOPLE = ("task.yaml", "experiment.yaml", "metrics.json", "rubric.yaml", "repro.yaml")
"""Files whose parts are shown with their keys; of the others the schema is enough."""
_OUTWARD = re.compile(r"\[(?P<text>[^]]+)]\((?P<target>\.\./[^)\s#]+)(?P<anchor>#[^)]*)?\)")
_PICTURE = re.compile(r"(?<!\[)!\[[^]]*]\((?P<target>[^)\s]+\.png)\)")


def on_files(files: Files, config) -> Files:
    """Add the generated pages."""
    for name, text in (
        ("reference/commands.md", commands_page()),
        ("reference/schemas.md", schemas_page()),
    ):
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, *, page, config, files: Files) -> str:
    """Links to files outside of `docs/` become their paths in the repository; a picture leads to itself,
    so that it can be seen large.
    """

    def path(match: re.Match[str]) -> str:
        folder = (Path(config["docs_dir"]) / page.file.src_uri).parent
        target = (folder / match["target"]).resolve()
        if target.is_relative_to(config["docs_dir"]):
            return match[0]
        if not target.exists():
            raise ValueError(f"{page.file.src_uri}: {match['target']} does not exist")
        text, file = match["text"].strip("`"), target.relative_to(ROOT).as_posix()
        return f"`{file}`" if text in file else f"{text} (`{file}`)"

    return _PICTURE.sub(r"[\g<0>](\g<target>)", _OUTWARD.sub(path, markdown))


def commands_page() -> str:
    """Every subcommand with its arguments, in the parser's own words."""
    parts = [
        "# Commands",
        "Made from the program's own parser. `repro COMMAND --help` says the same.",
        "Exit codes: 0 done (whatever the verdicts), 1 a fault of the pipeline, 2 something that you can "
        "mend (a sentence says what and where), 3 no sandbox, 130 interrupted.",
    ]
    for parser in subcommands(_parser()):
        parts += [f"## {parser.prog}", _escaped(inspect.cleandoc(parser.description or ""))]
        parts += [f"```text\n{parser.format_usage().removeprefix('usage: ').rstrip()}\n```"]
        rows = [
            f"| {_invocation(action)} | {_meaning(action)} |"
            for action in parser._actions
            if _meaning(action) and not isinstance(action, argparse._HelpAction)
        ]
        if rows:
            parts.append("\n".join(["| argument | meaning |", "| --- | --- |", *rows]))
    return "\n\n".join(parts) + "\n"


def subcommands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The commands without subcommands of their own, in the order of the help."""
    groups = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if not groups:
        yield parser
    for group in groups:
        for inner in group.choices.values():
            yield from subcommands(inner)


def schemas_page() -> str:
    """The fields of each file that people write or tools read, and its whole schema."""
    parts = [
        "# Files and schemas",
        "`repro schema NAME` prints a schema for an editor or another tool. Unknown keys are errors, with "
        "their line.",
    ]
    for name in FILES:
        schema = json_schema(name)
        parts += [f"## {name}", _prose(schema.get("description", ""))]
        told = {
            part: inner
            for part, inner in schema.get("$defs", {}).items()
            if name in WRITTEN_BY_PEOPLE and inner.get("properties")
        }
        places = {part: f"{name.replace('.', '')}-{part.lower()}" for part in told}
        parts.append(_fields(schema, places))
        for part, inner in told.items():
            words = _prose(inner.get("description", ""))
            parts += [f"**{part}**{{ #{places[part]} }}: {words}", _fields(inner, places)]
        text = json.dumps(schema, indent=1, ensure_ascii=False)
        parts.append(f'??? note "JSON schema"\n\n    ```json\n{_indented(text)}\n    ```')
    return "\n\n".join(filter(None, parts)) + "\n"


def _fields(schema: dict, places: Mapping[str, str]) -> str:
    """A table of an object's keys; empty for what is no object. `places` are the anchors of the types
    that are told on their own.
    """
    required = schema.get("required", ())
    words = _attribute_docstrings(schema.get("title", ""))
    rows = []
    for key, field in schema.get("properties", {}).items():
        name = f"`{key}`, required" if key in required else f"`{key}`"
        meaning = _prose(field.get("description", "") or words.get(key, ""))
        rows.append(f"| {name} | {_type(field, places)} | {meaning} |")
    return "\n".join(["| key | type | meaning |", "| --- | --- | --- |", *rows]) if rows else ""


def _attribute_docstrings(model: str) -> dict[str, str]:
    """The texts below the fields of the model of this name and of those it extends."""
    found: dict[str, str] = {}
    for kind in _models().get(model, Frozen).__mro__:
        if not (issubclass(kind, Frozen) and kind is not Frozen):
            break
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
        for field, text in itertools.pairwise(definition.body):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                found.setdefault(field.target.id.removesuffix("_"), ast.literal_eval(text.value))
    return found


@cache
def _models() -> dict[str, type]:
    """Every model that the schemas' modules define, by name."""
    open_kinds, found = [Frozen], {}
    while open_kinds:
        kinds = open_kinds.pop().__subclasses__()
        found |= {kind.__name__: kind for kind in kinds}
        open_kinds += kinds
    return found


def _type(field: dict, places: Mapping[str, str]) -> str:
    if "$ref" in field:
        name = field["$ref"].rsplit("/", 1)[-1]
        return f"[`{name}`](#{places[name]})" if name in places else f"`{name}`"
    options = field.get("anyOf") or field.get("oneOf")
    if options:
        return " or ".join(dict.fromkeys(_type(one, places) for one in options))
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return " or ".join(f"`{value}`" for value in field["enum"])
    if field.get("type") == "array" and "items" in field:
        return f"list of {_type(field['items'], places)}"
    return str(field.get("type", "any"))


def _prose(text: str) -> str:
    """A docstring as one line of a table."""
    return _escaped(" ".join(text.split()))


def _invocation(action: argparse.Action) -> str:
    names = action.option_strings or [str(action.metavar or action.dest)]
    value = "" if action.nargs == 0 or not action.option_strings else f" {_value(action)}"
    return ", ".join(f"`{name}{value}`" for name in names).replace("|", "\\|")


def _meaning(action: argparse.Action) -> str:
    """The help of an argument, and its choices where they are too many for its name."""
    choices = ", ".join(f"`{one}`" for one in action.choices or ()) if _many(action) else ""
    said = _escaped(action.help or "")
    return f"{said}{': ' if said else 'one of '}{choices}" if choices else said


def _many(action: argparse.Action) -> bool:
    return len(",".join(map(str, action.choices or ()))) > 30


def _value(action: argparse.Action) -> str:
    if action.choices and not _many(action):
        return "{" + ",".join(map(str, action.choices)) + "}"
    metavar = action.metavar or action.dest.upper()
    return " ".join(metavar) if isinstance(metavar, tuple) else metavar


def _escaped(text: str) -> str:
    return re.sub(r"([|<*_\[\]])", r"\\\1", text.replace("%%", "%"))


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())
