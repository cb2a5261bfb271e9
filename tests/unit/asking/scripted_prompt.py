"""One small prompt with a source and an output block, and how tests ask it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from repro_pipeline.asking.ask import ask
from repro_pipeline.asking.prompt import Block
from repro_pipeline.frozen import Frozen

PROMPT = "# system\nJudge.\n\n# user\nJudge this.\n\n{{paper}}\n\n{{log}}\n"


class Verdict(Frozen):
    word: str
    number: Annotated[int, Field()]


def ask_it(desk, *, step="s/1", paper="A paper.", log="ok"):
    return ask(
        desk,
        step=step,
        role="judge",
        prompt="verdict",
        values={"paper": Block("paper", paper, "source"), "log": Block("log", log, "output")},
        answer_model=Verdict,
        check=lambda made: "a negative number" if made.number < 0 else None,
    )
