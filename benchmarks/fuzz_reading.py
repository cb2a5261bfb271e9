"""Mutated papers of every format: each is read or refused with a sentence; no crash, no hang.

    python benchmarks/fuzz_reading.py CORPUS [--seed 1] [--count 500] [--minutes 30] [--keep FOLDER]

Files of CORPUS take turns by format. A mutation cuts, flips, repeats, moves or nests a piece of one,
or the elements of XML.
Anything but a `Paper` or a `PaperError`, computing for longer than SECONDS, or a process that dies
counts as a failure and is kept in FOLDER. Exit status 1 where there is one.
"""

from __future__ import annotations

import argparse
import copy
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

from repro_pipeline.errors import PaperError
from repro_pipeline.paper.read import _load, detect

SECONDS = 60
MEMORY = 4 << 30
LARGEST = 1 << 20
"""Of the text formats only files up to this size are taken."""

FORMATS = {
    "latex": ("tex/mlrc/2020/*/openreview/*.tex", "tex/aiscientist/*/latex/*.tex"),
    "archive": ("tex/*.tar.gz",),
    "jats": ("jats/*.nxml",),
    "tei": ("tei/*.tei.xml", "tei/nlp-tdms/*.tei.xml"),
    "markdown": (),
    "pdf": ("pdf/*.pdf",),
}

MARKDOWN = """---
title: A paper
---
# 1 Introduction

We follow [1, 3–5] and **Smith et al. (2019)**, $\\alpha \\leq 0.1$, `code | pipe`, [a](b_(c)).

Table 1: Results.

| Method | Acc. | *F*1 |
|:--|--:|---|
| A \\| B | 93.2 ± 0.4 | $9 1 . 0 \\pm 0.2$ |
| **C** | 0.5<sup>a</sup> | 1,234.5 |

<html><body><table><tr><td rowspan="2">M</td><td colspan="2">D</td></tr><tr><td>A</td><td>B</td></tr>
<tr><td>x</td><td>1.5</td><td>n/a</td></tr></table></body></html>

$$
y = \\frac{1}{2} \\tag{1}
$$

![](images/a.jpg)
Figure 1. A plot.

## References

[1] J. Smith. A study. J, 2019.
[2] Doe, K. Things. arXiv:1706.03762, 2017.
"""


def mutated(data: bytes, chance: random.Random) -> bytes:
    """One to four changes of a file."""
    for _ in range(chance.randint(1, 4)):
        data = _changed(data, chance) if data else data
    return data[: 8 << 20]


def _changed(data: bytes, chance: random.Random) -> bytes:
    at, to = chance.randrange(len(data)), chance.randrange(len(data))
    size = min(len(data) - at, 2 ** chance.randrange(14))
    piece = data[at : at + size]
    noise = bytes(chance.randrange(256) for _ in range(20))
    changes = {
        "cut": (data[:at], b"", b""),
        "lose": (data[:at], b"", data[at + size :]),
        "repeat": (data[:at], piece * chance.choice([2, 3, 50]), data[at + size :]),
        "move": (data[:to], piece, data[to:]),
        "flip": (data[:at], noise[:1], data[at + 1 :]),
        "insert": (data[:at], chance.choice(SPECIAL), data[at:]),
        "nest": (data[:at], chance.choice(SPECIAL) * 3000, data[at:]),
        "noise": (data[:at], noise, data[at:]),
    }
    return b"".join(changes[chance.choice(list(changes))])


def mutated_tree(data: bytes, chance: random.Random) -> bytes:
    """One to twenty changes of an XML file's elements, which leave it well-formed."""
    from lxml import etree

    root = etree.fromstring(data)
    for _ in range(chance.randint(1, 20)):
        elements = [element for element in root.iter() if isinstance(element.tag, str)]
        one, other = chance.choice(elements), chance.choice(elements)
        change = chance.randrange(6)
        if one is root:
            continue
        if change == 0:
            one.getparent().remove(one)
        elif change == 1:
            one.tag = other.tag
        elif change == 2:
            for _ in range(chance.choice([1, 2, 40])):
                one.addnext(copy.deepcopy(one))
        elif change == 3 and not any(around is one for around in other.iterancestors()):
            if other is not one:
                other.append(one)
        elif change == 4:
            names = [
                "rowspan",
                "colspan",
                "rows",
                "cols",
                "morerows",
                "coords",
                "rid",
                "target",
                "n",
            ]
            one.set(
                chance.choice(names), chance.choice(["0", "-1", "99999", "x", "1,2", "#b0", ""])
            )
        else:
            one.text = chance.choice([None, "", " ", "9" * 400, "1.5 2.5", "^_{", "Table 1", "–"])
    return etree.tostring(root)[: 8 << 20]


SPECIAL = [
    *(b"{", b"}", b"$", b"&", b"|", b"\\", b"<", b">", b"[", b"]", b"\0", b"\xff", b"\n", b"^_", b"#1"),
    *(b"<table>", b"</table>", b"<tr><td>", b"<cell>", b"<sup>", b"<p>", b"<sec>", b"\\begin{table}"),
    *(b"\\begin{tabular}{lll}", b"\\\\", b"\\multicolumn{99999}{c}{x}", b"\\multirow{9999}*{x}"),
    *(b'<td rowspan="9999" colspan="9999">', b"\\def\\a{\\a\\a}\\a", b"\\input{main}", b"&lt;"),
    *(b"10^{10^{10}}", b"9" * 50, b"- ", b"* ", b"[1", b"(Smith, 2019", b"1 0 obj<<", b"endobj", b"/Kids["),
]  # fmt: skip


def sources(corpus: Path) -> dict[str, list[Path]]:
    """The files that are mutated, by format."""
    found = {
        name: [
            path
            for pattern in patterns
            for path in sorted(corpus.glob(pattern))
            if name in {"pdf", "archive"} or path.stat().st_size < LARGEST
        ]
        for name, patterns in FORMATS.items()
    }
    return {name: paths for name, paths in found.items() if paths or name == "markdown"}


def cases(corpus: Path, seed: int, count: int) -> Iterator[tuple[str, str, bytes]]:
    """Format, file name and content of each case."""
    chance = random.Random(seed)
    by_format = sources(corpus)
    for at in range(count):
        name = list(by_format)[at % len(by_format)]
        if name == "markdown":
            yield name, "paper.md", mutated(MARKDOWN.encode(), chance)
            continue
        path = chance.choice(by_format[name])
        suffix = {"archive": ".tar.gz", "tei": ".tei.xml"}.get(name, path.suffix)
        whole = name in {"jats", "tei"} and chance.random() < 0.8
        change = mutated_tree if whole else mutated
        yield name, f"paper{suffix}", change(path.read_bytes(), chance)


def attempt(path: str) -> tuple[str, str, float]:
    """How a reading ended ('read', 'refused', 'hang', 'crash'), what was said, and its seconds."""

    def late(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    start = time.process_time()
    try:
        kind = detect(Path(path))
        _load(kind)(Path(path)).model_dump_json()
        ended, said = "read", ""
    except PaperError as error:
        ended, said = "refused", str(error)
    except TimeoutError:
        ended, said = "hang", traceback.format_exc()
    except BaseException:
        ended, said = "crash", traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return ended, said, time.process_time() - start


def _limited() -> None:
    """Bounds the memory of the process that reads."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main() -> int:
    """Prints per format how the readings ended; each failure with where it was raised."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--minutes", type=float, default=30, help="stop then, by the clock")
    parser.add_argument("--keep", type=Path, help="where files that make a reader fail are kept")
    options = parser.parse_args()
    ends: dict[str, Counter[str]] = defaultdict(Counter)
    slowest: dict[str, float] = defaultdict(float)
    with tempfile.TemporaryDirectory() as scratch:
        alone = _worker()
        end = time.monotonic() + 60 * options.minutes
        for at, (name, file, data) in enumerate(cases(options.corpus, options.seed, options.count)):
            if time.monotonic() > end:
                break
            path = Path(scratch) / str(at) / file
            path.parent.mkdir()
            path.write_bytes(data)
            try:
                ended, said, seconds = alone.submit(attempt, str(path)).result()
            except BrokenProcessPool:
                ended, said, seconds = "crash", "the process died", 0.0
                alone = _worker()
            ends[name][ended] += 1
            slowest[name] = max(slowest[name], seconds)
            if ended in {"hang", "crash"}:
                print(f"{ended} of {name}, case {at}: {said.strip()[-600:]}", flush=True)
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    (options.keep / f"{options.seed}-{at}-{file}").write_bytes(data)
            path.unlink()
        alone.shutdown()
    print(f"{'format':10} {'read':>6} {'refused':>8} {'hang':>5} {'crash':>6} {'slowest, s':>11}")
    for name, counts in ends.items():
        columns = [counts[end] for end in ("read", "refused", "hang", "crash")]
        print("{:10} {:6} {:8} {:5} {:6} {:11.1f}".format(name, *columns, slowest[name]))
    failures = sum(counts["hang"] + counts["crash"] for counts in ends.values())
    return int(failures > 0)


def _worker() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_limited)


if __name__ == "__main__":
    sys.exit(main())
