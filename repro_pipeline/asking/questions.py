"""What a judge of code is asked with: a port for questions, and files as it is shown them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from pydantic import BaseModel

from repro_pipeline.asking.prompt import Block

Answer = TypeVar("Answer", bound=BaseModel)


class Asks(Protocol):
    """Asks a judge model: `asking.ask.ask` with its desk, step and role filled in."""

    def __call__(
        self,
        *,
        prompt: str,
        values: Mapping[str, str | Block],
        answer_model: type[Answer],
        check: Callable[[Answer], str | None],
    ) -> Answer:
        """The validated answer. Raises UserError where there is none, or the budget is spent."""


def shown(files: Mapping[str, str], about: str, most: int) -> tuple[str, tuple[str, ...]]:
    """Files with line numbers in at most `most` characters, and the names of those left out.

    Those come first that share the rarest words with `about`; whatever is shown is shown in the
    order of names, and a file is shown whole or not at all, unless it alone is too long.
    """
    wanted = set(_words(about))
    words = {name: set(_words(f"{name} {text}")) for name, text in files.items()}
    often = Counter(word for of_file in words.values() for word in of_file)

    def worth(name: str) -> tuple[float, str]:
        return -sum(1 / often[word] for word in words[name] & wanted), name

    chosen: dict[str, str] = {}
    left = most
    for name in sorted(files, key=worth):
        text = _numbered(name, files[name])
        if len(text) > left and not chosen:
            text = text[: max(left, 0)] + "\n[… the rest is left out …]"
        if len(text) <= left or not chosen:
            chosen[name] = text
            left -= len(text)
    out = tuple(sorted(files.keys() - chosen.keys()))
    return "\n\n".join(chosen[name] for name in sorted(chosen)), out


def _numbered(name: str, text: str) -> str:
    lines = "\n".join(f"{n:>4} {line}" for n, line in enumerate(text.splitlines(), start=1))
    return f"== {name}\n{lines}"


def _words(text: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Za-z]{3,}", text)]
