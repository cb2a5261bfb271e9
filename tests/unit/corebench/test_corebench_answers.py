"""CORE-Bench's rule, and answers that stand in the output or are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.corebench.answers import (
    AnswerMapping,
    Read,
    answer_fault,
    by_mapping,
    by_reader,
)
from repro_pipeline.corebench.score import AnswerGiven, number_in, score_task
from repro_pipeline.errors import UserError
from repro_pipeline.evidence.spans import CodeSpan
from repro_pipeline.imports.capsule import read_tasks

RUNS = [
    {"the mean": mean, "fig the best": "Forest", "the labels": ["a", 1], "the count": 3}
    for mean in (1.74, 1.75, 1.76)
]


def given_answers(**values) -> dict[str, AnswerGiven]:
    return {name.replace("_", " "): AnswerGiven(value=v, by="report") for name, v in values.items()}


def right(**values) -> set[str]:
    scored = score_task("c", RUNS, given_answers(**values))
    return {one.question for one in scored.questions if one.correct}


def test_a_number_is_right_within_the_prediction_interval():
    """t(2, 97.5 %) 4.302653 × sd 0.01 × √(4/3) = 0.0496828."""
    assert (
        right(the_mean=1.7996) == right(the_mean=1.7004) == right(the_mean="1.75%") == {"the mean"}
    )
    assert right(the_mean=1.7998) == right(the_mean=1.7002) == right(the_mean="about 1.75") == set()
    assert right(the_count=3) == right(the_count="3.0") == {"the count"}
    assert right(the_count=3.0000001) == set()


def test_texts_and_lists_are_the_first_runs():
    assert right(fig_the_best="forest") == {"fig the best"} and right(fig_the_best="tree") == set()
    assert right(the_labels=("a", 1)) == {"the labels"}
    assert right(the_labels=("a",)) == right(the_labels="['a', 1]") == set()


def test_an_answer_of_the_wrong_kind_fails_its_question_alone():
    assert right(the_mean=("x",), fig_the_best=2.0, the_labels=3.0, the_count=3) == {"the count"}


@pytest.mark.parametrize(
    ("truth", "answer", "is_right"),
    [
        (1, True, False),
        (True, True, True),
        (True, "true", True),
        (True, 1, False),
        ("True", True, True),
        ("3", 3, True),
        ("3", 3.0, False),
        (["a", True], ["a", True], True),
        (["a", 1], ["a", True], False),
        (0.1, 0.1, True),
        (0.1, 0.1000000001, False),
    ],
)
def test_an_answer_counts_as_it_is_written(truth, answer, is_right):
    """True was the number 1, and the integer 3 the text 3.0."""
    given = {"q": AnswerGiven(value=answer, by="report")}
    assert score_task("c", [{"q": truth}] * 3, given).solved is is_right


def test_a_task_is_solved_where_all_is_right_and_unanswered_is_not():
    whole = {"the_mean": 1.75, "fig_the_best": "FOREST", "the_labels": ("a", 1), "the_count": 3}
    scored = score_task("c", RUNS, given_answers(**whole))
    assert scored.solved and (scored.written, scored.vision, scored.answered) == ((3, 3), (1, 1), 4)
    del whole["fig_the_best"]
    scored = score_task("c", RUNS, given_answers(**whole))
    assert not scored.solved and (scored.vision, scored.answered) == ((0, 1), 3)
    assert score_task("c", RUNS, {}).answered == 0


@given(
    st.one_of(st.text(), st.floats(allow_nan=True), st.booleans(), st.none(), st.lists(st.text()))
)
def test_anything_is_a_number_or_none(value):
    found = number_in(value)
    assert found is None or isinstance(found, float)
    assert number_in(True) is None


OUTPUT = {
    "stdout": "epoch 1\nmean of the values: 1.75\nbest: Forest (12 %)\n",
    "out.json": json.dumps({"labels": ["a", 1], "best": "Forest"}),
}


def test_mappings_take_what_stands_there_and_say_what_does_not():
    found = by_mapping(
        [
            AnswerMapping(question="the mean", file="stdout", regex="mean.*: (.*)"),
            AnswerMapping(question="fig the", file="out.json", json="$.best"),
            AnswerMapping(question="the labels", file="out.json", json="$.labels"),
            AnswerMapping(question="the count", file="absent.csv", regex="x"),
        ],
        list(RUNS[0]),
        OUTPUT,
    )
    values = {question: one.value for question, one in found.items()}
    assert values == {
        "the mean": "1.75",
        "fig the best": "Forest",
        "the labels": ("a", 1),
        "the count": None,
    }
    assert found["the count"].why == "The run left no text absent.csv."
    for question in ("the", "nothing"):
        with pytest.raises(UserError, match="questions"):
            by_mapping([AnswerMapping(question=question, file="x", regex="y")], list(RUNS[0]), {})


def span(quote: str, first: int = 2, file: str = "stdout") -> CodeSpan:
    return CodeSpan(file=file, first=first, last=first, quote=quote)


@pytest.mark.parametrize(
    ("read", "fault"),
    [
        (Read(answer=1.75, evidence=(span("mean of the values: 1.75"),)), None),
        (Read(answer="forest", evidence=(span("best: Forest (12 %)", 3),)), None),
        (Read(answer=None), None),
        (Read(answer=1.75), "does not stand in the quoted"),
        (
            Read(answer=1.8, evidence=(span("mean of the values: 1.75"),)),
            "does not stand in the quoted",
        ),
        (
            Read(answer=1.75, evidence=(span("mean of the values: 1.8"),)),
            "does not stand in stdout",
        ),
        (Read(answer=1.75, evidence=(span("mean of the values: 1.75", file="x"),)), "no file x"),
        (Read(answer=("Forest", "tree"), evidence=(span("best: Forest (12 %)", 3),)), "'tree'"),
        (Read(answer=" ", evidence=(span("best: Forest (12 %)", 3),)), "does not stand"),
    ],
)
def test_a_readers_answer_stands_in_lines_that_it_quotes(read, fault):
    found = answer_fault(read, OUTPUT)
    assert found is None if fault is None else fault in found


READ = {
    "stdout": (
        "mean of it 17 5 and more\n"
        "total amount: 1,234.5 units\n"
        "Deforestation index v1.75.3\n"
        "F1 of all: 0.9 in 12.3s\n"
        "the loss is \u22120.5 and -0.25\n"
        "size 10k rows, 5%, range 10-20.\n"
        "[0.1,0.2] accuracy=0.95\n"
    ),
    "a.csv": "name,x,y,z\nforest,1,234,5.5\n",
}


@pytest.mark.parametrize(
    ("line", "quote", "right", "wrong"),
    [
        (1, "mean of it 175 and", (17, 5), (175,)),
        (2, "total amount: 1,234.5", (1234.5,), (234.5, 1)),
        (2, "amount: 1,23", (), (1, 23, 1.23)),
        (3, "Deforestation index v1.75.3", ("index",), ("forest", "a", 1.75, 75.3, 3)),
        (4, "F1 of all: 0.9 in 12.3s", (0.9, 12.3, "F1"), (1, 12, 9)),
        (5, "loss is \u22120.5 and -0.25", (-0.5, -0.25), (0.5, 0.25)),
        (5, "0.5 and -0.25", (-0.25,), (0.5, -0.5)),
        (6, "size 10k rows, 5%, range 10-20.", ("5%", 5, 10, 20), (-20,)),
        (6, "size 10k rows,", (), (10,)),
        (7, "[0.1,0.2] accuracy=0.9", ((0.1, 0.2),), (0.9, 0.95)),
        (7, "[0.1,0.2] accuracy=0.95", (0.95,), ((), True)),
    ],
)
def test_an_answer_is_what_the_file_says_where_it_is_quoted(line, quote, right, wrong):
    """Not what the quote says, whose spaces are not compared, and no part of a word or a number."""
    for answer in (*right, *wrong):
        fault = answer_fault(Read(answer=answer, evidence=(span(quote, line),)), READ)
        assert (fault is None) is (answer in right), (answer, fault)


def test_commas_part_the_cells_of_a_table():
    def fault(answer, quote):
        return answer_fault(Read(answer=answer, evidence=(span(quote, 2, "a.csv"),)), READ)

    assert fault(234, "forest,1,234,5.5") is fault(1, "forest,1,234") is None
    assert fault(1234, "forest,1,234,5.5") and fault(23, "forest,1,23")


@pytest.mark.parametrize(
    "value", ["null", "NaN", '{"b": 1}', "[[1]]", "[null]", '""', "9" * 400, '" "']
)
def test_what_is_no_answer_is_none(value):
    """A null was the text None, and counted as answered."""
    mapping = AnswerMapping(question="q", file="f", json="$.a")
    (one,) = by_mapping([mapping], ["q"], {"f": f'{{"a": {value}}}'}).values()
    assert one.value is None and one.by == "nobody" and one.why


def test_mappings_name_a_question_by_all_of_it_and_once():
    questions = ["the mean", "the mean of x"]
    found = by_mapping(
        [AnswerMapping(question="the mean", file="f", regex="1(2)?")], questions, {"f": "1"}
    )
    assert list(found) == ["the mean"] and found["the mean"].value is None
    twice = [AnswerMapping(question=one, file="f", regex="1") for one in ("the mean", "the mean")]
    for wrong in (twice, [AnswerMapping(question=" ", file="f", regex="1")]):
        with pytest.raises(UserError):
            by_mapping(wrong, questions, {})


def test_a_reader_sees_the_question_and_the_output_and_no_answer():
    asked = []

    def ask(*, prompt, values, answer_model, check):
        asked.append(str({name: str(value) for name, value in values.items()}))
        good = Read(answer=1.75, evidence=(span("mean of the values: 1.75"),))
        if "the mean" in asked[-1].split("Its")[0] and len(asked) == 1:
            assert check(good) is None
            return good
        if len(asked) == 2:
            raise UserError("the answer is no JSON.")
        return Read(answer=None)

    answers, stopped = by_reader(["the mean", "the labels", "the count"], "Run it.", OUTPUT, ask)
    assert stopped is None and answers["the mean"].place == "stdout:2-2"
    assert answers["the mean"].value == 1.75 and answers["the labels"].value is None
    assert "no JSON" in answers["the labels"].why and "nowhere" in answers["the count"].why
    assert all("mean of the values" in one and "1.74" not in one for one in asked)


def test_the_corpus_scores_its_own_runs_right(corpus: Path):
    """The first run's answers are right, but for a number outside the interval of all three: none is."""
    tasks = read_tasks(corpus / "corebench/core_tasks.json")
    assert len(tasks) > 20
    for task in tasks:
        own = {
            question: AnswerGiven(value=tuple(v) if isinstance(v, list) else v, by="report")
            for question, v in task.results[0].items()
        }
        scored = score_task(task.capsule_id, task.results, own)
        assert scored.solved, task.capsule_id
        assert scored.written[1] + scored.vision[1] == len(task.results[0])
        assert not score_task(task.capsule_id, task.results, {}).solved
        wrong = {q: AnswerGiven(value=f"not {one.value}", by="report") for q, one in own.items()}
        assert score_task(task.capsule_id, task.results, wrong).written[0] == 0
