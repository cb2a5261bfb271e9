"""Every command that the documentation tells can be given: the parser takes it."""

import argparse
import re
import shlex
from pathlib import Path

import pytest

from repro_pipeline.cli import _parser

ROOT = Path(__file__).resolve().parents[3]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *ROOT.glob("examples/*/README.md"),
]
BLOCK_LINE = re.compile(r"^(?: {4,}|\t)?(?:\$ )?(?:\S*/)?repro (?P<rest>[a-z-].*)$")
INLINE = re.compile(r"`(?:\.venv/bin/)?repro(?P<rest> [a-z][^`]*)`")
STOPS = {"|", ">", "2>", "&&", ";", "&"}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(text: str):
    """The lines of a page's code blocks, fenced or indented, with lines ended by `\\` joined."""
    text = text.replace("\\\n", " ")
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            yield line


def whole_commands(page: Path):
    for line in blocks(page.read_text(encoding="utf-8")):
        found = BLOCK_LINE.match(line)
        parts = [found] if found else []
        parts += [BLOCK_LINE.match(part.strip()) for part in line.split("&&")[1:]]
        for part in filter(None, parts):
            yield part["rest"].split(" && ")[0]


def arguments_of(command: str) -> list[str]:
    """The words before a comment, a pipe or a redirection."""
    words = shlex.split(command, comments=True)
    return words[: next((i for i, word in enumerate(words) if word in STOPS), len(words))]


def is_synopsis(command: str) -> bool:
    """`repro run ID… [--stage STAGE] | --all`: it shows what may be given, not one command."""
    return bool(re.search(r"[\[…]|\.\.\.|\w\|\w| \| -", command))


def subcommand(words: list[str]) -> tuple[argparse.ArgumentParser, list[str]]:
    """The parser that the first words lead to, and the words after them. Raises KeyError."""
    parser = _parser()
    while groups := [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]:
        if not words:
            return parser, []
        parser, words = groups[0].choices[words[0]], words[1:]
    return parser, words


def check_words(command: str) -> None:
    """Of a synopsis: that its subcommand is there, and each option that it names."""
    words = re.findall(r"--[a-z-]+|[a-z][a-z-]+", command.split(" (", maxsplit=1)[0])
    try:
        parser, _ = subcommand(words)
    except KeyError as absent:
        raise AssertionError(f"there is no command {absent}") from None
    options = set(parser._option_string_actions)
    unknown = [word for word in words if word.startswith("--") and word not in options]
    assert not unknown, f"{parser.prog} has no {', '.join(unknown)}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_of_a_block_is_understood(page):
    for command in whole_commands(page):
        if is_synopsis(command):
            check_words(command)
            continue
        try:
            _parser().parse_args(arguments_of(command))
        except SystemExit:
            pytest.fail(f"{name_of(page)}: `repro {command}` is no command of the program")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_in_a_sentence_is_there(page):
    for found in INLINE.finditer(page.read_text(encoding="utf-8")):
        check_words(found["rest"])


def test_the_pages_tell_many_commands():
    told = [c for page in PAGES for c in whole_commands(page)]
    assert len(told) > 40
    assert {"run", "add", "init", "review", "paper", "export"} <= {c.split()[0] for c in told}


@pytest.mark.parametrize("wrong", ["runn x", "run --nonsense x", "paper shew x", "schema nothing"])
def test_a_command_that_is_not_there_would_be_found(wrong, tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(f"Text\n\n    repro {wrong}\n")
    (command,) = whole_commands(page)
    with pytest.raises(SystemExit):
        _parser().parse_args(arguments_of(command))
