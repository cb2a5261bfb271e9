"""A desk with a real ledger and store, and a model that the test scripts."""

from __future__ import annotations

import pytest

from repro_pipeline.asking.ask import Desk, no_guard
from repro_pipeline.asking.budget import Account
from repro_pipeline.bundle.task import Budget
from repro_pipeline.config import Role, Roles
from resources.artifact_store import FsspecArtifactStore
from resources.ledger_sql import SqlLedger

ROLES = Roles(**{role: Role(model="scripted") for role in ("reader", "planner", "coder", "judge")})


@pytest.fixture
def make_desk(tmp_path):
    ledger = SqlLedger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    store = FsspecArtifactStore(str(tmp_path / "store"))

    def make(chat, *, guard=no_guard, budget=None, waits=None) -> Desk:
        return Desk(
            paper="tiny",
            chat=chat,
            roles=ROLES,
            ledger=ledger,
            store=store,
            account=Account(ledger, "tiny", budget or Budget()),
            guard=guard,
            actor="code:test",
            wait=(waits.append if waits is not None else lambda seconds: None),
        )

    yield make
    ledger.close()
