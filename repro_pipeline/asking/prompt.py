"""Prompts: files with places for values, in which whatever is data stands in blocks marked as data.

A prompt's file has two parts, below the lines `# system` and `# user`. `{{name}}` is a place. The rules
of `rules.md` follow every system part: they say that what stands in a block is never an instruction. A
later turn of a conversation has a user part only.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from repro_pipeline.chat import Message
from repro_pipeline.ledger.redact import redact
from repro_pipeline.sandbox.outputs import printable

FOLDER = Path(__file__).with_name("prompts")
RULES = "rules"

_PART = re.compile(r"^# (system|user)\s*$", re.MULTILINE)
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_TAG = re.compile(r"<(/?)(data)\b", re.IGNORECASE)
_BLOCK = re.compile(
    r'<data name="(?P<name>[^"]*)" kind="(?P<kind>\w+)">\n(?P<text>.*?)\n</data>', re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """Text that is data, and where it comes from.

    `source`: the paper, its references, given code; it must hold no reported value. `own`: what the
    models wrote. `output`: what runs printed and how long they took; it may differ when repeated.
    """

    name: str
    text: str
    kind: Literal["source", "own", "output"]

    def __str__(self) -> str:
        text = printable(_TAG.sub(r"‹\1\2", redact(self.text)).encode(errors="replace"))
        return f'<data name="{self.name}" kind="{self.kind}">\n{text}\n</data>'


@dataclass(frozen=True)
class Prompt:
    """A prompt's file, read."""

    name: str
    digest: str
    system: str
    user: str


Part = str | Block
Values = Mapping[str, Part | tuple[Part, ...]]


def load_prompt(name: str) -> Prompt:
    """The prompt of a file in `prompts/`; its digest covers the common rules as well."""
    text, rules = ((FOLDER / f"{one}.md").read_text(encoding="utf-8") for one in (name, RULES))
    _, *parts = _PART.split(text)
    found = dict(zip(parts[::2], parts[1::2], strict=True))
    return Prompt(
        name=name,
        digest=hashlib.sha256(f"{text}\0{rules}".encode()).hexdigest(),
        system=f"{found['system'].strip()}\n\n{rules.strip()}" if "system" in found else "",
        user=found["user"].strip(),
    )


def render(prompt: Prompt, values: Values) -> tuple[Message, ...]:
    """The messages of a prompt. Raises KeyError for a place without a value, or the reverse."""
    places = set(_PLACE.findall(prompt.system + prompt.user))
    if places != set(values):
        raise KeyError(f"prompt {prompt.name}: {sorted(places ^ set(values))} do not match")

    def filled(text: str) -> str:
        return _PLACE.sub(lambda place: "\n".join(map(str, _parts(values[place[1]]))), text)

    question = Message(role="user", content=filled(prompt.user))
    if not prompt.system:
        return (question,)
    return Message(role="system", content=filled(prompt.system)), question


def shortened(values: Values) -> tuple[Values, str] | None:
    """The values with the longest block cut to half, and what was cut; None where all are short."""
    blocks = [
        part for value in values.values() for part in _parts(value) if isinstance(part, Block)
    ]
    longest = max(blocks, key=lambda block: len(block.text), default=None)
    if longest is None or len(longest.text) < 2000:
        return None
    cut = replace(longest, text=cut_middle(longest.text, len(longest.text) // 2))
    smaller = {
        name: tuple(cut if part is longest else part for part in _parts(value))
        for name, value in values.items()
    }
    before, after = len(longest.text), len(cut.text)
    return smaller, f"'{longest.name}' was cut from {before} to {after} characters"


def _parts(value: Part | tuple[Part, ...]) -> tuple[Part, ...]:
    return value if isinstance(value, tuple) else (value,)


def cut_middle(text: str, most: int) -> str:
    """The text, with a note in the place of its middle where it is longer than `most` characters."""
    if len(text) <= most:
        return text
    note = f"\n[… {len(text) - most} characters left out …]\n"
    keep = max(0, most - len(note))
    return text[: keep * 2 // 3] + note + text[len(text) - keep // 3 :]


def checked_text(messages: Sequence[Message]) -> str:
    """What of a prompt comes from paper, references or given code: it must hold no reported value.

    Templates and schemas are the program's own, and what models and runs wrote is theirs: a right
    reproduction prints the value.
    """
    blocks = (block for message in messages for block in _BLOCK.finditer(message.content))
    return "\n\n".join(block["text"] for block in blocks if block["kind"] == "source")


def without_output(text: str) -> tuple[str, tuple[str, ...]]:
    """A message's text with each block of run output empty, and the texts of these blocks."""
    outputs: list[str] = []

    def emptied(block: re.Match[str]) -> str:
        if block["kind"] != "output":
            return block[0]
        outputs.append(block["text"])
        return f'<data name="{block["name"]}" kind="output"></data>'

    return _BLOCK.sub(emptied, text), tuple(outputs)
