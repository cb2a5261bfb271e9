"""The agent's loop: from a blinded paper to code that can be scored, within a budget.

Each turn is one step of the ledger, so a killed run goes on at the step that it was in. Scoring inside
the loop is blind: it knows what ran, and no reported value.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

from repro_pipeline.agent.actions import Outcome, Tools, is_of_answer, perform
from repro_pipeline.agent.decisions import Decision, Stop, Summary
from repro_pipeline.agent.judge import doubts, open_points
from repro_pipeline.agent.standing import SUMMARISING, Standing, recurrences_with, standing_of
from repro_pipeline.agent.state import claims_text, planner_values
from repro_pipeline.asking.ask import ask
from repro_pipeline.asking.budget import BudgetExceeded
from repro_pipeline.asking.prompt import Block, Values
from repro_pipeline.chat import ChatError
from repro_pipeline.errors import UserError
from repro_pipeline.experiment.implementation import Implementation
from repro_pipeline.ledger.events import AgentStepped
from repro_pipeline.status import Reason, Status

SAME_FAILURE = 3
"""How often in a row the same failure ends the work; from the second time on, another way is asked for."""
REFUSALS = 2
"""How often in a row a stop is refused while something is open; then it is taken, as partial."""

OTHER_WAY = (
    "The last failure came back in the same form ({count} times in a row). What was tried does not mend "
    "it: take a different way, a simpler one if need be. After {most} times the work is stopped."
)
STILL_OPEN = "You wanted to stop, but the work is not complete: see what is still open."


class End(NamedTuple):
    """Why the loop ended."""

    status: Status
    reason: Reason | None


class Turn(NamedTuple):
    """One step: what was decided, and what came of it."""

    decision: Decision | None
    outcome: Outcome


@dataclass(frozen=True)
class PaperReproAgent:
    """Planner, coder, runner, blind judge and ledger; the first two are models."""

    tools: Tools
    steps: int
    """How many steps the paper may take."""

    def work(self) -> End:
        """Until the work is complete, a limit is reached, or nothing changes any more.

        Raises a ChatError where a model cannot be reached at all: the next launch goes on there.
        """
        self.restore_code()
        while True:
            standing = self.read_ledger()
            if standing.ended:
                return _end_of(standing)
            clock = time.monotonic()
            turn = self.take_turn(standing)
            self.record(standing, turn, seconds=time.monotonic() - clock)

    def take_turn(self, standing: Standing) -> Turn:
        """Decide and act; every failure of an answer, of an edit or of a limit is an outcome."""
        decision = None
        try:
            self.check_limits(standing)
            if standing.summary is None:
                return Turn(None, self.summarise(standing))
            decision = self.decide(standing)
            if isinstance(decision.do, Stop):
                return Turn(decision, self.stop(standing, decision.do))
            summary = self.summary_of(standing)
            advice = advice_for(standing)
            outcome = perform(self.tools, decision, standing.steps, standing, summary, advice)
            return Turn(decision, outcome)
        except BudgetExceeded as error:
            facts = {"ended": error.code}
            return Turn(
                decision, Outcome(Status.BUDGET_EXHAUSTED, str(error), Reason.of(error), facts)
            )
        except ChatError as error:
            if not is_of_answer(error):
                raise
            return Turn(decision, Outcome.failed(error))

    def restore_code(self) -> None:
        """Make the workspace what the last recorded step left: a killed step is done again."""
        if tree := self.read_ledger().tree:
            self.tools.workspace.restore(tree, self.tools.desk.store)

    def read_ledger(self) -> Standing:
        """Where the work stands."""
        desk = self.tools.desk
        events = desk.ledger.events(desk.paper, kinds={"agent_started", "agent_stepped"})
        return standing_of(events, self.tools.session)

    def check_limits(self, standing: Standing) -> None:
        """Raises BudgetExceeded where no further step may be taken."""
        if standing.steps >= self.steps:
            raise BudgetExceeded("steps", most=self.steps, spent=standing.steps, wanted=1)
        self.tools.desk.account.check_time()

    def summarise(self, standing: Standing) -> Outcome:
        """Have the paper's method and experiments summed up, point by point."""
        material = self.tools.material
        summary = ask(
            self.tools.desk,
            step=f"implementation/{standing.steps}",
            role="reader",
            prompt="reader",
            values={
                "paper": Block("paper", material.paper.text, "source"),
                "claims": Block("claims", claims_text(material, 12_000), "source"),
            },
            answer_model=Summary,
            check=_ids_differ,
        )
        stored = self.tools.desk.store.put(summary.model_dump_json().encode())
        said = (
            f"The paper has {len(summary.points)} points; {len(summary.unsaid)} things are unsaid."
        )
        return Outcome(Status.OK, said, facts={"summary": stored})

    def decide(self, standing: Standing) -> Decision:
        """The next subtask, from a state whose size does not grow."""
        return ask(
            self.tools.desk,
            step=f"implementation/{standing.steps}",
            role="planner",
            prompt="planner",
            values=self.planner_values(standing),
            answer_model=Decision,
        )

    def planner_values(self, standing: Standing) -> Values:
        """What the planner is shown."""
        tools, made = self.tools, self.code_as_it_stands()
        looked_up = "none"
        if standing.looked_up:
            text = tools.desk.store.get(standing.looked_up["text"]).decode()
            looked_up = f"{standing.looked_up['where']}\n{text}"
        shown = planner_values(
            standing,
            tools.material,
            self.summary_of(standing),
            looked_up,
            tools.workspace.files(),
            self.open_now(standing, made),
            doubts(standing, made),
            self.budget_left(standing),
        )
        parts = ", ".join(part.title for part in tools.material.paper.parts)
        return {
            **shown,
            "title": Block("title", tools.material.paper.title, "source"),
            "references": Block("references", ", ".join(tools.material.references), "source"),
            "sections": Block("sections", parts[:3000], "source"),
            "advice": Block("advice", advice_for(standing) or "none", "output"),
        }

    def stop(self, standing: Standing, wanted: Stop) -> Outcome:
        """Take a stop that is justified; refuse one as long as something could be done."""
        if not wanted.complete:
            reason = Reason(code="planner_stopped", sentence=wanted.reason)
            return Outcome(Status.PARTIAL, wanted.reason, reason, {"ended": "planner_stopped"})
        still = self.open_now(standing, self.code_as_it_stands())
        if not still:
            return Outcome(Status.OK, wanted.reason, facts={"ended": "complete"})
        sentence = f"It is not complete: {' '.join(still)}"[:500]
        if standing.refused + 1 > REFUSALS:
            reason = Reason(code="incomplete", sentence=sentence)
            return Outcome(Status.PARTIAL, sentence, reason, {"ended": "incomplete"})
        reason = Reason(code="stop_refused", sentence=sentence)
        return Outcome(Status.FAILED, sentence, reason, {"refused": True})

    def record(self, standing: Standing, turn: Turn, *, seconds: float) -> None:
        """Write the step down, with the code after it; the same failure too often ends the work."""
        tools = self.tools
        decision = turn.decision.model_dump(mode="json") if turn.decision else {}
        if standing.summary is None:
            decision = {"do": {"action": SUMMARISING}}
        step = AgentStepped(
            session=tools.session,
            step=standing.steps,
            decision=decision,
            status=turn.outcome.status,
            reason=turn.outcome.reason,
            said=turn.outcome.said,
            facts=dict(turn.outcome.facts),
            code_tree=tools.desk.store.put_tree(tools.workspace.folder),
            seconds=round(seconds, 3),
        )
        if "ended" not in step.facts and recurrences_with(standing, step) >= SAME_FAILURE:
            step = step.model_copy(update={"facts": {**step.facts, "ended": "same_failure"}})
        tools.desk.record(step)

    def code_as_it_stands(self) -> Implementation | str:
        """The code as a submission, or why it cannot be loaded as one."""
        try:
            return self.tools.trials.load(self.tools.workspace)[1]
        except UserError as error:
            return str(error).replace(str(self.tools.workspace.folder), "")[:600]

    def open_now(self, standing: Standing, made: Implementation | str) -> tuple[str, ...]:
        """What is still to be done, by the blind judge."""
        tools = self.tools
        texts = {
            path: tools.workspace.read(path)
            for path in tools.workspace.files()
            if path.startswith("tests/") and path.rpartition("/")[2].startswith("test_")
        }
        return open_points(standing, standing.tree or "", made, texts)

    def summary_of(self, standing: Standing) -> Summary:
        """The reader's summary."""
        return Summary.model_validate_json(self.tools.desk.store.get(standing.summary))

    def budget_left(self, standing: Standing) -> str:
        """What is left of the budget, in a line."""
        account = self.tools.desk.account
        spent, limits = account.spent(), account.limits
        parts = [f"{self.steps - standing.steps} of {self.steps} steps"]
        if limits.tokens is not None:
            parts.append(f"{max(0, limits.tokens - spent.tokens)} of {limits.tokens} tokens")
        if limits.usd is not None:
            parts.append(f"US$ {max(0.0, limits.usd - spent.usd):.2f} of {limits.usd:.2f}")
        if limits.experiments is not None:
            left = max(0, limits.experiments - standing.in_full)
            parts.append(f"{left} of {limits.experiments} full runs of an experiment")
        if account.deadline is not None:
            parts.append(f"{max(0.0, account.deadline - time.monotonic()):.0f} s")
        return ", ".join(parts)


def advice_for(standing: Standing) -> str:
    """What a failure that came back, or a refused stop, asks for."""
    if standing.refused:
        return STILL_OPEN
    if standing.recurrences >= SAME_FAILURE - 1:
        return OTHER_WAY.format(count=standing.recurrences, most=SAME_FAILURE)
    return ""


def _end_of(standing: Standing) -> End:
    sentence = standing.recent[-1] if standing.recent else ""
    match standing.ended:
        case "complete":
            return End(Status.OK, None)
        case "budget_exhausted":
            return End(Status.BUDGET_EXHAUSTED, Reason(code="budget_exhausted", sentence=sentence))
        case "same_failure":
            said = f"The same failure came back {SAME_FAILURE} times in a row: {sentence}"
            return End(Status.PARTIAL, Reason(code="same_failure", sentence=said))
        case str() as code:
            return End(Status.PARTIAL, Reason(code=code, sentence=sentence))
    raise AssertionError(f"the session goes on: {standing.ended}")


def _ids_differ(summary: Summary) -> str | None:
    ids = [point.id for point in summary.points]
    twice = sorted({one for one in ids if ids.count(one) > 1})
    return f"the ids {', '.join(twice[:5])} stand twice" if twice else None
