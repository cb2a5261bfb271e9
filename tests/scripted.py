"""A scripted model at the port: it answers from a list, or as a function of the request; no network."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

from repro_pipeline.chat import ChatAnswer, ChatRequest, ModelInfo, Price, Usage, tokens_of

Said = str | dict | Exception | ChatAnswer


class ScriptedModel:
    """`ports.ChatModel`: each answer is a text, a JSON object, an error to raise, or a whole answer."""

    def __init__(
        self, script: Iterable[Said] | Callable[[ChatRequest], Said], *, price: Price | None = None
    ) -> None:
        self.asked: list[ChatRequest] = []
        self._price = price
        self._script: Iterator[Said] | Callable[[ChatRequest], Said] = (
            script if callable(script) else iter(script)
        )

    def info(self, role: str) -> ModelInfo:
        return ModelInfo(name="scripted", price=self._price)

    def complete(self, request: ChatRequest) -> ChatAnswer:
        self.asked.append(request)
        said = self._script(request) if callable(self._script) else next(self._script)
        if isinstance(said, Exception):
            raise said
        if isinstance(said, ChatAnswer):
            return said
        return answer(said if isinstance(said, str) else json.dumps(said), request, self._price)


def answer(
    text: str,
    request: ChatRequest | None = None,
    price: Price | None = None,
    finish_reason: str = "stop",
) -> ChatAnswer:
    sent = "".join(message.content for message in request.messages) if request else ""
    usage = Usage(tokens_in=tokens_of(sent), tokens_out=tokens_of(text), estimated=True)
    return ChatAnswer(
        text=text,
        finish_reason=finish_reason,
        usage=usage,
        usd=price.of(usage) if price else None,
        model="scripted",
    )
