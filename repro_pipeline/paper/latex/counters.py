"""The counters behind printed numbers: sections, tables, figures, equations."""

from __future__ import annotations

from collections import Counter

from repro_pipeline.paper.latex.arguments import Tokens, argument, plain

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Counters:
    """Numbers as LaTeX would print them. A table's format may be redefined (`\\thetable`)."""

    def __init__(self) -> None:
        self._values: Counter[str] = Counter()
        self._sections = [0, 0, 0]
        self._appendix = False
        self._formats: dict[str, Tokens] = {}
        self._within: set[str] = set()

    def step(self, counter: str) -> str:
        """The next number of a counter, as printed."""
        self._values[counter] += 1
        return self.printed(counter)

    def printed(self, counter: str) -> str:
        """A counter as it stands."""
        if counter in self._formats:
            return self._format(self._formats[counter])
        number = str(self._values[counter])
        return f"{self._section(1)}.{number}" if counter in self._within else number

    def step_section(self, level: int) -> str:
        """The number of the next section of a level, from 1."""
        self._sections[level - 1] += 1
        self._sections[level:] = [0] * (3 - level)
        if level == 1:
            for counter in self._within:
                self._values[counter] = 0
        return self._section(level)

    def begin_appendix(self) -> None:
        """Sections are lettered from here on."""
        self._appendix = True
        self._sections = [0, 0, 0]

    def setting(self, tokens: Tokens, at: int) -> int:
        """Obeys `\\setcounter`, a redefinition of `\\thetable` and the like; the place after it."""
        name = tokens[at].text
        if name.startswith("the"):
            content, after = argument(tokens, at + 1)
            self._formats[name.removeprefix("the")] = content
            return after
        first, after = argument(tokens, at + 1)
        second, after = argument(tokens, after)
        counter, value = plain(first).strip(), plain(second).strip()
        if name in {"numberwithin", "counterwithin"} and value == "section":
            self._within.add(counter)
        elif name == "counterwithout":
            self._within.discard(counter)
        elif value.lstrip("-").isdigit() and len(value) < 6:
            if counter == "section":
                self._sections[0] = int(value) + self._sections[0] * (name == "addtocounter")
            else:
                self._values[counter] = int(value) + self._values[counter] * (
                    name == "addtocounter"
                )
        return after

    def _section(self, level: int) -> str:
        first = self._sections[0]
        lettered = self._appendix and 0 < first <= len(_LETTERS)
        parts = [_LETTERS[first - 1] if lettered else str(first)]
        return ".".join([*parts, *(str(number) for number in self._sections[1:level])])

    def _format(self, tokens: Tokens) -> str:
        """`S\\arabic{table}`, `\\thesection.\\arabic{table}`, `\\Roman{table}`."""
        text = ""
        at = 0
        while at < len(tokens):
            token = tokens[at]
            at += 1
            if token.kind == "char":
                text += token.text
            elif token.kind == "command" and token.text == "thesection":
                text += self._section(1)
            elif token.kind == "command" and token.text in _STYLES:
                name, at = argument(tokens, at)
                counter = plain(name).strip()
                value = self._sections[0] if counter == "section" else self._values[counter]
                text += _STYLES[token.text](value)
        return text


def _roman(number: int) -> str:
    text = ""
    steps = ((40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))
    for value, letters in steps:
        while 0 < number < 90 and number >= value:
            text += letters
            number -= value
    return text


def _letter(number: int) -> str:
    return _LETTERS[number - 1] if 0 < number <= len(_LETTERS) else str(number)


_STYLES = {
    "arabic": str,
    "Alph": _letter,
    "alph": lambda number: _letter(number).lower(),
    "Roman": _roman,
    "roman": lambda number: _roman(number).lower(),
}
