"""Sessions as files: record every answered question of a run, and run again from the file alone.

A session is a file of JSON lines (gzipped where its name ends in `.gz`): a header, then one line per
answered question with step, role and ordinal, the request as it was sent, and the answer.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from repro_pipeline.agent.chat import ChatAnswer, ChatRequest, ModelInfo, NotRecorded, Price
from repro_pipeline.agent.sameness import compare
from repro_pipeline.errors import FileFormatError
from repro_pipeline.ports import ChatModel

SCHEMA = 1
HEADER = {"schema": SCHEMA, "kind": "recorded-session"}


class RecordingChat:
    """`ports.ChatModel` that passes questions on and appends each answered one to a file."""

    def __init__(self, inner: ChatModel, path: Path) -> None:
        self._inner, self._path = inner, path
        if path.exists() and path.stat().st_size:
            read_session(path)  # a broken file is refused before anything is paid for
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._append(HEADER)

    def info(self, role: str) -> ModelInfo:
        """Of the model that is asked."""
        return self._inner.info(role)

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Ask, and write question and answer down."""
        answer = self._inner.complete(request)
        self._append(
            {"request": request.model_dump(mode="json"), "answer": answer.model_dump(mode="json")}
        )
        return answer

    def _append(self, line: dict) -> None:
        with _open(self._path, "at") as file:
            file.write(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n")
            file.flush()


class ReplayChat:
    """`ports.ChatModel` that answers from a recorded session and asks nobody.

    A question that differs from the recorded one in run output only is drift: its answer says so. One
    that differs otherwise, or that was never recorded, raises NotRecorded, which names it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._answers = read_session(path)

    def info(self, role: str) -> ModelInfo:
        """The recorded model of the role, for nothing."""
        names = [
            answer.model for (_, asked, _), (_, answer) in self._answers.items() if asked == role
        ]
        if not names:
            raise NotRecorded(
                f"the session holds no question of the role '{role}'.", where=str(self._path)
            )
        return ModelInfo(name=names[0], price=Price(input=0, output=0))

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


Recorded = dict[tuple[str, str, int], tuple[ChatRequest, ChatAnswer]]


def read_session(path: Path) -> Recorded:
    """The questions and answers of a session's file. Raises FileFormatError."""
    found: Recorded = {}
    number = 0
    try:
        with _open(path, "rt") as file:
            for number, text in enumerate(file, start=1):
                line = json.loads(text)
                if number == 1:
                    if line != HEADER:
                        raise FileFormatError("is no recorded session.", where=str(path))
                    continue
                request = ChatRequest.model_validate(line["request"])
                answer = ChatAnswer.model_validate(line["answer"])
                found[request.step, request.role, request.ordinal] = (request, answer)
        if not number:
            raise FileFormatError("is empty: no recorded session.", where=str(path))
    except FileNotFoundError:
        raise FileFormatError("there is no such recorded session.", where=str(path)) from None
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        what = f"is no line of a recorded session ({type(error).__name__})."
        raise FileFormatError(what, where=f"{path}:{number}") from None
    return found


def _open(path: Path, mode: str) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, mode, encoding="utf-8")
    return path.open(mode.rstrip("t"), encoding="utf-8")
