"""Open a project: read `repro.yaml`, and put the adapters behind the domain's ports."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from repro_pipeline.config import CONFIG_NAME, ProjectConfig, Roles, find_project
from repro_pipeline.errors import BundleError, UserError
from repro_pipeline.places import resolved
from repro_pipeline.ports import ChatModel
from repro_pipeline.project import Project
from repro_pipeline.yamlfile import load_model

SECRET_NAME = "secret"
PROJECT_VARIABLE = "REPRO_PROJECT"
"""The environment variable that names the project's folder."""


def open_project(
    root: Path,
    *,
    runner: str | None = None,
    agent: bool = False,
    replay: str | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Project:
    """The project in the folder `root`. Raises UserError when a file of it is wrong.

    `agent`: an agent writes the code, even where there is some. `replay` is a session's file that
    answers all questions, in place of any model. `changes` are what one launch has otherwise than
    `repro.yaml`: `seeds`, `budget`, and `models` as names by role.
    """
    from resources.artifact_store import FsspecArtifactStore
    from resources.chat_replay import ReplayChat
    from resources.grobid import GrobidService
    from resources.ledger_sql import SqlLedger
    from resources.literature import HttpLiterature
    from resources.runners import make_images, make_runner
    from resources.slots import make_slots

    config = changed(load_model(root / CONFIG_NAME, ProjectConfig), changes or {})
    chat = _chat(config.models, replay)
    if isinstance(chat, ReplayChat):
        config = config.model_copy(update={"models": chat.roles})
    made = make_runner(runner or config.runner, config.docker)
    store = FsspecArtifactStore(_absolute_folder(config.store, root))
    works = config.literature
    return Project(
        root=root,
        config=config,
        ledger=SqlLedger(config.ledger, folder=root),
        store=store,
        runner=made,
        images=make_images(made, config.docker),
        secret=_secret(root / ".repro" / SECRET_NAME),
        slots=make_slots(config.slots),
        tei_service=GrobidService(config.grobid) if config.grobid else None,
        literature=HttpLiterature(works, config.fetch, store) if works else None,
        chat=chat,
        agent=agent or replay is not None,
    )


def changed(config: ProjectConfig, changes: Mapping[str, Any]) -> ProjectConfig:
    """A configuration with a launch's own seeds, budget and models. Raises UserError."""
    models = config.models.model_dump()
    for role, name in changes.get("models", {}).items():
        models[role] = {**(models[role] or {}), "model": name}
        if getattr(config.models, role) and getattr(config.models, role).model != name:
            models[role]["price"] = None  # the other model's
    others = {name: value for name, value in changes.items() if name != "models"}
    try:
        wanted = {**config.model_dump(by_alias=True), **others, "models": models}
        return ProjectConfig.model_validate(wanted)
    except ValidationError as error:
        said = error.errors()[0]
        where = ".".join(map(str, said["loc"]))
        raise UserError(f"{said['msg']}.", where=f"the launch's configuration, {where}") from None


def _chat(models: Roles, replay: str | None) -> ChatModel:
    """The models behind the roles, or a recorded session of them."""
    from resources.chat_litellm import LiteLlmChat
    from resources.chat_replay import ReplayChat

    return LiteLlmChat(models) if replay is None else ReplayChat(Path(replay))


def locate_project(start: Path) -> Path:
    """The project's folder at or above `start`. Raises BundleError where there is none."""
    root = find_project(resolved(start))
    if root is None:
        raise BundleError(
            f"there is no {CONFIG_NAME} here or above.",
            where=str(start),
            hint="Make a project with `repro init`, or go into one.",
        )
    return root


def _absolute_folder(store: str, root: Path) -> str:
    return store if "://" in store or store.startswith("/") else str(root / store)


def _secret(path: Path) -> bytes:
    """The project's secret; made at first use, readable by its owner alone, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        with tempfile.NamedTemporaryFile(dir=path.parent) as fresh:  # mode 0600
            fresh.write(secrets.token_bytes(32))
            fresh.flush()
            with contextlib.suppress(FileExistsError):
                os.link(fresh.name, path)
    return path.read_bytes()
