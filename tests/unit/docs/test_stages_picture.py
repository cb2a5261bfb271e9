"""The picture of the stages is of the program's own assets, and says the same in words."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "docs"))
import graph

DOCS = graph.DOCS
NAMES = "{http://www.w3.org/2000/svg}"


def test_picture_and_words_are_those_of_the_assets():
    """After a change of the graph: `python docs/graph.py`."""
    given, page = graph.stages(), graph.PAGE.read_text(encoding="utf-8")
    assert graph.PICTURE.read_text(encoding="utf-8") == graph.svg(given)
    assert graph.page_with(page, given) == page and graph.BEGIN in page


def test_every_stage_is_a_box_and_every_arrow_follows_from_an_input():
    given = graph.stages()
    tree = ElementTree.fromstring(graph.PICTURE.read_text(encoding="utf-8"))
    texts = [one.text for one in tree.iter(f"{NAMES}text")]
    assert set(given.inputs) <= set(texts)
    kept = graph.reduced(given.inputs)
    assert all(set(kept[name]) <= set(given.inputs[name]) for name in kept)
    reach = {name: reached(name, kept) for name in kept}
    assert all(set(names) <= reach[name] for name, names in given.inputs.items())


def reached(name: str, inputs) -> set[str]:
    return set(inputs[name]).union(*(reached(one, inputs) for one in inputs[name]))


def test_no_page_leaves_a_diagram_to_a_program_from_elsewhere():
    for page in DOCS.rglob("*.md"):
        assert not re.search(r"^ *```+ *(mermaid|dot|plantuml)", page.read_text("utf-8"), re.M), (
            page
        )
