"""A name that is not known is met by the nearest that is, in every command that takes one."""

from __future__ import annotations

import pytest
from bundles import make_bundle

from repro_pipeline.cli import main

PAPER = "Did you mean 'tiny'? "
COMMANDS = [
    "run tinny",
    "run tinny --detach",
    "status tinny",
    "why tinny",
    "why tinny noisy-plain",
    "report tinny",
    "log tinny",
    "log tinny --follow",
    "logs tinny",
    "cancel tinny",
    "rescore tinny",
    "score-history tinny",
    "sweep tinny",
    "export tinny --format capsule --out out",
    "agent log tinny",
    "paper show tinny",
    "paper check tinny",
    "paper correct tinny --at 1,1,1 --value 1 --reason r",
    "claims tinny",
    "assumptions tinny",
    "gaps tinny",
    "download tinny",
    "split tinny rows --seed 1 --train 0.5",
    "review tinny",
    "review tinny noisy-plain --decision unclear --reason r",
    "ledger show tinny",
    "ledger export tinny --out out",
]
OTHERS = [
    ("run tiny --stage scors", "scores"),
    ("rum tiny", "run"),
    ("run tiny --runner bubblewarp", "bubblewrap"),
    ("assumptions tiny set data-sorce 3 --reason r", "data-source"),
    ("ledger show tiny --kind warning_recordd", "warning_recorded"),
    ("schema taks.yaml", "task.yaml"),
]


@pytest.fixture
def papers(project, tmp_path, capsys):
    """Two papers in the project, `tiny` read and `other` not."""
    for name in ("tiny", "other"):
        make_bundle(tmp_path / name)
        assert main(["add", str(tmp_path / name)]) == 0
    assert main(["run", "tiny", "--stage", "assumption_ledger"]) == 0


def said(capsys, *words: str) -> str:
    """What a command that is refused prints."""
    capsys.readouterr()
    try:
        assert main(words) == 2
    except SystemExit as end:  # by the parser
        assert end.code == 2
    return capsys.readouterr().err


def test_an_unknown_paper(papers, capsys):
    told = {words: said(capsys, *words.split()) for words in COMMANDS}
    assert [words for words, text in told.items() if PAPER not in text] == []


def test_other_unknown_names(papers, capsys):
    told = {words: (meant, said(capsys, *words.split())) for words, meant in OTHERS}
    missed = [w for w, (meant, text) in told.items() if f"Did you mean '{meant}'?" not in text]
    assert missed == []


def test_a_name_like_none_is_met_by_what_there_is(papers, capsys):
    told = said(capsys, "why", "zzzzzz")
    assert told == "error: there is no paper 'zzzzzz'. There are: other, tiny.\n"


def test_a_paper_that_is_there_is_told_what_it_lacks(papers, capsys):
    assert "'other' has no scores" in said(capsys, "why", "other")
    assert "nothing was done on 'other' yet" in said(capsys, "agent", "log", "other")
