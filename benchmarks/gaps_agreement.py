"""How well two readers agree on what papers say and leave unsaid, item by item of the checklist.

    python benchmarks/gaps_agreement.py

No corpus is needed: `tests/corpus/gaps_labels.yaml` and `gaps_labels_second.yaml` are compared over the
items that both label. Printed per paper and overall: agreement and Cohen's kappa over stated (a contradiction
states as well), missing and not applicable, without items that are unclear to either. Overall as well: with
unclear as a label of its own, so that no hard item is left out; and without pairs in which either says not
applicable, which the kind of a paper mostly settles. Then each item on which the readers differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import yaml
from gaps import LABELS, SAYS, labels_of

Pair = tuple[str, str]
FILES = ("gaps_labels.yaml", "gaps_labels_second.yaml")


def readers() -> tuple[dict, dict]:
    """Both readers' papers."""
    first, second = (yaml.safe_load((LABELS / f).read_text(encoding="utf-8")) for f in FILES)
    return first["papers"], second["papers"]


def coarse(entry: dict) -> dict[str, str]:
    """Each item's label, unclear too, and a contradiction as stated."""
    labels = {i: "stated" if s in SAYS else s for i, s, _ in labels_of(entry)}
    return labels | dict.fromkeys(entry.get("unclear", ()), "unclear")


def pairs(first: dict, second: dict) -> Iterator[tuple[str, str, Pair]]:
    """Paper, item and both labels, for what both readers label."""
    for name in first.keys() & second.keys():
        one, two = coarse(first[name]), coarse(second[name])
        for item in sorted(one.keys() & two.keys()):
            yield name, item, (one[item], two[item])


def agreement(rows: list[Pair]) -> tuple[float, float]:
    """The share of equal labels, and Cohen's kappa: 1 where only one label is used."""
    if not rows:
        return float("nan"), float("nan")
    same = sum(one == two for one, two in rows) / len(rows)
    ones, twos = Counter(one for one, _ in rows), Counter(two for _, two in rows)
    chance = sum(ones[label] * twos[label] for label in ones) / len(rows) ** 2
    return same, 1.0 if chance == 1 else (same - chance) / (1 - chance)


def line(name: str, rows: list[Pair]) -> str:
    same, kappa = agreement(rows)
    return f"{name:32} {len(rows):4} items  agreement {same:.3f}  kappa {kappa:.3f}"


def main() -> None:
    rows = sorted(pairs(*readers()))
    clear = [row for row in rows if "unclear" not in row[2]]
    for name in sorted({name for name, _, _ in rows}):
        print(line(name, [pair for paper, _, pair in clear if paper == name]))
    print()
    print(line("all", [pair for _, _, pair in clear]))
    print(line("all, unclear as a label", [pair for _, _, pair in rows]))
    said = [pair for _, _, pair in clear if "not_applicable" not in pair]
    print(line("all, stated and missing alone", said))
    print("\nfirst, second:")
    for name, item, (one, two) in rows:
        if one != two:
            print(f"  {name}: {item}: {one}, {two}")


if __name__ == "__main__":
    main()
