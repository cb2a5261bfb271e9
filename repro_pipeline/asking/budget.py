"""The budget as a contract: reserved before a question, settled after it, projected from the ledger.

What was reserved and never settled counts as spent: after a crash nobody knows what the provider
counted. Nothing is kept in memory that the ledger does not hold, so a resumed run stands where it stood.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from repro_pipeline.bundle.task import Budget
from repro_pipeline.chat import ChatRequest, ModelInfo, tokens_of
from repro_pipeline.errors import UserError
from repro_pipeline.frozen import Frozen
from repro_pipeline.ledger.events import Event, ModelCalled, ModelFailed, ModelReserved
from repro_pipeline.ports import Ledger

KINDS = frozenset({"model_reserved", "model_called", "model_failed"})


class BudgetExceeded(UserError):
    """The next thing to do would cost more than is left."""

    code = "budget_exhausted"

    def __init__(
        self, limit: str, *, most: float, spent: float = 0, wanted: float = 0, said: str = ""
    ) -> None:
        said = said or f"{spent:g} spent, and the next thing to do may take {wanted:g}"
        super().__init__(
            f"the budget of {limit} is exhausted: {most:g} allowed, {said}.",
            where=f"budget.{limit}",
            hint="Raise it in repro.yaml or task.yaml, and run it again to go on.",
        )
        self.limit = limit


class NoPrice(UserError):
    """Money is limited, and nobody knows what a question costs."""

    code = "no_price"


class Spent(Frozen):
    """What a paper's questions cost so far."""

    calls: int = 0
    tokens: int = 0
    """In and out, with what was reserved and never settled."""
    usd: float = 0.0
    """Of the calls whose price is known."""
    unpriced: int = 0
    """Calls whose price is not known: they count in tokens only."""
    unsettled: int = 0
    """Reservations that no answer settled."""


def spent(events: Iterable[Event]) -> Spent:
    """What the events of a paper say was spent on models."""
    calls = tokens = unpriced = 0
    usd = 0.0
    settled: Counter[tuple] = Counter()
    reserved: list[ModelReserved] = []
    for event in events:
        match event.content:
            case ModelReserved() as one:
                reserved.append(one)
            case ModelFailed(billed=False) as one:
                settled[_question(one)] += 1
            case ModelCalled() as one:
                settled[_question(one)] += 1
                calls += 1
                tokens += one.tokens_in + one.tokens_out
                usd += one.usd or 0.0
                unpriced += not one.priced
    unsettled = 0
    for one in reversed(reserved):  # an answer settles the latest reservation of its question
        if settled[_question(one)]:
            settled[_question(one)] -= 1
            continue
        unsettled += 1
        tokens += one.tokens
        usd += one.usd or 0.0
    return Spent(calls=calls, tokens=tokens, usd=usd, unpriced=unpriced, unsettled=unsettled)


def _question(one: ModelReserved | ModelFailed | ModelCalled) -> tuple:
    return one.step, one.role, one.ordinal, one.request


@dataclass(frozen=True)
class Account:
    """A paper's budget, and what the ledger says was taken from it."""

    ledger: Ledger
    paper: str
    limits: Budget
    deadline: float | None = None
    """On the monotonic clock."""

    def spent(self) -> Spent:
        """What was spent so far."""
        return spent(self.ledger.events(self.paper, kinds=KINDS))

    def reservation(self, request: ChatRequest, info: ModelInfo) -> tuple[int, float | None]:
        """The most that a question may cost: tokens, and US dollars where the price is known.

        Raises BudgetExceeded where that is more than is left, and NoPrice where money is limited and
        the model's price is unknown.
        """
        sent = tokens_of("x" * request.characters) + len(str(request.answer_schema or "")) // 3
        tokens = sent + request.max_tokens
        usd = None
        if info.price:
            usd = (sent * info.price.input + request.max_tokens * info.price.output) / 1e6
        elif self.limits.usd is not None:
            raise NoPrice(
                f"money is limited to {self.limits.usd:g} US dollars, and no price of the model "
                f"'{info.name}' is known.",
                where=f"repro.yaml: models.{request.role}",
                hint="Give one: `price: {input: …, output: …}` in US dollars per million tokens; "
                "or limit tokens in place of usd.",
            )
        before = self.spent()
        self._check("tokens", self.limits.tokens, before.tokens, tokens)
        self._check("usd", self.limits.usd, before.usd, usd or 0.0)
        self.check_time()
        return tokens, usd

    def check_time(self) -> None:
        """Raises BudgetExceeded once the time is over."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            over = round(time.monotonic() - self.deadline, 1)
            said = f"and the share of these seconds that the agent may take ended {over:g} s ago"
            raise BudgetExceeded("wall_clock", most=self.limits.wall_clock, said=said)

    @staticmethod
    def _check(limit: str, most: float | None, spent_so_far: float, wanted: float) -> None:
        if most is not None and spent_so_far + wanted > most:
            raise BudgetExceeded(limit, most=most, spent=spent_so_far, wanted=wanted)
