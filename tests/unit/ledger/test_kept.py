"""The ledger that reads each event once."""

from __future__ import annotations

import pytest

from repro_pipeline.ledger.events import PROJECT_CHAIN, RubricSeen, WarningRecorded
from resources.kept_ledger import KeptLedger
from resources.ledger_sql import SqlLedger


class Counted(SqlLedger):
    """Counts the events that are read."""

    read = 0

    def events(self, chain, *, kinds=(), after=0):
        for event in super().events(chain, kinds=kinds, after=after):
            self.read += 1
            yield event


@pytest.fixture
def ledger(tmp_path):
    opened = Counted(f"sqlite:///{tmp_path}/ledger.sqlite")
    yield opened
    opened.close()


def note(ledger, text: str, chain: str = "paper"):
    return ledger.append(
        chain, WarningRecorded(code="c", sentence=text, stage="scores"), actor="code:x/1"
    )


def test_it_says_what_the_ledger_says_and_reads_each_event_once(ledger, tmp_path):
    kept = KeptLedger(ledger)
    note(kept, "one")
    ledger.append("paper", RubricSeen(rubric="0" * 64), actor="code:x/1")
    kept.renew()
    assert list(kept.events("paper")) == list(SqlLedger.events(ledger, "paper"))
    other = SqlLedger(f"sqlite:///{tmp_path}/ledger.sqlite")
    note(other, "by another process")
    other.close()
    kept.renew()
    for asked in ({}, {"kinds": {"warning_recorded"}}, {"after": 2}):
        whole = list(SqlLedger.events(ledger, "paper", **asked))
        assert list(kept.events("paper", **asked)) == whole
        assert whole
    assert ledger.read == 2  # what it appended itself it does not read
    assert kept.head("paper") == ledger.head("paper")


def test_what_others_appended_is_seen_when_it_is_asked_anew_or_appends(ledger):
    kept = KeptLedger(ledger)
    note(kept, "one")
    note(ledger, "by another")
    assert [event.seq for event in kept.events("paper")] == [1]
    note(kept, "three")
    assert list(kept.events("paper")) == list(SqlLedger.events(ledger, "paper"))
    assert [event.seq for event in kept.events("paper")] == [1, 2, 3]


def test_a_key_that_stands_is_not_written_again(ledger):
    kept = KeptLedger(ledger)
    first = note(ledger, "one")
    assert note(kept, "one") == first
    assert [event.seq for event in kept.events("paper")] == [1]


def test_only_one_paper_and_the_project_are_kept(ledger):
    kept = KeptLedger(ledger)
    for chain in ("a", "b", PROJECT_CHAIN):
        note(ledger, "one", chain)
    for chain in ("a", PROJECT_CHAIN, "b", PROJECT_CHAIN, "a"):
        assert [event.chain for event in kept.events(chain)] == [chain]
    assert ledger.read == 4
