"""Works from outside: nothing is asked unless repro.yaml says so; what is brought is mined and shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro_pipeline.cli import main
from repro_pipeline.lineage.model import AssumptionLedger, Lineage
from repro_pipeline.paper.literature import Brought, CodeTree, Excluded, Work
from repro_pipeline.stages import latest, output_of
from tests.bundles import make_bundle

STAGE = ("--stage", "assumption_ledger")


class Scripted:
    """Brings one text, one file of code and one exclusion for whatever is cited."""

    asked: list[str] = []

    def __init__(self, config, fetch, store) -> None:
        self._store = store

    def bring(self, reference, exclusions) -> Brought:
        self.asked.append(reference.key)
        code = CodeTree(
            repository="github.com/a/b",
            commit="0" * 40,
            licence=None,
            files={"src/clean.py": self._store.put(b"x = 1\n")},
        )
        return Brought(
            key=reference.key,
            work=Work(provider="arxiv", title="A method of estimation"),
            text=self._store.put(b"Notes.\n\nOutliers were discarded before training.\n"),
            code=code,
            excluded=(Excluded(what="github.com/us/ours", rule="task.yaml: exclude"),),
            failures=("crossref: the server answers 500",),
        )


@pytest.fixture
def literature(monkeypatch: pytest.MonkeyPatch) -> type[Scripted]:
    monkeypatch.setattr("resources.literature.HttpLiterature", Scripted)
    Scripted.asked = []
    return Scripted


def test_nothing_is_asked_without_leave(project: Path, opened, literature):
    make_bundle(project / "papers" / "tiny")
    assert main(["run", "tiny", *STAGE]) == 0
    assert literature.asked == []
    lineage = output_of(opened, latest(opened, "tiny", "paper_lineage"), Lineage)
    assert (lineage.brought, len(lineage.unread)) == ((), 1)


def test_what_is_brought_is_mined_and_what_was_refused_is_recorded(project: Path, literature):
    from resources import project as resource

    make_bundle(project / "papers" / "tiny")
    (project / "repro.yaml").write_text("schema: 1\nliterature: {top: 1}\n")
    resource._open.cache_clear()
    assert main(["run", "tiny", *STAGE]) == 0
    from resources.opening import open_project

    opened = open_project(project)
    assert len(literature.asked) == 1
    ledger = output_of(opened, latest(opened, "tiny", "assumption_ledger"), AssumptionLedger)
    (mined,) = [one for one in ledger.assumptions if one.id == "anomalous-samples"]
    assert mined.source.file == f"brought/{literature.asked[0]}/paper.txt"
    assert (mined.source.line, mined.source.reference) == (3, literature.asked[0])
    told = [e.content.sentence for e in opened.ledger.events("tiny", kinds={"warning_recorded"})]
    assert any("github.com/us/ours: task.yaml: exclude" in sentence for sentence in told)
    assert any("500" in sentence for sentence in told)
    assert main(["run", "tiny", *STAGE]) == 0
    assert len(literature.asked) == 1
