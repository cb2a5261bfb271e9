"""Ask a language model: render, check, reserve, ask, settle, record, validate; or fail in a typed way.

Every question of the pipeline goes through `ask`. What was answered and recorded before is taken from
the ledger and never paid for twice.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from repro_pipeline.asking.budget import Account
from repro_pipeline.asking.prompt import (
    Prompt,
    Values,
    checked_text,
    cut_middle,
    load_prompt,
    render,
    shortened,
)
from repro_pipeline.asking.sameness import compare
from repro_pipeline.bundle.task import Budget
from repro_pipeline.chat import (
    ChatAnswer,
    ChatError,
    ChatRequest,
    ContextExceeded,
    CutOff,
    EmptyAnswer,
    Malformed,
    Message,
    ModelInfo,
    RateLimited,
    Refused,
    Unavailable,
    tokens_of,
)
from repro_pipeline.config import Role, Roles
from repro_pipeline.frozen import canonical_json
from repro_pipeline.ledger.events import (
    ModelCalled,
    ModelFailed,
    ModelReserved,
    WarningRecorded,
)
from repro_pipeline.ports import ArtifactStore, ChatModel, Ledger
from repro_pipeline.project import Project
from repro_pipeline.status import Reason

LONGEST_ANSWER = 400_000
"""Characters of an answer that are looked at; a longer one is no answer to any question here."""
TRIES = 4
"""How often a question is sent while the provider is down or limits the rate."""
LONGEST_WAIT = 120.0
"""Seconds that one pause may take: whoever is to wait longer is better off going on later."""
SHRINKS = 4
"""How often a prompt is shortened for a model that finds it too long."""
REPAIRED = 4000
"""Characters of a bad answer that it is shown again."""

Answer = TypeVar("Answer", bound=BaseModel)


def no_guard(text: str) -> None:
    """The check of a prompt where there is nothing to hide."""


@dataclass
class Desk:
    """Where a paper's questions are asked: the models, the evidence, the budget, the blinding."""

    paper: str
    chat: ChatModel
    roles: Roles
    ledger: Ledger
    store: ArtifactStore
    account: Account
    guard: Callable[[str], None]
    """Raises where the text holds a reported value. It is given what must be blind: see `prompt`."""
    actor: str
    wait: Callable[[float], None] = time.sleep
    _asked: Counter[tuple[str, str]] = field(default_factory=Counter)

    @classmethod
    def of(
        cls,
        project: Project,
        paper: str,
        budget: Budget,
        *,
        guard: Callable[[str], None],
        actor: str,
        deadline: float | None = None,
    ) -> Desk:
        """The desk of a project's paper. `deadline` is on the monotonic clock."""
        return cls(
            paper=paper,
            chat=project.chat,
            roles=project.config.models,
            ledger=project.ledger,
            store=project.store,
            account=Account(project.ledger, paper, budget, deadline),
            guard=guard,
            actor=actor,
        )

    def record(self, payload, *, actor: str = "") -> None:
        """Append an event to the paper's chain."""
        self.ledger.append(self.paper, payload, actor=actor or self.actor)

    def model_of(self, role: str) -> str:
        """The name of the model that plays a role."""
        return self.chat.info(role).name

    def next_ordinal(self, step: str, role: str) -> int:
        """The number of the next question of a role in a step, in this process."""
        self._asked[step, role] += 1
        return self._asked[step, role] - 1


def ask(
    desk: Desk,
    *,
    step: str,
    role: str,
    prompt: str,
    values: Values,
    answer_model: type[Answer],
    check: Callable[[Answer], str | None] = lambda answer: None,
) -> Answer:
    """The validated answer to a prompt's question, after one attempt to repair a bad one.

    `prompt` names a file of `prompts/`; `values` fill its places, data as `Block`s. `check` says in a
    sentence what is wrong with an answer that follows its schema. Raises a ChatError, each kind of
    failure its own, BudgetExceeded before a question that would cost more than is left, and whatever
    the guard raises for a prompt that is not blind.
    """
    asked = load_prompt(prompt)
    schema = answer_model.model_json_schema()
    for _ in range(SHRINKS + 1):
        messages = _with_schema(render(asked, values), schema)
        try:
            return _ask_twice(desk, step, role, asked, messages, schema, answer_model, check)
        except ContextExceeded as error:
            smaller = shortened(values)
            if smaller is None:
                raise
            values, what = smaller
            _warn(desk, "prompt_shortened", f"{step}: {error.what} So {what}.")
    raise ContextExceeded(f"the question of {step} stays too long although it was shortened.")


def _ask_twice(
    desk: Desk,
    step: str,
    role: str,
    prompt: Prompt,
    messages: tuple[Message, ...],
    schema: dict,
    answer_model: type[Answer],
    check: Callable[[Answer], str | None],
) -> Answer:
    answer = _answer(desk, step, role, prompt, messages, schema)
    fault = ""
    try:
        return _validated(answer, answer_model, check)
    except Refused:
        raise
    except ChatError as error:
        fault = error.what
    said = cut_middle(answer.text, REPAIRED) or "(nothing)"
    turn = Message(role="assistant", content=said)
    again = (*messages, turn, *render(load_prompt("repair"), {"fault": fault}))
    return _validated(_answer(desk, step, role, prompt, again, schema), answer_model, check)


def _answer(
    desk: Desk,
    step: str,
    role: str,
    prompt: Prompt,
    messages: tuple[Message, ...],
    schema: dict,
) -> ChatAnswer:
    """The recorded answer to a question, else a new one, paid for and recorded."""
    settings = desk.roles.of(role) or Role(model="replayed")
    request = ChatRequest(
        step=step,
        role=role,
        ordinal=desk.next_ordinal(step, role),
        messages=messages,
        answer_schema=schema,
        max_tokens=settings.max_output_tokens,
        temperature=settings.temperature,
    )
    desk.guard(checked_text(messages))
    recorded = _recorded(desk, request)
    if recorded is not None:
        return recorded
    info = desk.chat.info(role)
    stored = desk.store.put(canonical_json(request.model_dump(mode="json")))
    clock = time.monotonic()
    answer = _paid(desk, request, info, stored)
    desk.record(
        ModelCalled(
            step=step,
            role=role,
            ordinal=request.ordinal,
            model=answer.model,
            prompt=prompt.digest,
            request=stored,
            answer=desk.store.put(canonical_json(answer.model_dump(mode="json"))),
            tokens_in=answer.usage.tokens_in,
            tokens_cached=answer.usage.tokens_cached,
            tokens_out=answer.usage.tokens_out,
            usd=answer.usd,
            priced=answer.usd is not None,
            seconds=round(time.monotonic() - clock, 3),
        ),
        actor=f"model:{answer.model}",
    )
    if answer.drift:
        _say_drift(desk, request, answer.drift)
    return answer


def _recorded(desk: Desk, request: ChatRequest) -> ChatAnswer | None:
    """The ledger's answer to this question, where it was asked before and differs in run output only.

    A question that differs otherwise is a new one: its prompt, its paper or its code changed.
    """
    drift = None
    for event in desk.ledger.events(desk.paper, kinds={"model_called"}):
        call = event.content
        if (call.step, call.role, call.ordinal) != (request.step, request.role, request.ordinal):
            continue
        before = ChatRequest.model_validate_json(desk.store.get(call.request))
        sameness = compare(before, request)
        if sameness.kind == "same":
            return ChatAnswer.model_validate_json(desk.store.get(call.answer))
        if sameness.kind == "drift":
            drift = (call, sameness.where)
    if drift is None:
        return None
    _say_drift(desk, request, drift[1])
    return ChatAnswer.model_validate_json(desk.store.get(drift[0].answer))


def _paid(desk: Desk, request: ChatRequest, info: ModelInfo, stored: str) -> ChatAnswer:
    """Ask, with the cost reserved; wait and ask again where the provider wants that."""
    if info.context_tokens and tokens_of("x" * request.characters) > info.context_tokens:
        raise ContextExceeded(
            f"the question has some {tokens_of('x' * request.characters)} tokens, and the model "
            f"'{info.name}' takes {info.context_tokens}."
        )
    named = {"step": request.step, "role": request.role, "ordinal": request.ordinal}
    common = {**named, "model": info.name, "request": stored}
    before = sum(
        (one.step, one.role, one.ordinal, one.request) == (*named.values(), stored)
        for one in (
            event.content for event in desk.ledger.events(desk.paper, kinds={"model_reserved"})
        )
    )
    for number in range(before + 1, before + TRIES + 1):
        tokens, usd = desk.account.reservation(request, info)
        desk.record(ModelReserved(**common, number=number, tokens=tokens, usd=usd))
        try:
            return desk.chat.complete(request)
        except ChatError as error:
            desk.record(
                ModelFailed(**common, number=number, reason=Reason.of(error), billed=error.billed)
            )
            pause = _pause(error, number - before)
            if pause is None or number == before + TRIES:
                raise
            desk.wait(pause)
    raise AssertionError("the last try returns or raises")


def _pause(error: ChatError, tried: int) -> float | None:
    """Seconds to wait before the next try; None where another try is of no use now."""
    if not isinstance(error, RateLimited | Unavailable):
        return None
    pause = error.retry_after if error.retry_after is not None else 2.0**tried
    return pause if pause <= LONGEST_WAIT else None


def _validated(
    answer: ChatAnswer, answer_model: type[Answer], check: Callable[[Answer], str | None]
) -> Answer:
    if answer.finish_reason == "refused":
        raise Refused(f"the model '{answer.model}' refused to answer.")
    if answer.finish_reason == "length":
        raise CutOff(
            f"the answer was cut off at {answer.usage.tokens_out} tokens: give a shorter one.",
            hint="Raise `max_output_tokens` of the role in repro.yaml.",
        )
    if not answer.text.strip():
        raise EmptyAnswer(f"the model '{answer.model}' gave an empty answer.")
    try:
        made = answer_model.model_validate(_json_of(answer.text))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the answer"
        raise Malformed(f"it does not follow the schema: {place}: {first['msg']}.") from None
    fault = check(made)
    if fault:
        raise Malformed(fault)
    return made


def _json_of(text: str) -> object:
    """The JSON object of an answer, with or without a fence and words around it."""
    if len(text) > LONGEST_ANSWER:
        raise Malformed(f"it has {len(text)} characters, which is no answer to the question.")
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        raise Malformed("it holds no JSON object.")
    try:
        found = json.loads(text[start : end + 1], parse_constant=_no_constant)
        json.dumps(found, ensure_ascii=False).encode()  # halves of surrogate pairs cannot be stored
        return found
    except (ValueError, RecursionError) as error:
        raise Malformed(f"it is no valid JSON: {error}.") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _with_schema(messages: tuple[Message, ...], schema: Mapping) -> tuple[Message, ...]:
    """The messages, the first of which says the schema: not every provider enforces it."""
    first, *rest = messages
    text = json.dumps(schema, separators=(",", ":"), ensure_ascii=False)
    said = f"{first.content}\n\nAnswer with one JSON object, and nothing else. Its schema:\n{text}"
    return (first.model_copy(update={"content": said}), *rest)


def _say_drift(desk: Desk, request: ChatRequest, where: str) -> None:
    _warn(desk, "replay_drift", f"{request.name}: run output is not as recorded: {where}")


def _warn(desk: Desk, code: str, sentence: str) -> None:
    desk.record(WarningRecorded(code=code, sentence=sentence, stage=None))
