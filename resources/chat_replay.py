"""A recorded session in the place of all language models."""

from __future__ import annotations

from pathlib import Path

from repro_pipeline.asking.sameness import compare
from repro_pipeline.asking.session import read_session, roles_of
from repro_pipeline.chat import ChatAnswer, ChatRequest, ModelInfo, NotRecorded, Price


class ReplayChat:
    """`ports.ChatModel` that answers from a recorded session and asks nobody.

    A question that differs from the recorded one in run output only is drift: its answer says so. One
    that differs otherwise, or that was never recorded, raises NotRecorded, which names it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._answers = read_session(path)
        self.roles = roles_of(self._answers)
        """Whom the session was recorded with."""

    def info(self, role: str) -> ModelInfo:
        """The recorded model of the role, or of any where the role was never asked; for nothing."""
        models = {asked: answer.model for (_, asked, _), (_, answer) in self._answers.items()}
        if not models:
            raise NotRecorded("the session holds no answer at all.", where=str(self._path))
        name = models.get(role, next(iter(models.values())))
        return ModelInfo(name=name, price=Price(input=0, output=0))

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """The recorded answer; nothing is paid for it."""
        found = self._answers.get((request.step, request.role, request.ordinal))
        if found is None:
            raise NotRecorded(
                f"the session holds no answer to '{request.name}': a new question would be needed.",
                where=str(self._path),
                hint="Record the session anew with `--record`, or run without `--replay`.",
            )
        recorded, answer = found
        sameness = compare(recorded, request)
        if sameness.kind == "different":
            raise NotRecorded(
                f"the question '{request.name}' is not the recorded one: {sameness.where}.",
                where=str(self._path),
                hint="Paper, prompts or program changed since: record the session anew.",
            )
        drift = sameness.where if sameness.kind == "drift" else ""
        return answer.model_copy(update={"usd": 0.0, "drift": drift})
