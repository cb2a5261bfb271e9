"""Language models through litellm: any provider it knows, and any OpenAI-compatible endpoint.

Keys come from the environment, by the names that litellm gives them (`OPENAI_API_KEY`, …); for an
endpoint of one's own (`api_base`) without such a key, a dummy is sent. litellm is imported when the first
model is asked: that takes seconds.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any, NoReturn

from repro_pipeline.chat import (
    ChatAnswer,
    ChatRequest,
    ContextExceeded,
    ModelInfo,
    NoModel,
    NotAuthorised,
    Price,
    RateLimited,
    Refused,
    Rejected,
    Unavailable,
    Usage,
    tokens_of,
)
from repro_pipeline.config import Role, Roles
from repro_pipeline.ledger.redact import redact

_FINISHES = {"stop": "stop", "length": "length", "content_filter": "refused"}
SAID = 300
"""Characters of a provider's own words that an error quotes at most."""


class LiteLlmChat:
    """`ports.ChatModel` over `litellm.completion`; its retries and callbacks are off."""

    def __init__(self, roles: Roles) -> None:
        self._roles = roles

    def info(self, role: str) -> ModelInfo:
        """The role's model; price and context from `repro.yaml`, else from litellm's own list."""
        settings = self._role(role)
        known = {}
        # A model behind an endpoint of one's own only shares its name with the provider's.
        if settings.api_base is None:
            known = _known(settings.model)
        return ModelInfo(
            name=settings.model,
            price=settings.price or _price(known),
            context_tokens=settings.context_tokens or known.get("max_input_tokens"),
        )

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Ask once."""
        settings, litellm = self._role(request.role), _litellm()
        try:
            response = litellm.completion(
                model=settings.model,
                messages=[message.model_dump() for message in request.messages],
                max_tokens=request.max_tokens,
                timeout=settings.timeout,
                max_retries=0,
                num_retries=0,
                drop_params=True,
                **_optional(settings, request),
            )
        except Exception as error:
            _raise(litellm, error, settings)
        return _answer(response, request, self.info(request.role))

    def _role(self, role: str) -> Role:
        settings = self._roles.of(role)
        if settings is None:
            raise NoModel(
                f"no model plays the role '{role}'.",
                where=f"repro.yaml: models.{role}",
                hint="Name one, as `{model: openai/gpt-4o-mini}`.",
            )
        return settings


def _litellm() -> ModuleType:
    """The package, which would fetch a list of prices when imported otherwise."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    try:
        import litellm
    except ImportError:
        raise NoModel(
            "the package litellm is not installed.",
            hint="Install what requirements.lock names.",
        ) from None
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    return litellm


def _known(model: str) -> dict[str, Any]:
    try:
        return dict(_litellm().get_model_info(model))
    except NoModel:
        raise
    except Exception:  # of many kinds, for a model that is not in the list
        return {}


def _price(known: dict[str, Any]) -> Price | None:
    costs = [known.get("input_cost_per_token"), known.get("output_cost_per_token")]
    if None in costs or not any(costs):  # zero stands for unknown in that list as well
        return None
    cached = known.get("cache_read_input_token_cost")
    return Price(
        input=costs[0] * 1e6,
        output=costs[1] * 1e6,
        cached=None if cached is None else cached * 1e6,
    )


def _optional(settings: Role, request: ChatRequest) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if settings.api_base:
        given["api_base"] = settings.api_base
        if settings.model.startswith("openai/") and not os.environ.get("OPENAI_API_KEY"):
            given["api_key"] = "none"
    if request.temperature is not None:
        given["temperature"] = request.temperature
    if request.answer_schema is not None:
        given["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": request.answer_schema},
        }
    return given


def _answer(response: Any, request: ChatRequest, info: ModelInfo) -> ChatAnswer:
    if not response.choices:
        raise Unavailable(f"the endpoint of '{info.name}' answered without a choice.")
    choice = response.choices[0]
    text = choice.message.content or ""
    usage = _usage(getattr(response, "usage", None), request, text)
    refused = bool(getattr(choice.message, "refusal", None)) and not text
    finish = "refused" if refused else _FINISHES.get(choice.finish_reason, "other")
    usd = info.price.of(usage) if info.price else None
    return ChatAnswer(text=text, finish_reason=finish, usage=usage, usd=usd, model=info.name)


def _usage(given: Any, request: ChatRequest, text: str) -> Usage:
    """The provider's counts; estimated where it gives none, or says that its own are."""
    counts = [getattr(given, name, None) for name in ("prompt_tokens", "completion_tokens")]
    if not all(isinstance(count, int) and count >= 0 for count in counts) or not counts[0]:
        sent = "x" * request.characters
        return Usage(tokens_in=tokens_of(sent), tokens_out=tokens_of(text), estimated=True)
    details = getattr(given, "prompt_tokens_details", None)
    cached = getattr(details, "cached_tokens", None) or 0
    return Usage(
        tokens_in=counts[0],
        tokens_cached=min(cached, counts[0]),
        tokens_out=counts[1],
        estimated=bool(getattr(given, "estimated", False)),
    )


def _raise(litellm: ModuleType, error: Exception, settings: Role) -> NoReturn:
    """The error as a ChatError of its kind; the more special kinds of litellm come first."""
    import openai  # whose errors litellm's are

    kinds = litellm.exceptions
    said = redact(" ".join(str(error).split()))[:SAID]
    place = f" at {settings.api_base}" if settings.api_base else ""
    what = f"the model '{settings.model}'{place}: {said}"
    if isinstance(error, kinds.ContextWindowExceededError):
        raise ContextExceeded(what) from None
    if isinstance(error, kinds.ContentPolicyViolationError):
        raise Refused(what) from None
    if getattr(error, "status_code", None) in {401, 403}:
        hint = (
            "Set the provider's key in the environment, as OPENAI_API_KEY; it is kept nowhere else."
        )
        raise NotAuthorised(what, hint=hint) from None
    if isinstance(error, kinds.NotFoundError) or "LLM Provider NOT provided" in said:
        hint = f"Correct `models` in repro.yaml: '{settings.model}' is not known there."
        raise NoModel(what, hint=hint) from None
    if isinstance(error, kinds.RateLimitError):
        raise RateLimited(what, retry_after=_retry_after(error)) from None
    if isinstance(error, kinds.BadRequestError | kinds.UnprocessableEntityError):
        raise Rejected(what) from None
    if isinstance(error, openai.OpenAIError | OSError):
        hint = "Run it again later: it goes on where it stopped."
        raise Unavailable(what, hint=hint) from None
    raise error


def _retry_after(error: Exception) -> float | None:
    """The seconds of a `retry-after` header, where the error carries one."""
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or getattr(error, "litellm_response_headers", {})
    try:
        return max(0.0, float((headers or {}).get("retry-after", "")))
    except ValueError:
        return None
