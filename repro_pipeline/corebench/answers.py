"""Answers to a capsule's questions, out of what its run left: by a mapping, or by a reader that quotes.

Nothing is guessed. A reader model is shown a question and the output, never an answer of the original
runs, and its answer counts only if it stands in lines that it quotes and that are found there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple

from pydantic import Field, model_validator

from repro_pipeline.asking.budget import BudgetExceeded
from repro_pipeline.asking.prompt import Block
from repro_pipeline.asking.questions import Asks, shown
from repro_pipeline.bundle.task import CsvColumn, OutputMapping
from repro_pipeline.corebench.score import AnswerGiven, Scalar, number_in
from repro_pipeline.errors import UserError
from repro_pipeline.evidence.spans import SLACK, CodeSpan, code_fault
from repro_pipeline.experiment.metrics import MetricsError, values_found
from repro_pipeline.frozen import Frozen

LOG = "stdout"
SHOWN = 120_000
"""Characters of output in one question."""
PROMPT = "reader-corebench"


class AnswerMapping(Frozen):
    """Where the run leaves the answer to a question: exactly one of json, csv, regex."""

    question: str
    """The question, or its first words."""
    file: str
    """Relative to results/; `stdout` is what the run printed."""
    json_path: Annotated[str | None, Field(alias="json")] = None
    csv: CsvColumn | None = None
    regex: str | None = None

    @property
    def output(self) -> OutputMapping:
        """As a mapping of a claim."""
        return OutputMapping.model_validate(
            {
                "claim": "answer",
                "file": self.file,
                "json": self.json_path,
                "csv": self.csv,
                "regex": self.regex,
            }
        )

    @model_validator(mode="after")
    def _one_way(self) -> AnswerMapping:
        _ = self.output
        return self


class AnswersFile(Frozen):
    """`answers.yaml`: where a capsule's answers stand."""

    answers: tuple[AnswerMapping, ...]


def by_mapping(
    mappings: Sequence[AnswerMapping], questions: Sequence[str], files: Mapping[str, str]
) -> dict[str, AnswerGiven]:
    """The answers that mappings find. Raises UserError for one that names no question, or several,
    and for a question that two name.
    """
    answers = {}
    for mapping in mappings:
        wanted = mapping.question.strip()
        named = [one for one in questions if wanted and one.startswith(wanted)]
        named = [wanted] if wanted in named else named
        if len(named) != 1:
            raise UserError(
                f"'{mapping.question}' begins {len(named)} questions.",
                where="--answers",
                hint="Write as much of the question as tells it from the others.",
            )
        if named[0] in answers:
            raise UserError(f"'{named[0]}' is answered twice.", where="--answers")
        answers[named[0]] = _mapped(mapping, files)
    return answers


def _mapped(mapping: AnswerMapping, files: Mapping[str, str]) -> AnswerGiven:
    if mapping.file not in files:
        return AnswerGiven(by="nobody", why=f"The run left no text {mapping.file}.")
    try:
        found = values_found(mapping.output, files[mapping.file], mapping.file)
    except MetricsError as error:
        return AnswerGiven(by="nobody", why=str(error))
    if not found:
        return AnswerGiven(by="nobody", why=f"{mapping.file} holds nothing there.")
    value = found[-1].strip() if isinstance(found[-1], str) else found[-1]
    if value in (None, ""):
        return AnswerGiven(by="nobody", why=f"{mapping.file} holds nothing there.")
    try:
        return AnswerGiven(value=value, by="mapping", place=mapping.file)
    except ValueError:
        why = f"What {mapping.file} holds there is no number, text, or list of these."
        return AnswerGiven(by="nobody", why=why)


class Read(Frozen):
    """What a reader says of a question; the evidence comes first."""

    evidence: Annotated[tuple[CodeSpan, ...], Field(max_length=5)] = ()
    """Lines of the output that hold the answer."""
    answer: Scalar | tuple[Scalar, ...] | None = None
    """None where the output does not hold it."""


def by_reader(
    questions: Sequence[str], prompt: str, files: Mapping[str, str], ask: Asks
) -> tuple[dict[str, AnswerGiven], str | None]:
    """A reader model's answers; and why it was stopped before the end, where it was."""
    answers: dict[str, AnswerGiven] = {}
    for question in questions:
        text, left_out = shown(files, question, SHOWN)
        values = {
            "question": Block("question", question, "own"),
            "task": Block("task", prompt, "own"),
            "files": Block("output", text, "output"),
            "left_out": ", ".join(left_out) or "none",
        }

        def fault(read: Read) -> str | None:
            return answer_fault(read, files)

        try:
            read = ask(prompt=PROMPT, values=values, answer_model=Read, check=fault)
        except UserError as error:
            if isinstance(error, BudgetExceeded):
                return answers, f"Stopped: {error.what}"
            answers[question] = AnswerGiven(by="nobody", why=f"The reader's answer: {error.what}")
            continue
        if read.answer is None:
            said = "The reader finds it nowhere in the output."
            answers[question] = AnswerGiven(by="nobody", why=said)
            continue
        places = ", ".join(str(one) for one in read.evidence)
        answers[question] = AnswerGiven(value=read.answer, by="reader", place=places)
    return answers, None


def answer_fault(read: Read, files: Mapping[str, str]) -> str | None:
    """Why an answer does not count: it does not stand in lines that are quoted and found."""
    if read.answer is None:
        return None
    for span in read.evidence:
        if fault := code_fault(span, files):
            return fault
    parts = read.answer if isinstance(read.answer, tuple) else (read.answer,)
    if not parts:
        return "the answer is a list of nothing"
    said = [place for one in read.evidence for place in _quoted(one, files[one.file])]
    for part in parts:
        if not any(_stands(part, place) for place in said):
            return f"the answer {part!r} does not stand in the quoted lines"
    return None


class _Quoted(NamedTuple):
    """Where a quote stands in a file: the lines about it, and where in them it begins and ends."""

    lines: str
    first: int
    end: int
    cells: bool
    """Whether a comma parts numbers, and never the thousands of one."""

    def holds(self, pattern: re.Pattern[str]) -> Iterator[str]:
        """What is found wholly within the quote, told by what stands beside it in the file."""
        for found in pattern.finditer(self.lines):
            if self.first <= found.start() and found.end() <= self.end:
                yield found[0]


def _quoted(span: CodeSpan, text: str) -> Iterator[_Quoted]:
    """A quote is found whatever its spaces, so its own words may run two numbers together."""
    lines = "\n".join(text.splitlines()[max(0, span.first - 1 - SLACK) : span.last + SLACK])
    at = [place for place, character in enumerate(lines) if not character.isspace()]
    plain, wanted = "".join(lines.split()), "".join(span.quote.split())
    cells = span.file.lower().endswith((".csv", ".tsv", ".json", ".jsonl"))
    for found in re.finditer(f"(?={re.escape(wanted)})", plain):
        end = at[found.start() + len(wanted) - 1] + 1
        yield _Quoted(lines, at[found.start()], end, cells)


_EDGE = r"(?!(?<=\w)\w)"
"""No place within a word."""
_DIGITS = r"(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][-+]?\d++)?+"
_AFTER = r"(?!\w*\d|\.\d|[kKMGTB]\b)"
_NUMBER = re.compile(rf"(?<![\w.])(?:(?<!\w)[-+\u2212])?{_DIGITS}{_AFTER}")
"""No part of a name, a version or a larger number: not `1` of `F1`, `1.7` of `1.75` or `3` of `3k`."""
_THOUSANDS = re.compile(
    rf"(?<![\w.,])[-+\u2212]?\d{{1,3}}(?:,\d{{3}})++(?:\.\d*+)?+(?!,?\d){_AFTER}"
)


def _stands(part: int | float | str, place: _Quoted) -> bool:
    number = number_in(part)
    if number is None:
        words = r"\s+".join(re.escape(word) for word in str(part).split())
        return bool(words) and any(place.holds(re.compile(rf"{_EDGE}{words}{_EDGE}", re.I)))
    return any(_value(one) == number for one in _numbers(place))


def _numbers(place: _Quoted) -> Iterator[str]:
    if place.cells:
        yield from place.holds(_NUMBER)
        return
    yield from place.holds(_THOUSANDS)
    apart = _THOUSANDS.sub(lambda found: " " * len(found[0]), place.lines)
    yield from place._replace(lines=apart).holds(_NUMBER)


def _value(written: str) -> float:
    return float(written.replace(",", "").replace("\u2212", "-"))
