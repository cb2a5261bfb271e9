"""A launch's warnings in the terminal: no wall of text, and where to read all of them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from repro_pipeline.ledger.events import StageFinished, WarningRecorded
from repro_pipeline.status import Status
from repro_pipeline.terminal import Progress
from resources.ledger_sql import SqlLedger

WHERE = "`repro ledger show tiny --kind warning_recorded --json`"


def told(capsys, tmp_path, *sentences: str, stage: str | None = "parsed_paper") -> str:
    """What is printed of these warnings, by a stage or by none, until a stage ends."""
    ledger = SqlLedger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    with Progress(SimpleNamespace(ledger=ledger), "tiny"):
        for sentence in sentences:
            warning = WarningRecorded(code="reader", sentence=sentence, stage=stage)
            ledger.append("tiny", warning, actor="code:test")
        ended = StageFinished(
            stage="parsed_paper",
            inputs="0" * 64,
            status=Status.OK,
            reason=None,
            output="1" * 64,
            code_version="1",
            launch="one",
            seconds=1.0,
        )
        ledger.append("tiny", ended, actor="code:test")
    return " ".join(capsys.readouterr().err.split())


def test_a_long_list_is_cut_and_says_where_all_of_it_stands(capsys, tmp_path):
    items = ", ".join(f"gap-{n}" for n in range(14))
    text = told(capsys, tmp_path, f"Unsaid: {items}.")
    assert f"! Unsaid: gap-0, gap-1, gap-2, gap-3, gap-4, and 9 more ({WHERE})." in text
    assert "gap-5" not in text


@pytest.mark.parametrize("stage", ["parsed_paper", None])
def test_of_many_warnings_of_a_kind_the_first_are_shown_and_the_others_counted(
    capsys, tmp_path, stage
):
    text = told(capsys, tmp_path, *(f"Table {n} is doubtful." for n in range(15)), stage=stage)
    assert "Table 3 is doubtful." in text and "Table 4 is doubtful." not in text
    assert f"! 11 more such warnings ({WHERE})." in text


def test_few_warnings_are_shown_as_they_are(capsys, tmp_path):
    text = told(capsys, tmp_path, "One [bold]thing[/bold].", "Another.")
    assert "! One [bold]thing[/bold]. ! Another." in text and "more" not in text
