"""Sessions as files: every answered question of a paper, from the ledger, to be replayed elsewhere.

A session is a file of JSON lines (gzipped where its name ends in `.gz`): a header, then one line per
answered question with the request as it was sent (step, role and ordinal in it) and the answer.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from repro_pipeline.chat import ChatAnswer, ChatRequest
from repro_pipeline.config import Role, Roles
from repro_pipeline.errors import FileFormatError
from repro_pipeline.ledger.events import Event
from repro_pipeline.ports import ArtifactStore

HEADER = {"kind": "recorded-session", "schema": 1}

Recorded = dict[tuple[str, str, int], tuple[ChatRequest, ChatAnswer]]
"""Step, role and ordinal → question and answer."""


def recorded(events: Iterable[Event], store: ArtifactStore) -> Recorded:
    """The answered questions of a paper; of one that was asked in several forms, the last."""
    found: Recorded = {}
    for call in (event.content for event in events if event.kind == "model_called"):
        request = ChatRequest.model_validate_json(store.get(call.request))
        answer = ChatAnswer.model_validate_json(store.get(call.answer))
        found[call.step, call.role, call.ordinal] = (request, answer)
    return found


def roles_of(session: Recorded) -> Roles:
    """The models that a session was recorded with, as far as it hangs on them what is asked at all.

    Outside of the loop the reader looks for gaps, and the judge judges, only where `repro.yaml` names one.
    """
    model = {(step, role): answer.model for (step, role, _), (_, answer) in session.items()}
    cast = {
        "reader": model.get(("assumption_ledger", "reader")),
        "judge": model.get(("align", "judge")),
    }
    cast["coder"] = next(iter(model.values()), "recorded")
    return Roles(**{role: Role(model=name) for role, name in cast.items() if name})


def write_session(session: Recorded, path: Path) -> None:
    """Write a session's file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".partial.{path.name}")
    with _open(partial, "wt") as file:
        file.write(json.dumps(HEADER) + "\n")
        for request, answer in session.values():
            line = {
                "request": request.model_dump(mode="json"),
                "answer": answer.model_dump(mode="json"),
            }
            file.write(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n")
    partial.replace(path)


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
    except FileNotFoundError:
        raise FileFormatError("there is no such recorded session.", where=str(path)) from None
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        what = f"is no line of a recorded session ({type(error).__name__})."
        raise FileFormatError(what, where=f"{path}:{number}") from None
    if not number:
        raise FileFormatError("is empty: no recorded session.", where=str(path))
    return found


def _open(path: Path, mode: str) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, mode, encoding="utf-8")
    return path.open(mode, encoding="utf-8")
