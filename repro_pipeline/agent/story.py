"""What an agent did, told from the ledger: live, a line an event, or afterwards as a story."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from repro_pipeline.agent.standing import kind_of
from repro_pipeline.ledger.events import (
    AgentStarted,
    AgentStepped,
    Event,
    ModelCalled,
    ModelFailed,
    PatchApplied,
)
from repro_pipeline.status import Status

KINDS = frozenset(
    {"agent_started", "agent_stepped", "model_called", "model_failed", "patch_applied"}
)


class Teller:
    """Turns a paper's events into lines, with what was spent so far."""

    def __init__(self) -> None:
        self.tokens, self.usd, self.unpriced, self.calls = 0, 0.0, 0, 0

    def line(self, event: Event) -> str | None:
        """The line of an event as it happens; None for one that says nothing of the agent."""
        if event.kind not in KINDS:
            return None
        match event.content:
            case AgentStarted() as started:
                models = ", ".join(dict.fromkeys(started.models.values()))
                return f"agent: {models}. {started.estimate}"
            case ModelCalled() as call:
                self._count(call)
                name = call.step.rpartition("/")[2]
                return (
                    f"step {name}: {call.role} answered in {call.seconds:.0f} s "
                    f"({call.tokens_in}+{call.tokens_out} tokens)"
                )
            case ModelFailed() as failed:
                return f"{failed.role} gave no answer: {failed.reason.sentence}"
            case AgentStepped() as step:
                return f"step {step.step} {told(step)} [{step.seconds:.0f} s; {self.cost}]"
        return None

    @property
    def cost(self) -> str:
        """What the questions cost so far."""
        parts = [f"{self.tokens:,} tokens"]
        if self.usd:
            parts.append(f"US$ {self.usd:.3f}")
        if self.unpriced:
            parts.append("price unknown" if not self.usd else f"{self.unpriced} calls unpriced")
        return ", ".join(parts)

    def _count(self, call: ModelCalled) -> None:
        self.calls += 1
        self.tokens += call.tokens_in + call.tokens_out
        self.usd += call.usd or 0.0
        self.unpriced += not call.priced


def told(step: AgentStepped) -> str:
    """A step in a sentence: what was to be done, and what came of it."""
    do = step.decision.get("do", {})
    about = do.get("task") or do.get("where") or ", ".join(do.get("experiments", ()))
    name = kind_of(step) + (f" ({about.splitlines()[0][:100]})" if about else "")
    return f"{name}: {step.status}. {step.said}"


def story(events: Iterable[Event], patch_of: Callable[[str], str] | None = None) -> Iterator[str]:
    """An agent's work on a paper as lines; `patch_of`, where given, shows each change."""
    teller, patches = Teller(), []
    for event in events:
        if event.kind == "implementation_frozen" and event.payload["mode"] == "agent":
            yield f"\nThe code was frozen: {event.payload['code_tree']}."
            continue
        if event.kind not in KINDS:
            continue
        content = event.content
        line = teller.line(event)
        match content:
            case AgentStarted():
                yield f"\n{event.at:%Y-%m-%d %H:%M} UTC, {line}"
                limits = {name: most for name, most in content.limits.items() if most is not None}
                yield f"Limits: {', '.join(f'{name} {most:,}' for name, most in limits.items())}."
            case PatchApplied():
                patches.append(content)
            case ModelFailed():
                yield f"  ! {line}"
            case AgentStepped():
                yield f"\nStep {content.step}. {told(content)}"
                if why := content.decision.get("why"):
                    yield f"  Why: {' '.join(why.split())[:500]}"
                for patch in (one for one in patches if one.step == content.step):
                    yield f"  Changed {patch.path}" + ("" if patch_of else f" ({patch.patch[:12]})")
                    if patch_of:
                        yield "\n".join(
                            f"    {text}" for text in patch_of(patch.patch).splitlines()
                        )
                patches = []
                if content.status is not Status.OK and content.facts.get("output"):
                    yield "\n".join(f"  | {text}" for text in content.facts["output"].splitlines())
                if ended := content.facts.get("ended"):
                    yield f"  The work ended here: {ended}."
                yield f"  {content.seconds:.1f} s; so far {teller.calls} answers, {teller.cost}."
    if not teller.calls:
        yield "No model was asked."


def by_role(events: Iterable[Event]) -> dict[str, tuple[int, int, int, int]]:
    """Per role: answers, tokens in, of these cached, tokens out."""
    table: dict[str, tuple[int, int, int, int]] = {}
    for event in events:
        if event.kind == "model_called":
            call = event.content
            new = (1, call.tokens_in, call.tokens_cached, call.tokens_out)
            old = table.get(call.role, (0, 0, 0, 0))
            table[call.role] = tuple(a + b for a, b in zip(old, new, strict=True))
    return table
