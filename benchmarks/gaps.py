"""How well the checklist's rules find what a paper says, and which cited works it rests on.

    python benchmarks/gaps.py CORPUS [--half develop] [--verbose]

Truth: `tests/corpus/gaps_labels.yaml` (items) and `tests/corpus/lineage_labels.yaml` (references), read by
a person's kind of reading from the papers' text, unclear items left out. Printed per half of the papers:
precision and recall of `stated` (a contradiction states as well) and of `missing`; the share of rightly
stated items with a span that holds the words by which the label was found; how often the needed reference
is the first, or among the first three; seconds per paper. `--verbose` prints each disagreement.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from repro_pipeline.commands.paper import source_in
from repro_pipeline.lineage.checklist import load_checklist
from repro_pipeline.lineage.gaps import Gap, find_gaps
from repro_pipeline.lineage.rank import rank_references
from repro_pipeline.paper.model import Paper
from repro_pipeline.paper.read import read_paper

LABELS = Path(__file__).resolve().parents[1] / "tests" / "corpus"
SAYS = {"stated", "contradicted"}


@dataclass(frozen=True)
class Judged:
    """One item of one paper: what a reader says, and what the rules say."""

    paper: str
    half: str
    item: str
    label: str
    quotes: tuple[str, ...]
    found: Gap

    @property
    def right_span(self) -> bool:
        """Whether a span holds the words by which the reader found it."""
        texts = [plain(span.text) for span in self.found.spans]
        return any(plain(quote) in text for quote in self.quotes for text in texts)


def plain(text: str) -> str:
    """Letters and digits only, so that spaces and signs of a format do not count."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def labels_of(entry: dict) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Item, label and quotes; unclear ones are left out."""
    for item, quote in entry.get("stated", {}).items():
        yield item, "stated", (quote,)
    for item, quotes in entry.get("contradicted", {}).items():
        yield item, "contradicted", tuple(quotes)
    for label in ("missing", "not_applicable"):
        for item in entry.get(label, ()):
            yield item, label, ()


def judged(name: str, entry: dict, paper: Paper) -> list[Judged]:
    """The labels of one paper beside what the rules find."""
    found = {gap.item: gap for gap in find_gaps(paper, load_checklist()).items}
    return [
        Judged(name, entry["half"], item, label, quotes, found[item])
        for item, label, quotes in labels_of(entry)
    ]


def precision_recall(pairs: Iterable[tuple[bool, bool]]) -> tuple[float, float, int]:
    """Of (true, found) pairs: precision, recall, and how many are true."""
    count = Counter(pairs)
    hit, extra, lost = count[True, True], count[False, True], count[True, False]
    return hit / max(hit + extra, 1), hit / max(hit + lost, 1), hit + lost


def print_figures(title: str, rows: list[Judged]) -> None:
    """Precision and recall of some judged items."""
    papers = len({row.paper for row in rows})
    print(f"{title}: {len(rows)} items of {papers} papers")
    for what, states in (
        ("stated", SAYS),
        ("missing", {"missing"}),
        ("not applicable", {"not_applicable"}),
    ):
        pairs = [(row.label in states, str(row.found.status) in states) for row in rows]
        precision, recall, count = precision_recall(pairs)
        print(f"  {what:<15} precision {precision:.3f}  recall {recall:.3f}  ({count} so labelled)")
    right = [row for row in rows if row.label in SAYS and str(row.found.status) in SAYS]
    print(
        f"  the labelled words stand in a span shown: {sum(r.right_span for r in right)}/{len(right)}"
    )
    said = [row for row in rows if str(row.found.status) == "contradicted"]
    true = sum(row.label == "contradicted" for row in said)
    print(
        f"  contradictions: {len(said)} said, {true} of them true, "
        f"{sum(row.label == 'contradicted' for row in rows)} labelled"
    )


def print_items(rows: list[Judged]) -> None:
    """Errors by item."""
    wrong: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        wrong[row.item][verdict(row)] += 1
    print("\nitem                      right  false stated  false missing")
    for item, count in wrong.items():
        if count["false stated"] or count["false missing"]:
            print(
                f"{item:<25} {count['']:>5}  {count['false stated']:>12}  {count['false missing']:>13}"
            )


def verdict(row: Judged) -> str:
    """Empty where it is right."""
    said, found = row.label in SAYS, str(row.found.status) in SAYS
    if said == found:
        return (
            "" if (row.label == "missing") == (row.found.status == "missing") else "applicability"
        )
    return "false stated" if found else "false missing"


def print_wrong(rows: list[Judged]) -> None:
    """Each disagreement with its span."""
    for row in rows:
        if (kind := verdict(row)) or str(row.found.status) == "contradicted":
            spans = " // ".join(f"[{s.section}] {s.text[:160]}" for s in row.found.spans[:2])
            print(
                f"{row.paper}\t{row.item}\t{kind}\t{row.label}->{row.found.status}\t{row.quotes}\t{spans}"
            )


def print_ranks(corpus: Path, half: str | None) -> None:
    """Where the needed references stand."""
    file = LABELS / "lineage_labels.yaml"
    if not file.is_file():
        return
    ranks: dict[str, list[int]] = defaultdict(list)
    for name, entry in yaml.safe_load(file.read_text(encoding="utf-8"))["papers"].items():
        if half not in (None, entry["half"]):
            continue
        order = [
            r.key for r in rank_references(read_paper(source_in(corpus / entry["file"])), {}).ranked
        ]
        rank = min((order.index(key) + 1 for key in entry["needed"] if key in order), default=999)
        ranks[entry["half"]].append(rank)
        ranks["all"].append(rank)
        print(f"  {name:<32} rank {rank} of {len(order)}")
    for title, found in ranks.items():
        first, three = sum(r == 1 for r in found), sum(r <= 3 for r in found)
        print(f"references, {title}: top-1 {first}/{len(found)}, top-3 {three}/{len(found)}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--half")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    papers = yaml.safe_load((LABELS / "gaps_labels.yaml").read_text(encoding="utf-8"))["papers"]
    rows, seconds = [], []
    for name, entry in papers.items():
        if options.half in (None, entry["half"]):
            paper = read_paper(source_in(options.corpus / entry["file"]))
            clock = time.perf_counter()
            rows += judged(name, entry, paper)
            seconds.append(time.perf_counter() - clock)
    if options.verbose:
        print_wrong(rows)
    for half in dict.fromkeys(row.half for row in rows):
        print_figures(half, [row for row in rows if row.half == half])
    print_figures("all", rows)
    print_items(rows)
    print(
        f"\nseconds per paper, reading apart: mean {sum(seconds) / len(seconds):.2f}, most {max(seconds):.2f}"
    )
    print_ranks(options.corpus, options.half)
    return 0


if __name__ == "__main__":
    sys.exit(main())
