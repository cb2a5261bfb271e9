"""The bundled linear models agree with themselves: claims, experiments, assumptions, papers and notes."""

import re
from pathlib import Path

import pytest

from repro_pipeline.bundle.folder import open_bundle
from repro_pipeline.claims.extract import extract_claims
from repro_pipeline.experiment.load import load_experiments
from repro_pipeline.paper.markdown import read_markdown

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
BUNDLES = {name: EXAMPLES / name for name in ("elastic-net-2005", "lars-2004")}
PAPERS = {name: read_markdown(folder / "paper.md") for name, folder in BUNDLES.items()}


@pytest.fixture(params=BUNDLES)
def name(request):
    return request.param


@pytest.fixture
def task(name):
    return open_bundle(BUNDLES[name]).task


@pytest.fixture
def claims(name, task):
    return extract_claims(PAPERS[name], task)


@pytest.fixture
def experiments(name, claims):
    return load_experiments(BUNDLES[name] / "code", claims)[1]


def test_every_claim_has_a_value_from_its_own_place(claims, name):
    assert len(claims.claims) == {"elastic-net-2005": 16, "lars-2004": 24}[name]
    assert all(claim.value is not None for claim in claims.claims)
    assert len({str(claim.address) for claim in claims.claims}) == len(claims.claims)


def test_no_reported_value_stands_outside_of_the_paper(claims, name):
    """Whole numbers also number things; what could only be a result stands in the paper alone."""
    printed = {
        text
        for claim in claims.claims
        if "." in (text := f"{abs(claim.value):g}") and len(text) > 3
    }
    assert len(printed) >= 8
    folder = BUNDLES[name]
    for file in [folder / "task.yaml", *(folder / "code").rglob("*.py"), *folder.rglob("*.json")]:
        numbers = set(re.findall(r"\d+\.\d+", file.read_text(encoding="utf-8")))
        assert not numbers & printed, f"{file.name}: {numbers & printed}"


def test_the_code_covers_every_claim_and_each_alternative(claims, task, experiments):
    covered = [c for one in experiments if one.kind == "baseline" for c in one.claims]
    assert sorted(covered) == sorted(claim.id for claim in claims.claims)
    tested = {(one.assumption, one.id) for one in experiments if one.kind == "sensitivity"}
    high = {(a.id, a.sensitivity) for a in task.assumptions if a.influence == "high"}
    assert tested == high and tested


def test_what_an_assumption_quotes_stands_in_its_source(name, task):
    for one in task.assumptions:
        folder = BUNDLES[name]
        file = folder / one.source.file if one.source.file else folder / "paper.md"
        text = " ".join(file.read_text(encoding="utf-8").split())
        assert (one.source.quote or "") in text, one.id


def test_the_notes_say_where_the_values_come_from(name):
    notes = (BUNDLES[name] / "README.md").read_text(encoding="utf-8")
    assert re.search(r"not re-read|not the original|recalled", notes)
    assert "repro run " + name in notes


def test_the_declared_data_are_the_bundled_ones():
    bundle = open_bundle(BUNDLES["lars-2004"])
    (data,) = bundle.task.data
    assert bundle.files[data.path] == data.sha256


def test_the_locks_have_hashes_and_name_no_index(name):
    lock = (BUNDLES[name] / "code" / "requirements.lock").read_text(encoding="utf-8")
    assert lock.count("--hash=sha256:") >= len(re.findall(r"^[\w.-]+==", lock, re.M)) > 3
    assert "://" not in lock
