"""The checklist on labelled papers: the labels quote the papers, and the rules find most of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import gaps as benchmark

from repro_pipeline.commands.paper import source_in
from repro_pipeline.lineage.checklist import load_checklist
from repro_pipeline.paper.read import read_paper

LABELS = yaml.safe_load((benchmark.LABELS / "gaps_labels.yaml").read_text(encoding="utf-8"))[
    "papers"
]
QUICK = ["hybrid_semi_markov_crf", "story_cloze", "rl_lr_adaptation", "baanders2021reproducibility"]
SLOW = sorted(set(LABELS) - set(QUICK))


def everything(paper) -> str:
    """All that a paper says."""
    texts = [paper.title, paper.abstract, *(s.title + s.text for s in paper.sections)]
    texts += [caption.text for caption in paper.figures]
    for table in paper.tables:
        texts += [table.caption, *(cell.text for row in table.grid for cell in row)]
    return benchmark.plain(" ".join(texts))


def rows_of(corpus: Path, names: list[str]) -> list[benchmark.Judged]:
    rows = []
    for name in names:
        paper = read_paper(source_in(corpus / LABELS[name]["file"]))
        said = everything(paper)
        labels = list(benchmark.labels_of(LABELS[name]))
        lost = [q for _, _, quotes in labels for q in quotes if benchmark.plain(q) not in said]
        assert not lost, f"{name}: the labels quote what does not stand in it: {lost}"
        rows += benchmark.judged(name, LABELS[name], paper)
    return rows


def check(rows: list[benchmark.Judged], least: float) -> None:
    for states in (benchmark.SAYS, {"missing"}):
        pairs = [(row.label in states, str(row.found.status) in states) for row in rows]
        precision, recall, _ = benchmark.precision_recall(pairs)
        assert precision >= least, f"precision of {states}"
        assert recall >= least, f"recall of {states}"
    wrong = [r for r in rows if r.found.status == "contradicted" and r.label != "contradicted"]
    assert not wrong, "a contradiction where the paper has none"


def test_each_item_is_labelled_once():
    items = {item.id for item in load_checklist().items}
    for name, entry in LABELS.items():
        labelled = [item for item, _, _ in benchmark.labels_of(entry)] + entry.get("unclear", [])
        assert len(labelled) == len(set(labelled)), name
        assert set(labelled) <= items, name
    assert sum(1 for entry in LABELS.values() for _ in benchmark.labels_of(entry)) >= 600


def test_rules_find_what_some_papers_say_and_leave_unsaid(corpus):
    check(rows_of(corpus, QUICK), 0.85)


@pytest.mark.slow
def test_rules_find_what_the_other_papers_say_and_leave_unsaid(corpus):
    check(rows_of(corpus, SLOW), 0.85)
