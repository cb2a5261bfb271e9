"""The coder: a model that reads files, edits them and runs commands until its task is done.

`CodingTool` is the port. Another coder (a command-line agent of the user's, say) takes an order and a
workspace, and says what it changed; the loop sees no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

from pydantic import Field, StringConstraints

from repro_pipeline.agent.decisions import ChangeCode, Text
from repro_pipeline.agent.material import Material
from repro_pipeline.agent.state import claims_text
from repro_pipeline.agent.trials import Trials
from repro_pipeline.agent.workspace import LARGEST, Change, EditError, Workspace
from repro_pipeline.asking.ask import Desk, ask
from repro_pipeline.asking.prompt import Block, Part, cut_middle
from repro_pipeline.frozen import Frozen

TURNS = 8
"""Questions that one order may take."""
FILES_SHOWN = 36_000
"""Characters of the workspace's files that each question shows; the rest can be read."""
HISTORY = 24_000
"""Characters of earlier turns that each question shows."""
RESULT = 8000
"""Characters of one action's result."""

Path = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Read(Frozen):
    """Show lines of a file."""

    tool: Literal["read"]
    path: Path
    first: Annotated[int, Field(ge=1)] = 1
    last: Annotated[int, Field(ge=1)] | None = None


class ListFiles(Frozen):
    """List all files."""

    tool: Literal["list"]


class Replace(Frozen):
    """Replace a text that stands exactly once in a file."""

    tool: Literal["replace"]
    path: Path
    search: Annotated[str, StringConstraints(min_length=1, max_length=LARGEST)]
    replacement: Annotated[str, StringConstraints(max_length=LARGEST)]


class Write(Frozen):
    """Write a whole file."""

    tool: Literal["write"]
    path: Path
    content: Annotated[str, StringConstraints(max_length=LARGEST)]


class Delete(Frozen):
    """Take a file away."""

    tool: Literal["delete"]
    path: Path


class Run(Frozen):
    """Run a command on a copy of the workspace, without network."""

    tool: Literal["run"]
    command: Annotated[
        tuple[Annotated[str, StringConstraints(max_length=4000)], ...],
        Field(min_length=1, max_length=40),
    ]


class ReadPaper(Frozen):
    """Show a section of the paper, by its title."""

    tool: Literal["paper"]
    section: Annotated[str, StringConstraints(max_length=300)]
    words: Annotated[str, StringConstraints(max_length=300)] = ""


Tool = Annotated[
    Read | ListFiles | Replace | Write | Delete | Run | ReadPaper, Field(discriminator="tool")
]


class Turn(Frozen):
    """What the coder does next. Actions are done in order; `done` ends the order after them."""

    thought: Text = ""
    actions: Annotated[tuple[Tool, ...], Field(max_length=20)] = ()
    done: bool = False
    said: Text = ""
    """With `done`: what was done, and what was not."""


@dataclass(frozen=True)
class Order:
    """What a coder is to do, and what it should know."""

    step: str
    """The step's name, under which its questions are recorded."""
    task: ChangeCode
    points: tuple[str, ...]
    """What the paper says of it."""
    assumed: tuple[str, ...] = ()
    """What was chosen where the paper is silent."""
    failure: str = ""
    """How the last run failed: output of a run."""
    advice: str = ""
    """What the loop says of how to go on, after the same failure came back."""


@dataclass(frozen=True)
class Report:
    """What a coder says that it did."""

    said: str
    done: bool


Keep = Callable[[Change], None]


class CodingTool(Protocol):
    """Whoever changes code."""

    def change(self, order: Order, workspace: Workspace, keep: Keep) -> Report:
        """Carry out an order in the workspace, and give every change to `keep` as it is made.

        Raises a ChatError or BudgetExceeded; what was changed before stays.
        """


@dataclass(frozen=True)
class ModelCoder:
    """`CodingTool` by the model of the role `coder`."""

    desk: Desk
    material: Material
    trials: Trials
    environment: tuple[Block, ...]
    """What programs find where they run, in words."""

    def change(self, order: Order, workspace: Workspace, keep: Keep) -> Report:
        """Ask for a turn, carry it out, show what came of it, until it is done or turns run out."""
        said, history, failed = "", [], ()
        for left in range(TURNS - 1, -1, -1):
            turn = ask(
                self.desk,
                step=order.step,
                role="coder",
                prompt="coder",
                values=self._values(order, workspace, history, left),
                answer_model=Turn,
            )
            results, bad = self._carry_out(turn, workspace, keep)
            history.append(results)
            said = turn.said or turn.thought
            # Who ends with an edit or a command that failed has not done what it says.
            if turn.done and not bad:
                return Report(said, done=True)
            if bad and turn.actions == failed:
                return Report(f"The same actions failed twice in a row. {said}", done=False)
            failed = turn.actions if bad else ()
        return Report(f"It was not done within {TURNS} turns. {said}", done=False)

    def _values(
        self, order: Order, workspace: Workspace, history: Sequence[tuple[Part, ...]], left: int
    ) -> dict:
        return {
            "environment": self.environment,
            "claims": Block("claims", claims_text(self.material, 8000), "source"),
            "sections": Block("sections", ", ".join(self.sections()), "source"),
            "points": Block("points", "\n".join(order.points) or "none", "own"),
            "assumed": Block("assumptions", "\n".join(order.assumed)[:6000] or "none", "source"),
            "files": _files(workspace),
            "part": order.task.part,
            "task": Block("task", order.task.task, "own"),
            "failure": Block("last failure", order.failure or "none", "output"),
            "advice": Block("advice", order.advice or "none", "output"),
            "history": _recent(history),
            "left": str(left),
        }

    def sections(self) -> tuple[str, ...]:
        """The titles under which parts of the paper can be read."""
        return tuple(part.title for part in self.material.paper.parts)

    def _carry_out(
        self, turn: Turn, workspace: Workspace, keep: Keep
    ) -> tuple[tuple[Part, ...], bool]:
        """What came of a turn's actions, and whether any failed."""
        parts: list[Part] = [Block("you said", turn.thought[:1500], "own")]
        bad = False
        for action in turn.actions:
            try:
                if isinstance(action, Run):
                    trial = self.trials.run(workspace, action.command)
                    bad = bad or not trial.ok
                    name = _named(f"run {' '.join(action.command)}")
                    parts.append(Block(name, f"{trial.said}\n{trial.output}"[:RESULT], "output"))
                else:
                    parts.append(self._do(action, workspace, keep))
            except EditError as error:
                bad = True
                parts.append(Block(f"{action.tool} failed", str(error), "own"))
        return tuple(parts), bad

    def _do(self, action: Tool, workspace: Workspace, keep: Keep) -> Part:
        match action:
            case Read():
                text = workspace.read(action.path, action.first, action.last)
                return Block(_named(f"read {action.path}"), text, "own")
            case ListFiles():
                return Block("list", "\n".join(workspace.files()) or "none", "own")
            case ReadPaper():
                text = self.material.section(action.section, action.words)
                known = f"There is no such section; there are: {', '.join(self.sections())}"
                return Block(_named(f"paper {action.section}"), text or known[:RESULT], "source")
            case Write():
                change = workspace.write(action.path, action.content)
            case Replace():
                change = workspace.replace(action.path, action.search, action.replacement)
            case Delete():
                change = workspace.delete(action.path)
        keep(change)
        return Block(_named(f"{action.tool} {action.path}"), "done", "own")


def _named(text: str) -> str:
    """A block's name: it cannot end the tag that it stands in."""
    return "".join(c if c.isprintable() and c not in '"<>' else " " for c in text)[:160]


def _files(workspace: Workspace) -> tuple[Part, ...]:
    """The files with their texts, small ones first, as far as there is room."""
    texts = {path: workspace.read(path) for path in workspace.files()}
    if not texts:
        return ("There are no files yet.",)
    room, parts, unshown = FILES_SHOWN, [], []
    shown = set()
    for path in sorted(texts, key=lambda one: len(texts[one])):
        if len(texts[path]) <= room:
            room -= len(texts[path])
            shown.add(path)
    for path, text in texts.items():
        if path in shown:
            parts.append(Block(_named(path), text, "own"))
        else:
            unshown.append(f"{path} ({len(text)} characters)")
    if unshown:
        parts.append(Block("not shown, read them", "\n".join(unshown)[:4000], "own"))
    return tuple(parts)


def _recent(history: Sequence[tuple[Part, ...]]) -> tuple[Part, ...]:
    """The last turns, as many as there is room for; the latest always, shortened if need be."""
    chosen: list[tuple[Part, ...]] = []
    room = HISTORY
    for turn in reversed(history):
        short = tuple(_cut(part) for part in turn)
        room -= sum(len(str(part)) for part in short)
        if chosen and room < 0:
            chosen.append((f"[{len(history) - len(chosen)} earlier turns are not shown]",))
            break
        chosen.append(short)
    parts = [part for turn in reversed(chosen) for part in turn]
    return tuple(parts) or ("This is the first turn.",)


def _cut(part: Part) -> Part:
    if isinstance(part, str):
        return part
    return Block(part.name, cut_middle(part.text, RESULT), part.kind)
