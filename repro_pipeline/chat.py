"""A question to a language model, its answer, and every way in which there is none."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from repro_pipeline.errors import UserError
from repro_pipeline.frozen import Frozen, digest

Count = Annotated[int, Field(ge=0)]


class Message(Frozen):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class ChatRequest(Frozen):
    """A question. `step`, `role` and `ordinal` name it within a paper; the rest is sent."""

    step: str
    """Where in the pipeline: a stage, or a step of the agent's loop, as `implementation/3`."""
    role: str
    """The role of `repro.yaml` whose model is asked."""
    ordinal: Count = 0
    """Which question of that role in that step."""
    messages: Annotated[tuple[Message, ...], Field(min_length=1)]
    answer_schema: dict[str, Any] | None = None
    """The JSON schema of the answer; None for plain text."""
    max_tokens: Annotated[int, Field(gt=0)] = 8192
    temperature: Annotated[float, Field(ge=0)] | None = None
    """None: the provider's own (some models take no other)."""

    @property
    def name(self) -> str:
        """The question's name within a paper."""
        return f"{self.step} {self.role} {self.ordinal}"

    @property
    def content(self) -> str:
        """Digest of what is sent, whoever asks it when."""
        return digest(self.model_dump(mode="json", exclude={"step", "role", "ordinal"}))

    @property
    def characters(self) -> int:
        """Length of all that is sent, the schema excepted."""
        return sum(len(message.content) for message in self.messages)


class Usage(Frozen):
    """Tokens as the provider counts them."""

    tokens_in: Count
    tokens_cached: Count = 0
    """How many of `tokens_in` the provider had cached."""
    tokens_out: Count
    estimated: bool = False
    """Whether they were counted here because the provider gave no numbers."""


class Price(Frozen):
    """US dollars per million tokens."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]
    cached: Annotated[float, Field(ge=0)] | None = None
    """Of input that the provider had cached; by default as `input`."""

    def of(self, usage: Usage) -> float:
        """What a call costs."""
        cached = self.input if self.cached is None else self.cached
        fresh = usage.tokens_in - usage.tokens_cached
        parts = fresh * self.input + usage.tokens_cached * cached + usage.tokens_out * self.output
        return parts / 1e6


class ModelInfo(Frozen):
    """The model that plays a role, as far as it is known before it is asked."""

    name: str
    price: Price | None = None
    """None: unknown; its calls are counted in tokens only."""
    context_tokens: int | None = None


def _encodable(text: str) -> str:
    return text.encode("utf-8", errors="replace").decode()


class ChatAnswer(Frozen):
    """What came back. It may be empty, refused or cut off: it was paid for all the same."""

    text: Annotated[str, AfterValidator(_encodable)]
    """Halves of surrogate pairs, which cannot be stored, are replaced by `?`."""
    finish_reason: Literal["stop", "length", "refused", "other"] = "stop"
    usage: Usage
    usd: Annotated[float, Field(ge=0)] | None
    """None where no price is known, never 0."""
    model: str
    drift: str = ""
    """Of a replayed answer: how the run output in the question differs from the recorded one."""


class ChatError(UserError):
    """A question that has no usable answer."""

    code = "model_failed"
    retry_after: float | None = None
    """Seconds after which to ask again; None where that is not said."""
    billed = False
    """Whether the provider may have counted tokens although no answer came."""


class NoModel(ChatError):
    """No model plays the role, or its name or endpoint is wrong."""

    code = "wrong_model"


class NotAuthorised(ChatError):
    """The provider takes no key, or not this one."""

    code = "model_not_authorised"


class RateLimited(ChatError):
    """Too many questions; ask again after `retry_after` seconds."""

    code = "rate_limited"

    def __init__(self, what: str, *, retry_after: float | None = None, hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.retry_after = retry_after


class Unavailable(ChatError):
    """The provider does not answer, or answers with a fault of its own; a later run can go on."""

    code = "model_unavailable"
    billed = True


class ContextExceeded(ChatError):
    """The question is longer than the model takes."""

    code = "context_exceeded"


class Rejected(ChatError):
    """The provider takes the request for wrong, for another reason than its length."""

    code = "model_rejected_request"


class Refused(ChatError):
    """The model, or a filter before it, does not want to answer."""

    code = "model_refused"


class EmptyAnswer(ChatError):
    """The answer holds no text."""

    code = "model_empty"


class CutOff(ChatError):
    """The answer ended at the token limit."""

    code = "model_cut_off"


class Malformed(ChatError):
    """The answer does not follow its schema, nor did the one attempt to repair it."""

    code = "model_malformed"


class NotRecorded(ChatError):
    """A replayed session holds no answer to this question."""

    code = "not_recorded"


def tokens_of(text: str) -> int:
    """Tokens of a text, roughly from above: three characters each, for reservations and estimates."""
    return len(text) // 3 + 1
