"""Sentences, references, and which sentence cites which."""

from __future__ import annotations

import pytest

from repro_pipeline.paper.citations import (
    link_citations,
    mark,
    reference_from_text,
    resolve_marks,
    sentences,
    split_names,
)
from repro_pipeline.paper.model import Reference, Section


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("It works. So it does.", ["It works.", "So it does."]),
        ("See Fig. 3 and Smith et al. 2020. Next.", ["See Fig. 3 and Smith et al. 2020.", "Next."]),
        (
            "We use e.g. Adam. The rate is 0.1. Then",
            ["We use e.g. Adam.", "The rate is 0.1.", "Then"],
        ),
        ("J. Doe and A. B. Lee did. Yes!", ["J. Doe and A. B. Lee did.", "Yes!"]),
        ("It works (really). [3] says so.", ["It works (really).", "[3] says so."]),
        ("One\n\nTwo", ["One", "Two"]),
        ("", []),
    ],
)
def test_sentences(text, parts):
    assert list(sentences(text)) == parts


@pytest.mark.parametrize(
    ("text", "authors", "title", "year"),
    [
        (
            "Kyle Lo, Lucy Wang, and Vu Ha. 2020. A corpus of things. In ACL, pages 1990–2001.",
            ("Kyle Lo", "Lucy Wang", "Vu Ha"),
            "A corpus of things",
            2020,
        ),
        (
            "L. Breiman, “Random forests,” Machine Learning, vol. 45, pp. 5–32, 2001.",
            ("L. Breiman",),
            "Random forests",
            2001,
        ),
        (
            "Zou, H. and Hastie, T. Regularization. JRSS, 2005.",
            ("H. Zou", "T. Hastie"),
            "Regularization",
            2005,
        ),
        (
            "Breiman L (2001). Random forests. Machine Learning 45:5-32",
            ("Breiman L",),
            "Random forests",
            2001,
        ),
        ("Untitled thing", (), None, None),
    ],
)
def test_a_reference_from_its_text(text, authors, title, year):
    found = reference_from_text("k", text)
    assert (found.authors, found.title, found.year) == (authors, title, year)


@pytest.mark.parametrize(
    ("text", "doi", "arxiv"),
    [
        ("X. https://doi.org/10.18653/v1/N18-3011.", "10.18653/v1/N18-3011", None),
        ("X. arXiv preprint arXiv:1706.03762, 2017.", None, "1706.03762"),
        ("X. https://arxiv.org/abs/1706.03762v5", None, "1706.03762"),
        ("X. arXiv:hep-th/9901001", None, "hep-th/9901001"),
        ("X. Pages 1706.03762", None, None),
    ],
)
def test_identifiers(text, doi, arxiv):
    found = reference_from_text("k", text)
    assert (found.doi, found.arxiv) == (doi, arxiv)


def test_names():
    assert split_names("Lovelace, A. B., Babbage, C., & Boole, G.") == (
        "A. B. Lovelace",
        "C. Babbage",
        "G. Boole",
    )
    assert split_names("Ada Lovelace; Charles Babbage et al.") == (
        "Ada Lovelace",
        "Charles Babbage",
    )


REFERENCES = (
    Reference(key="a", text="Smith, J. 2019a. One.", authors=("J. Smith",), year=2019),
    Reference(key="b", text="Smith, J. 2019b. Two.", authors=("J. Smith",), year=2019),
    Reference(
        key="c",
        text="van der Maaten and Hinton. 2008.",
        authors=("Laurens van der Maaten",),
        year=2008,
    ),
)


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("Known (Smith, 2019a).", {"a"}),
        ("Smith et al. (2019b) know.", {"b"}),
        ("Both (Smith and Doe, 2019a,b) know; van der Maaten and Hinton (2008) too.", {"a", "c"}),
        ("Both (Smith, 2019a; van der Maaten & Hinton, 2008).", {"a", "c"}),
        ("In [1] and [3].", {"a", "c"}),
        ("In [1–3].", {"a", "b", "c"}),
        ("In earlier work¹,³.", {"a", "c"}),
        ("At 10^{2} and 2019.", set()),
    ],
)
def test_citations_are_found(text, cited):
    found = link_citations([Section(title="S", text=text)], REFERENCES)
    assert {reference.key for reference in found if reference.contexts} == cited


def test_marks_give_contexts_and_are_printed():
    section = Section(title="S", text=f"First {mark(['a', 'c'])}. Second {mark(['c'])}.")
    (printed,), references = resolve_marks(
        [section], REFERENCES, lambda keys: f"[{'+'.join(keys)}]"
    )
    assert printed.text == "First [a+c]. Second [c]."
    assert [len(reference.contexts) for reference in references] == [1, 0, 2]
    assert references[0].contexts[0].sentence == "First [a+c]."
