"""Cited works from servers that answer as OpenAlex, Semantic Scholar, arXiv, Crossref and GitHub do."""

from __future__ import annotations

import gzip
import io
import json
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import TEX, Answer, Server, tar_gz

from repro_pipeline.config import Fetch, LiteratureConfig
from repro_pipeline.paper.literature import Exclusions, Work, mismatch, same_title
from repro_pipeline.paper.model import Paper, Reference, Section, Source, SourceFormat
from resources.artifact_store import FsspecArtifactStore
from resources.literature import HttpLiterature

TITLE = "Deep Residual Learning for Image Recognition"
REFERENCE = Reference(
    key="he2016", text="", title=TITLE, authors=("Kaiming He", "Xiangyu Zhang"), year=2016
)
SHA = "0123456789abcdef0123456789abcdef01234567"


def target(text="", title="A Study of Networks that Are Our Own") -> Paper:
    return Paper(
        source=Source(file="p.tex", format=SourceFormat.LATEX, sha256="0" * 64, reader="test 1"),
        title=title,
        sections=(Section(title="Experiments", text=text),),
    )


def as_json(value, status=200, **more) -> Answer:
    return Answer(json.dumps(value).encode(), status, **more)


def openalex(title=TITLE, family="He", year=2016, links=()) -> dict:
    return {
        "id": "https://openalex.org/W2194775991",
        "doi": "https://doi.org/10.1109/cvpr.2016.90",
        "title": title,
        "display_name": title,
        "publication_year": year,
        "authorships": [
            {"author_position": "first", "author": {"display_name": f"Kaiming {family}"}}
        ],
        "open_access": {"is_oa": True, "oa_url": None},
        "locations": [{"landing_page_url": link, "pdf_url": None} for link in links],
    }


def found(*works) -> Answer:
    return as_json({"meta": {"count": len(works)}, "results": list(works)})


@pytest.fixture
def bring(server: Server, tmp_path):
    """Brings a work by providers of this server; notes how long it would have slept."""

    def go(*providers, reference=REFERENCE, paper=None, exclude=(), **settings):
        hosts = {
            name: server.url
            for name in ("openalex", "semantic_scholar", "arxiv", "crossref", "github")
        }
        config = LiteratureConfig(
            providers=providers or ("openalex",), interval=0.001, **{**hosts, **settings}
        )
        store = FsspecArtifactStore(str(tmp_path / "store"))
        go.store = store
        fetch = Fetch(arxiv=server.url, interval=0.001)
        made = HttpLiterature(config, fetch, store, sleep=go.slept.append)
        return made.bring(reference, Exclusions(paper or target(), exclude))

    go.slept = []
    return go


def test_a_work_is_found_by_title(server, bring):
    server.on("/works", found(openalex("Another Paper about Something Else"), openalex()))
    made = bring()
    assert (made.work.title, made.work.doi, made.work.year) == (TITLE, "10.1109/cvpr.2016.90", 2016)
    assert "Another Paper" in made.failures[0]


@pytest.mark.parametrize(
    "work",
    [
        openalex("Deep Residual Learning for Image Restoration"),
        openalex("Wide Residual Learning for Image Recognition"),
        openalex("Identity Mappings in Deep Residual Networks"),
        openalex(year=2006),
        openalex(family="Smith"),
    ],
)
def test_a_wrong_paper_is_refused_and_that_is_said(server, bring, work):
    server.on("/works", found(work))
    made = bring()
    assert made.work is None
    assert "refused" in made.failures[0]


def test_a_mistyped_id_takes_no_other_paper(server, bring):
    cited = REFERENCE.model_copy(update={"doi": "10.1/typo"})
    server.on(
        "/works/doi:10.1/typo",
        as_json({**openalex("Bees of the Alps"), "doi": "https://doi.org/10.1/typo"}),
    )
    server.on("/works", found())
    assert bring(reference=cited).work is None


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Answer(b"slow down", 429), "429"),
        (Answer(b"down", 500), "500"),
        (Answer(b"<html>", 200), "no JSON"),
        (Answer(b"", 200), "no JSON"),
        (as_json([]), "no JSON object"),
        (as_json({"results": "none"}), "no list"),
        (Answer(b"x", 0), "broke"),
        (Answer(b"{", 200, length=500), "broke off"),
        (Answer(b"no", 403), "refuses"),
        (Answer(b"{}", 200, wait=0.6), "did not answer"),
        (Answer(b"{}", 429, headers={"Retry-After": "3600"}), "wait for 3600 s"),
    ],
)
def test_a_bad_day_of_a_provider_ends_after_some_tries_and_the_next_is_asked(
    server, bring, answer, told
):
    server.on("/works", answer)
    server.on(
        "/graph/v1/paper/search",
        as_json(
            {
                "total": 1,
                "data": [
                    {
                        "title": TITLE,
                        "year": 2016,
                        "externalIds": {},
                        "authors": [{"name": "K. He"}],
                    }
                ],
            }
        ),
    )
    made = bring("openalex", "semantic_scholar", timeout=0.3)
    assert made.work.provider == "semantic_scholar"
    assert told in made.failures[0]
    assert server.asked.count("/works") <= 3


def test_busy_servers_are_waited_for(server, bring):
    server.on("/works", Answer(b"", 429, headers={"Retry-After": "7"}), found(openalex()))
    assert bring().work is not None
    assert 7 in bring.slept


def test_an_empty_answer_is_no_work(server, bring):
    server.on("/works", found())
    assert bring().work is None


def test_answers_are_kept(server, bring):
    server.on("/works", found(openalex()))
    bring()
    bring()
    assert server.asked.count("/works") == 1


ATOM = b"""<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom">
<entry><id>http://arxiv.org/abs/1512.03385v1</id><published>2015-12-10T00:00:00Z</published>
<title>Deep Residual Learning
  for Image Recognition</title><author><name>Kaiming He</name></author></entry></feed>"""
CROSSREF = {
    "status": "ok",
    "message": {
        "items": [
            {
                "title": [TITLE],
                "author": [{"given": "Kaiming", "family": "He"}],
                "issued": {"date-parts": [[2016, 6]]},
                "DOI": "10.1109/cvpr.2016.90",
            }
        ]
    },
}


@pytest.mark.parametrize(
    ("provider", "path", "answer"),
    [
        ("arxiv", "/api/query", Answer(ATOM)),
        ("crossref", "/works", as_json(CROSSREF)),
        ("openalex", "/works", found(openalex())),
    ],
)
def test_each_provider_s_shape_is_understood(server, bring, provider, path, answer):
    server.on(path, answer)
    made = bring(provider).work
    assert (made.title, made.provider, made.authors[0]) == (TITLE, provider, "He")


def test_a_single_work_by_doi_is_understood_in_each_shape(server, bring):
    cited = REFERENCE.model_copy(update={"doi": "10.1/x"})
    server.on("/works/doi:10.1/x", as_json(openalex()))
    assert bring("openalex", reference=cited).work is not None
    server.on("/works/10.1/x", as_json({"message": CROSSREF["message"]["items"][0]}))
    assert bring("crossref", reference=cited).work is not None
    server.on("/graph/v1/paper/DOI:10.1/x", as_json({"title": TITLE, "year": 2015}))
    assert bring("semantic_scholar", reference=cited).work is not None


def tarball(**files: bytes) -> Answer:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"owner-name-0123456/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return Answer(gzip.compress(buffer.getvalue()))


def with_code(server: Server, readme=b"ResNets", about=None, tree=None) -> None:
    server.on("/works", found(openalex(links=["https://github.com/KaimingHe/resnet"])))
    base = "/repos/KaimingHe/resnet"
    said = {
        "full_name": "KaimingHe/resnet",
        "fork": False,
        "default_branch": "main",
        "license": {"spdx_id": "MIT"},
    }
    server.on(base, as_json({**said, **(about or {})}))
    server.on(f"{base}/commits/main", as_json({"sha": SHA}))
    files = {"train.py": b"LR = 0.1\n", "README.md": readme, "model.bin": b"\0" * 10}
    server.on(f"{base}/tarball/{SHA}", tree or tarball(**files))


def test_code_is_pinned_and_only_what_matters_is_kept(server, bring):
    with_code(server)
    code = bring().code
    assert (code.commit, code.licence, code.repository) == (
        SHA,
        "MIT",
        "github.com/KaimingHe/resnet",
    )
    assert list(code.files) == ["train.py"]
    assert bring.store.get(code.files["train.py"]) == b"LR = 0.1\n"


@pytest.mark.parametrize(
    ("about", "readme", "said", "exclude", "rule"),
    [
        ({}, b"", "Our code is at https://github.com/kaiminghe/ResNet.", (), "own code"),
        ({}, b"", "", ("github.com/KaimingHe/resnet",), "task.yaml"),
        ({}, b"", "", ("https://www.github.com/KaimingHe",), "task.yaml"),
        ({"fork": True}, b"", "", (), "fork"),
        ({"mirror_url": "https://x.org/y"}, b"", "", (), "mirror"),
        (
            {"fork": True, "source": {"full_name": "us/ours"}},
            b"",
            "Our code is available: github.com/us/ours",
            (),
            "us/ours",
        ),
        ({"full_name": "us/ours"}, b"", "Our code is available: github.com/us/ours", (), "us/ours"),
        ({}, b"# Code of 'A study of networks that are our own'", "", (), "restate"),
    ],
)
def test_the_target_s_own_code_its_copies_and_its_results_are_never_looked_at(
    server, bring, about, readme, said, exclude, rule
):
    with_code(server, readme=readme, about=about)
    made = bring(paper=target(said), exclude=exclude)
    assert made.code is None
    assert rule in made.excluded[0].rule
    if "own code" in rule or "task.yaml" in rule:
        assert not [path for path in server.asked if path.startswith("/repos")]


@pytest.mark.parametrize(
    "said",
    [
        "Networks are as in https://github.com/KaimingHe/resnet.",
        "We use the official implementation, https://github.com/KaimingHe/resnet.",
        "We build on the code of [3], available at https://github.com/KaimingHe/resnet.",
        "The original authors provide it at https://github.com/KaimingHe/resnet.",
    ],
)
def test_code_of_a_cited_work_is_not_taken_for_the_target_s_own(server, bring, said):
    with_code(server)
    assert bring(paper=target(said)).code


@pytest.mark.parametrize(
    "said",
    [
        "We release everything at https://github.com/KaimingHe/resnet.",
        "All code is on https://github.com/KaimingHe/resnet.",
        "Code: https://github.com/KaimingHe/resnet",
        "We use our own code for it, https://github.com/KaimingHe/resnet.",
        "Our full implementation can be found here: https://github.com/KaimingHe/resnet.",
        "Models and data are available (https://github.com/KaimingHe/resnet/tree/main).",
    ],
)
def test_the_target_s_own_code_is_known_by_the_usual_words(server, bring, said):
    with_code(server)
    assert bring(paper=target(said)).code is None


def test_the_paper_itself_is_never_brought(server, bring):
    server.on("/works", found(openalex()))
    made = bring(paper=target(title=TITLE))
    assert (made.work, made.text) == (None, None)
    assert made.excluded[0].rule == "it is the paper itself"


@pytest.mark.parametrize("tree", [Answer(b"no archive"), Answer(b"", 500), Answer(b"", 404)])
def test_a_broken_archive_is_a_failure_and_no_crash(server, bring, tree):
    with_code(server, tree=tree)
    made = bring()
    assert made.work is not None
    assert made.code is None
    assert "its code" in " ".join(made.failures)


def test_a_text_is_brought_from_arxiv(server, bring):
    server.on("/works", found(openalex(links=["http://arxiv.org/abs/1512.03385"])))
    server.on("/e-print/1512.03385", Answer(tar_gz(main__tex=TEX)))
    made = bring()
    assert b"A Fetched Paper" in bring.store.get(made.text)


def test_no_network_is_a_sentence(server, bring):
    made = bring(openalex="http://127.0.0.1:1")
    assert made.work is None
    assert "does not reach" in made.failures[0]


@given(st.text(max_size=60), st.text(max_size=60))
def test_titles_are_compared_both_ways_alike(one, other):
    assert same_title(one, other) == same_title(other, one)


@given(
    st.lists(st.sampled_from("deep learning of graphs with noise and priors".split()), min_size=1)
)
def test_case_and_marks_of_a_title_do_not_count(words):
    title = " ".join(words)
    assert same_title(title, f"{title.upper()}.")
    cited = Reference(key="a", text="", title=title)
    assert mismatch(cited, Work(provider="arxiv", title=f"{title}!")) is None
    assert mismatch(cited, Work(provider="arxiv", title="Bees of the Alps")) is not None
