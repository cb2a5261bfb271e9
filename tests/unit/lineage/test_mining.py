"""What a paper leaves unsaid, filled from reference texts, code, defaults: with evidence, or not at all."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.bundle.task import Task
from repro_pipeline.bundle.terms import AssumptionGiven, AssumptionSource
from repro_pipeline.lineage.defaults import load_defaults, unsaid
from repro_pipeline.lineage.ledger import assumptions_of, base_of, changed
from repro_pipeline.lineage.mine_code import settings_of, snake
from repro_pipeline.lineage.model import Lineage, OpenGap, RankedReference
from repro_pipeline.paper.model import Paper, Section, Source, SourceFormat

SAID = (
    "We train a convolutional neural network on images by back-propagation with Adam. "
    "The network has two hidden layers. It is implemented in PyTorch. "
    "A neural network like this needs no tricks."
)
NOTE = """---
key: he2016
---

# Notes

Nothing here.

The models were trained with a mini-batch
size of 128 images. We train for 64 epochs.
"""
CODE = """
import argparse
from dataclasses import dataclass

parser = argparse.ArgumentParser()
parser.add_argument("-b", "--batch-size", type=int, default=64)
parser.add_argument("--name", default="x")
raise SystemExit("must not run")

@dataclass
class Config:
    weight_decay: float = 1e-4

def train(model, *, warmup_steps=500): ...
"""
TEXTS = {"references/note.md": NOTE, "references/goyal2017/main.py": CODE}
LINEAGE = Lineage(
    ranked=(
        RankedReference(
            key="he2016", title=None, score=9, reasons=(), local_file="references/note.md"
        ),
        RankedReference(key="goyal2017", title=None, score=5, reasons=()),
    )
)


def paper(text=SAID, year=2019):
    return Paper(
        source=Source(file="p.tex", format=SourceFormat.LATEX, sha256="0" * 64, reader="test 1"),
        title="A paper",
        year=year,
        sections=(Section(title="Experiments", text=text),),
    )


def ledger(*, texts=TEXTS, task=None, changes=None, said=SAID, year=2019):
    return assumptions_of(task or Task(), texts, LINEAGE, paper(said, year), changes or {})


def by_id(found):
    return {one.id: one for one in found.assumptions}


def test_text_is_trusted_before_code_and_both_are_kept_with_their_places():
    found = by_id(ledger())["batch-size"]
    assert (found.value, found.alternatives) == (128, (64,))
    assert (found.source.kind, found.source.reference, found.source.line) == (
        "reference",
        "he2016",
        9,
    )
    assert [c.source.kind for c in found.candidates] == ["reference", "reference_code"]
    code = found.candidates[1].source
    assert (code.file, code.line, code.reference) == (
        "references/goyal2017/main.py",
        6,
        "goyal2017",
    )
    assert "--batch-size" in code.quote
    assert found.proposed_by == "lineage"
    assert "he2016" in found.why


def test_code_is_read_and_not_run():
    found = by_id(ledger())
    assert found["regularisation"].value == 1e-4
    assert found["warm-up"].value == 500
    assert found["warm-up"].source.line == 14


def test_the_library_s_default_of_the_paper_s_date_fills_what_no_work_says():
    found = by_id(ledger())["optimiser-parameters"]
    assert found.source.kind == "framework_default"
    assert "0.999" in found.value
    keras = SAID.replace("PyTorch", "Keras")
    old = by_id(ledger(said=keras, year=2016))["optimiser-parameters"].value
    new = by_id(ledger(said=keras, year=2020))["optimiser-parameters"].value
    assert ("1e-8" in old, "1e-7" in new) == (True, True)
    undated = ledger(said=keras, year=None)
    assert "optimiser-parameters" not in by_id(undated)


def test_a_default_says_nothing_that_the_paper_says_otherwise():
    said = SAID.replace("with Adam", "with AdamW, a learning rate of 1e-3 and weight decay of 0.5")
    found = by_id(ledger(said=said))["optimiser-parameters"]
    assert found.value == "betas (0.9, 0.999), eps 1e-8"
    assert found.statement.endswith(
        "The paper does not say; assumed: betas (0.9, 0.999), eps 1e-8."
    )
    assert unsaid("momentum 0, no Nesterov", "SGD, 0.01 weight decay") == "momentum 0, no Nesterov"
    assert unsaid("momentum 0", "with 0.9 momentum") == ""
    assert unsaid("float32", "32 bits") == "float32"


def test_what_no_source_says_stays_a_named_gap():
    found = ledger(texts={})
    gaps = [gap.item for gap in found.gaps]
    assert "batch-size" in gaps
    assert "batch-size" not in by_id(found)
    assert any("batch-size" in warning for warning in found.warnings)
    assert not set(gaps) & set(by_id(found))


def test_hardware_and_seeds_of_others_are_not_taken_over():
    texts = {"references/note.md": NOTE + "\nAll was run on a V100 GPU with seed 7.\n"}
    assert {"hardware", "seeds"} <= {gap.item for gap in ledger(texts=texts).gaps}


GIVEN = AssumptionGiven(
    id="images-per-step",
    topic="batch-size",
    statement="256 images",
    value=256,
    source=AssumptionSource(kind="human"),
)


def test_what_the_task_says_is_not_mined():
    found = ledger(task=Task(assumptions=(GIVEN,)))
    assert by_id(found)["images-per-step"].value == 256
    assert "batch-size" not in by_id(found)


def test_a_persons_change_counts_and_keeps_what_was_before():
    before = by_id(ledger())["batch-size"]
    made = changed(before, 32, by="human:ada", reason="the authors told me", base=None)
    found = by_id(ledger(changes={"batch-size": made}))["batch-size"]
    assert (found.value, found.alternatives[0]) == (32, 128)
    assert (found.source.kind, found.proposed_by) == ("human", "human:ada")
    assert found.candidates == before.candidates


def test_a_person_fills_a_gap():
    gap = next(gap for gap in ledger(texts={}).gaps if gap.item == "batch-size")
    assert isinstance(gap, OpenGap)
    made = changed(gap, 16, by="human:ada", reason="e-mail", base=None)
    found = ledger(texts={}, changes={"batch-size": made})
    assert by_id(found)["batch-size"].value == 16
    assert "batch-size" not in {gap.item for gap in found.gaps}


def test_a_change_of_other_words_of_the_task_is_told_and_not_used():
    task = Task(assumptions=(GIVEN,))
    before = by_id(ledger(task=task))["images-per-step"]
    made = changed(before, 32, by="human:ada", reason="why not", base=base_of(GIVEN))
    assert by_id(ledger(task=task, changes={made.id: made}))[made.id].value == 32
    other = Task(assumptions=(GIVEN.model_copy(update={"value": 512}),))
    found = ledger(task=other, changes={made.id: made})
    assert by_id(found)[made.id].value == 512
    assert any("is not used" in warning for warning in found.warnings)


def test_a_paper_that_contradicts_itself_is_told():
    said = SAID + "\n\nWe use a batch size of 32.\n\nThe batch size is 64."
    assert any("contradicts itself on batch-size" in w for w in ledger(said=said).warnings)


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.py", "lr = 0.1", ("lr", 0.1, 1)),
        ("a.py", "x = 1\n\nLEARNING_RATE: float = 1e-3", ("LEARNING_RATE", 1e-3, 3)),
        ("a.py", "opt = Adam(\n  lr=3e-4)", ("lr", 3e-4, 2)),
        ("a.py", "def f(a, lr=0.5): ...", ("lr", 0.5, 1)),
        ("a.py", "def f(*, lr=0.5): ...", ("lr", 0.5, 1)),
        ("a.py", "C = {'lr': 0.2}", ("lr", 0.2, 1)),
        ("a.py", "class C:\n  betas: tuple = (0.9, 0.98)", ("betas", "(0.9, 0.98)", 2)),
        ("a.py", "@click.option('--lr', default=-1.0)\ndef f(lr): ...", ("--lr", -1.0, 1)),
        ("a.yaml", "train:\n  lr: 1e-3\n", ("lr", 0.001, 2)),
        ("a.yml", "- {lr: 2}", ("lr", 2, 1)),
        ("a.json", '{"a": 1,\n "lr": 0.25}', ("lr", 0.25, 2)),
    ],
)
def test_settings_are_read_from_every_usual_place(name, text, found):
    assert found in [(s.name, s.value, s.line) for s in settings_of(name, text)]


@pytest.mark.parametrize("name", ["a.py", "a.yaml", "a.json"])
@given(text=st.text(max_size=200))
def test_no_file_breaks_the_reading_of_settings(name, text):
    lines = text.count("\n") + text.count("\r") + 1
    for setting in settings_of(name, text):
        assert 1 <= setting.line <= lines + 1


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,8}", fullmatch=True).filter(
            lambda name: name not in {"null", "true", "yes", "no", "on", "off", "y", "n", "false"}
        ),
        st.integers(-1000, 1000),
        min_size=1,
    )
)
def test_scalars_of_a_configuration_come_out_as_they_were_put_in(settings):
    found = {s.name: s.value for s in settings_of("a.json", json.dumps(settings, indent=1))}
    assert found == settings
    text = "".join(f"{name}: {value}\n" for name, value in settings.items())
    assert {s.name: s.value for s in settings_of("a.yaml", text)} == settings


def test_names_in_all_styles_are_one():
    assert {snake(n) for n in ("--batch-size", "batchSize", "BATCH_SIZE", "batch_size")} == {
        "batch_size"
    }


def test_every_default_says_where_it_is_from_and_is_for_a_known_item():
    from repro_pipeline.lineage.checklist import load_checklist

    checklist = load_checklist()
    items = {item.id for item in checklist.items}
    for default in load_defaults():
        assert default.item in items
        assert set(default.kinds) <= set(checklist.kinds)
        assert default.source.strip()
