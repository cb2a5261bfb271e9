"""Answers to a capsule's questions, out of what its run left: by a mapping, or by a reader that quotes.

Nothing is guessed. A reader model is shown a question and the output, never an answer of the original
runs, and its answer counts only if it stands in lines that it quotes and that are found there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, model_validator

from repro_pipeline.agent.budget import BudgetExceeded
from repro_pipeline.agent.prompt import Block
from repro_pipeline.bundle.task import CsvColumn, OutputMapping
from repro_pipeline.errors import UserError
from repro_pipeline.experiment.metrics import MetricsError, values_found
from repro_pipeline.frozen import Frozen
from repro_pipeline.scoring.corebench import AnswerGiven, number_in
from repro_pipeline.scoring.judge import Asks, shown
from repro_pipeline.scoring.spans import CodeSpan, code_fault

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
    """The answers that mappings find. Raises UserError for one that names no question, or two."""
    answers = {}
    for mapping in mappings:
        named = [one for one in questions if one.startswith(mapping.question.strip())]
        if len(named) != 1:
            raise UserError(
                f"'{mapping.question}' begins {len(named)} questions.",
                where="--answers",
                hint="Write as much of the question as tells it from the others.",
            )
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
    value = found[-1]
    return AnswerGiven(value=_plain(value), by="mapping", place=mapping.file)


def _plain(value: Any) -> float | str | tuple[float | str, ...]:
    if isinstance(value, list):
        return tuple(one if isinstance(one, int | float) else str(one) for one in value)
    return value if isinstance(value, int | float) else str(value).strip()


class Read(Frozen):
    """What a reader says of a question; the evidence comes first."""

    evidence: Annotated[tuple[CodeSpan, ...], Field(max_length=5)] = ()
    """Lines of the output that hold the answer."""
    answer: float | str | tuple[float | str, ...] | None = None
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
    quoted = "\n".join(one.quote for one in read.evidence)
    parts = read.answer if isinstance(read.answer, tuple) else (read.answer,)
    for part in parts:
        if not _stands(part, quoted):
            return f"the answer {part!r} does not stand in the quoted lines"
    return None


_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def _stands(part: float | str, quoted: str) -> bool:
    number = number_in(part)
    if number is not None:
        return any(float(one) == number for one in _NUMBER.findall(quoted))
    return bool(str(part).strip()) and str(part).strip().lower() in quoted.lower()
