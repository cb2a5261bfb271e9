"""The work whose procedure is followed comes before the one that is only mentioned, however often."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.lineage.rank import TOP, rank_references, read_references
from repro_pipeline.paper.latex.reader import read_latex
from repro_pipeline.paper.model import CitationContext, Paper, Reference, Source, SourceFormat

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "random-forests-2001"

MENTIONED = [
    "Ensembles of trees, introduced by [1], are among the most accurate classifiers.",
    "Since the seminal work of [1], many ways to grow ensembles were given by others [1, 5, 6].",
    "We use the term ensemble as defined in [1].",
    "The theory of [1] explains why.",
]
FOLLOWED = "We follow the training procedure of [2] and keep its schedule."
USED = "We use the optimiser of [3] with its default settings."
DATA = "The data are generated as described by [4]: ten inputs, of which five are noise."
RELATED = "Boosting [5] and bagging [6] are related; the settings of [5] differ from ours."
CONTRAST = "Unlike [6], we use no pruning."


def paper(*references):
    return Paper(
        source=Source(file="p.tex", format=SourceFormat.LATEX, sha256="0" * 64, reader="test 1"),
        title="A paper",
        references=references,
    )


def cited(key, *places):
    contexts = tuple(CitationContext(section=s, sentence=t) for s, t in places)
    return Reference(key=key, text=f"{key}.", contexts=contexts)


REALISTIC = paper(
    cited("seminal", *[("1 Introduction", sentence) for sentence in MENTIONED * 6]),
    cited("related", ("2 Related Work", RELATED), ("1 Introduction", MENTIONED[1])),
    cited("contrasted", ("5 Experiments", CONTRAST), ("2 Related Work", RELATED)),
    cited("optimiser", ("5.1 Implementation details", USED)),
    cited("data", ("4 Data", DATA)),
    cited("followed", ("5 Experiments", FOLLOWED)),
    cited("listed"),
)


def keys(lineage):
    return [ranked.key for ranked in lineage.ranked]


def test_what_is_followed_comes_before_what_is_mentioned_often():
    order = keys(rank_references(REALISTIC, {}))
    assert order[0] == "followed"
    assert set(order[1:3]) == {"optimiser", "data"}
    assert order.index("seminal") > order.index("data")
    assert order[-1] == "listed"


@pytest.mark.parametrize("times", [1, 10, 100, 1000])
def test_mentions_in_the_introduction_never_add_up_to_a_procedure(times):
    mentions = [("Introduction", sentence) for sentence in MENTIONED * times]
    pair = paper(cited("seminal", *mentions), cited("followed", ("Experimental setup", FOLLOWED)))
    assert keys(rank_references(pair, {})) == ["followed", "seminal"]


def test_a_further_mention_raises_a_work_a_little():
    once = cited("once", ("Experiments", FOLLOWED))
    twice = cited("twice", ("Experiments", FOLLOWED), ("Method", "It is like [1]."))
    assert keys(rank_references(paper(once, twice), {})) == ["twice", "once"]


def test_a_contrast_takes_nothing_over():
    taken = cited("taken", ("Experiments", "We use the settings of [6]."))
    contrasted = cited("contrasted", ("Experiments", "Unlike [6], we use other settings of ours."))
    found = rank_references(paper(contrasted, taken), {}).ranked
    assert [ranked.key for ranked in found] == ["taken", "contrasted"]
    assert found[1].reasons == ("cited in 'Experiments'",)


def test_each_work_says_why_it_stands_where_it_does():
    reasons = {r.key: r.reasons for r in rank_references(REALISTIC, {}).ranked}
    assert reasons["followed"] == ("cited in '5 Experiments' (followed)",)
    assert reasons["data"][0].startswith("cited in '4 Data' (the same as, described there")
    assert reasons["listed"] == ("listed, but no sentence that cites it was found",)
    assert len(reasons["seminal"]) == len(set(reasons["seminal"]))


@pytest.mark.parametrize(
    ("sentence", "cue"),
    [
        ("Following [1], we train for ten epochs.", "followed"),
        ("As followed by [1], we stop early.", "followed"),
        ("We take the same split as [1].", "the same as"),
        ("The problems are defined in [1].", "described there"),
        ("Data were taken from [1].", "taken from there"),
        ("The official implementation of [1] is run.", "uses its parts"),
        ("We adopt [1].", "used"),
    ],
)
def test_words_that_take_something_over_are_heard(sentence, cue):
    (found,) = rank_references(paper(cited("a", ("Experiments", sentence))), {}).ranked
    assert cue in found.reasons[0]


@pytest.mark.parametrize(
    "sentence",
    [
        "In the following we recall [1].",
        "The method works as follows [1].",
        "It was later improved [1].",
        "In contrast to [1], we use the following data.",
    ],
)
def test_words_that_only_look_so_are_not(sentence):
    (found,) = rank_references(paper(cited("a", ("Experiments", sentence))), {}).ranked
    assert found.reasons == ("cited in 'Experiments'",)


CONTEXTS = st.lists(
    st.tuples(
        st.sampled_from(["Introduction", "Experiments", "Method", "", "Appendix"]),
        st.sampled_from([*MENTIONED, FOLLOWED, USED, DATA, RELATED, CONTRAST]),
    ),
    max_size=6,
)


@given(st.lists(CONTEXTS, max_size=5), st.randoms())
def test_the_order_of_citing_and_listing_does_not_count(works, random):
    listed = [cited(f"k{n}", *contexts) for n, contexts in enumerate(works)]
    mixed = [cited(f"k{n}", *random.sample(c, len(c))) for n, c in enumerate(works)]
    random.shuffle(mixed)
    first, second = (rank_references(paper(*given), {}) for given in (listed, mixed))
    assert [(r.key, r.score) for r in first.ranked] == [(r.key, r.score) for r in second.ranked]
    scores = [ranked.score for ranked in first.ranked]
    assert scores == sorted(scores, reverse=True)


@given(CONTEXTS, CONTEXTS)
def test_being_cited_once_more_never_lowers_a_work(contexts, more):
    (fewer,) = rank_references(paper(cited("a", *contexts)), {}).ranked
    (many,) = rank_references(paper(cited("a", *contexts, *more)), {}).ranked
    assert many.score >= fewer.score


# --- texts at hand ------------------------------------------------------------------------------


def test_the_text_of_a_work_is_found_by_its_name_or_its_key():
    texts = {
        "references/data.md": "anything",
        "references/note-7.md": "---\ntitle: x\nkey: 'followed'\n---\n",
        "references/late.md": "x\n" * 2000 + "key: optimiser\n",
        "references/near.md": "key: seminal2\nkeys: seminal\n",
    }
    found = {r.key: r.local_file for r in rank_references(REALISTIC, texts).ranked}
    assert found["data"] == "references/data.md"
    assert found["followed"] == "references/note-7.md"
    assert found["optimiser"] is None
    assert found["seminal"] is None


def test_highly_ranked_works_without_a_text_are_named():
    lineage = rank_references(REALISTIC, {"references/followed.md": "x"})
    top = keys(lineage)[:TOP]
    assert lineage.unread == tuple(key for key in top if key != "followed")
    assert rank_references(paper(cited("listed")), {}).unread == ()


def test_only_texts_are_read_and_bad_bytes_do_not_matter(tmp_path):
    for name, content in {"a.md": b"caf\xe9", "b.pdf": b"%PDF", "c.py": b"x = 1"}.items():
        (tmp_path / name).write_bytes(content)
    texts = read_references(tmp_path, ["a.md", "b.pdf", "c.py"])
    assert set(texts) == {"a.md", "c.py"}
    assert texts["a.md"].startswith("caf")


def test_the_works_that_the_example_rests_on_come_first_with_their_notes():
    names = ["references/arcing-classifiers.md", "references/bias-variance-arcing.md"]
    lineage = rank_references(read_latex(EXAMPLE / "paper.tex"), read_references(EXAMPLE, names))
    first = {r.key: r.local_file for r in lineage.ranked[:3]}
    assert first["breiman1998arcing"] == names[0]
    assert first["breiman1996bias"] == names[1]
    assert set(lineage.unread) <= {"breiman1984cart"}
