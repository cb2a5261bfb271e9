"""PaperBench rubrics: reading, exact scores, grades by code, what a judge may see, and the command."""

from __future__ import annotations

import json
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.cli import main
from repro_pipeline.errors import FileFormatError
from repro_pipeline.paperbench.facts import (
    Facts,
    GradesFile,
    grades_by_number,
    grades_from_file,
    named_number,
)
from repro_pipeline.paperbench.judge import (
    LeafAnswer,
    by_rule,
    decide,
    judge_leaves,
    visible,
)
from repro_pipeline.paperbench.reproduce import Reproduced
from repro_pipeline.paperbench.score import Grade, grades_of, leaf_shares, score_tree
from repro_pipeline.paperbench.tree import (
    Category,
    GradedNode,
    TaskNode,
    leaves,
    parse_tree,
    shared_ids,
    weight_of,
)
from repro_pipeline.scoring.rubric import Rubric
from repro_pipeline.scoring.score import score
from repro_pipeline.status import Status
from tests.conftest import ROOT
from tests.scripted import ScriptedModel

sys.path.insert(0, str(ROOT / "tests/unit/scoring"))
from scoring_cases import breiman, breiman_claims

CODE, RUN, RESULT = Category.DEVELOPMENT, Category.EXECUTION, Category.RESULT


def leaf(name="a", weight=1, category=CODE, text="It is done."):
    return TaskNode(id=name, requirements=text, weight=weight, task_category=category)


def node(*children, name="n", weight=1):
    return TaskNode(id=name, requirements="All of it.", weight=weight, sub_tasks=children)


def grade(score):
    return Grade(score=score, by="person", evidence="seen")


TREE = node(
    node(leaf("a", 3), leaf("b", 1, RUN), name="x", weight=2),
    leaf("c", 1, RESULT, "The accuracy is approximately 71.3%."),
)


def test_weights_are_carried_up_exactly():
    shares = leaf_shares(TREE)
    assert list(shares.values()) == [Fraction(1, 2), Fraction(1, 6), Fraction(1, 3)]
    a, b, c = shares
    scored = score_tree(TREE, {a: grade(1), b: grade(0), c: grade(1)})
    assert (scored.exact, scored.score, scored.graded_weight) == ("5/6", 5 / 6, 1.0)


def test_what_is_not_graded_leaves_both_sums_and_is_told():
    a, b, c = leaf_shares(TREE)
    scored = score_tree(TREE, {a: grade(1), b: grade(0)})
    assert scored.exact == "3/4"
    assert scored.graded_weight == pytest.approx(2 / 3)
    assert (scored.lowest, scored.highest) == pytest.approx((1 / 2, 5 / 6))
    undecided = score_tree(TREE, {a: grade(1), b: grade(0), c: grade(None)})
    assert (undecided.score, undecided.graded_weight) == (scored.score, scored.graded_weight)
    nothing = score_tree(TREE, {})
    assert nothing.score is None
    assert nothing.exact is None
    assert (nothing.lowest, nothing.highest) == (0, 1)


def test_one_graded_leaf_does_not_speak_for_its_siblings():
    """A heavy subtree of which one light leaf is graded must not outweigh a graded leaf beside it."""
    tree = node(node(leaf("easy", 1), leaf("hard", 99), weight=9), leaf("other", 1))
    easy, _, other = leaf_shares(tree)
    scored = score_tree(tree, {easy: grade(1), other: grade(0)})
    assert scored.score == pytest.approx(0.009 / (0.009 + 0.1))


def test_code_only_takes_other_leaves_out_of_the_tree():
    scored = score_tree(TREE, {"$.sub_tasks[0].sub_tasks[0]": grade(1)}, code_only=True)
    assert [one.id for one in scored.leaves] == ["a"]
    assert (scored.score, scored.graded_weight) == (1.0, 1.0)


weights = st.one_of(st.integers(0, 5), st.sampled_from([0.1, 0.25, 2.5]))
trees = st.recursive(
    st.builds(leaf, weight=weights, category=st.sampled_from(list(Category))),
    lambda below: st.builds(
        lambda children, weight: node(*children, weight=weight),
        st.lists(below, min_size=1, max_size=4),
        weights,
    ),
    max_leaves=25,
)


def mean_of_children(root, scores, path="$"):
    """The definition: sum(w s) / sum(w), bottom up."""
    if not root.sub_tasks:
        return Fraction(str(scores[path]))
    below = [
        (weight_of(child), mean_of_children(child, scores, f"{path}.sub_tasks[{n}]"))
        for n, child in enumerate(root.sub_tasks)
    ]
    return sum(w * s for w, s in below) / sum(w for w, _ in below)


def pruned(root):
    """Without any leaf but Code Development, and without what that empties."""
    if not root.sub_tasks:
        return root if root.task_category is CODE else None
    kept = [child for one in root.sub_tasks if (child := pruned(one))]
    return root.model_copy(update={"sub_tasks": tuple(kept)}) if kept else None


@given(trees, st.data())
def test_a_fully_graded_tree_has_the_score_of_the_definition(tree, data):
    paths = [path for path, _ in leaves(tree)]
    scores = {path: data.draw(st.sampled_from([0, 1, 0.5, 0.1])) for path in paths}
    scored = score_tree(tree, {path: grade(one) for path, one in scores.items()})
    try:
        wanted = mean_of_children(tree, scores)
    except ZeroDivisionError:  # some node's children all weigh 0: nobody can earn its weight
        assert scored.graded_weight <= 1
        return
    assert scored.exact == str(wanted)
    assert scored.graded_weight == 1


@given(trees, st.data())
def test_a_score_lies_between_its_bounds_and_code_only_is_the_pruned_tree(tree, data):
    some = {
        path: grade(data.draw(st.sampled_from([0, 1, 0.3])))
        for path, _ in leaves(tree)
        if data.draw(st.booleans())
    }
    scored = score_tree(tree, some)
    assert 0 <= scored.lowest <= scored.highest <= 1 + 1e-12
    if scored.score is not None:
        assert scored.score * scored.graded_weight == pytest.approx(scored.lowest)
    code = score_tree(tree, some, code_only=True)
    left = pruned(tree)
    kept = [path for path, one in leaves(tree) if one.task_category is CODE]
    assert [one.path for one in code.leaves] == kept
    if left is not None:
        renamed = dict(zip([path for path, _ in leaves(left)], kept, strict=True))
        again = score_tree(left, {new: some[old] for new, old in renamed.items() if old in some})
        assert (again.exact, again.graded_weight) == (code.exact, code.graded_weight)


# --- reading ---


def text_of(**changes):
    one = {"id": "a", "requirements": "r", "weight": 1, "task_category": CODE.value}
    return {"id": "root", "requirements": "r", "weight": 1, "sub_tasks": [one | changes]}


@pytest.mark.parametrize(
    ("value", "place", "says"),
    [
        (text_of(weight=-1), "$.sub_tasks[0].weight", "greater than or equal to 0"),
        (text_of(weight="3"), "$.sub_tasks[0].weight", "valid"),
        (text_of(task_category="Coding"), "$.sub_tasks[0].task_category", "Code Development"),
        (text_of(task_category=None), "$.sub_tasks[0]", "a leaf needs a task_category"),
        (text_of(colour="red"), "$.sub_tasks[0].colour", "no key of a rubric"),
        ({"id": "r", "weight": 1, "sub_tasks": []}, "$.requirements", "is missing"),
        (
            text_of() | {"task_category": CODE.value},
            "$",
            "a node with sub_tasks has no task_category",
        ),
    ],
)
def test_a_fault_is_told_with_its_json_path(value, place, says):
    with pytest.raises(FileFormatError) as caught:
        parse_tree(json.dumps(value), name="rubric.json")
    assert f"rubric.json: {place}: " in str(caught.value)
    assert says in str(caught.value)


@pytest.mark.parametrize("text", ["[]", "{", '{"id": NaN}', '{"id": "a", "id": "b"}', ""])
def test_no_rubric_at_all_is_a_user_error(text):
    with pytest.raises(FileFormatError):
        parse_tree(text, name="rubric.json")


@pytest.mark.parametrize("levels", [70, 400, 20_000])
def test_a_bottomless_rubric_is_refused(levels):
    start = '{"id":"n","requirements":"","weight":1,"sub_tasks":['
    end = '{"id":"a","requirements":"","weight":1,"task_category":"Code Execution"}'
    with pytest.raises(FileFormatError, match="deep"):
        parse_tree(start * levels + end + "]}" * levels, name="rubric.json")


def test_a_shared_id_must_be_named_by_its_path():
    tree = node(node(leaf("a")), leaf("a", category=RUN))
    assert shared_ids(tree) == {
        "a": ("$.sub_tasks[0].sub_tasks[0]", "$.sub_tasks[1]"),
        "n": ("$", "$.sub_tasks[0]"),
    }
    entry = {"leaf": "a", "score": 1, "by": "ada", "evidence": "main.py:3"}
    with pytest.raises(FileFormatError, match=r"2 times.*\$\.sub_tasks\[1\]"):
        grades_from_file(tree, GradesFile(schema=1, leaves=[entry]), Facts(), name="g.yaml")
    by_path = GradesFile(schema=1, leaves=[entry | {"leaf": "$.sub_tasks[1]"}])
    found = grades_from_file(tree, by_path, Facts(), name="g.yaml")
    assert found["$.sub_tasks[1]"].score == 1
    assert "ada" in found["$.sub_tasks[1]"].evidence


def test_a_graded_tree_gives_its_grades_and_an_invalid_score_is_none():
    graded = GradedNode(
        id="n",
        requirements="r",
        weight=1,
        sub_tasks=(
            GradedNode(id="a", requirements="", weight=1, task_category=CODE, score=1.0),
            GradedNode(
                id="b", requirements="", weight=1, task_category=RUN, score=0.0, valid_score=False
            ),
        ),
    )
    rubric = node(leaf("a"), leaf("b", category=RUN))
    scored = score_tree(rubric, grades_of(graded, rubric))
    assert (scored.score, scored.graded_weight) == (1.0, 0.5)
    with pytest.raises(ValueError, match="another rubric"):
        grades_of(graded, node(leaf("a"), leaf("z", category=RUN)))


# --- grades by code ---


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The baseline model achieves an accuracy of ~67.51% on GSM8K.", (67.51, "about", True)),
        ("Uncoupled Interpolant achieves FID-50k around 1.35", (1.35, "about", False)),
        ("With 10^5 simulations the C2ST is below 0.75", (0.75, "below", False)),
        (
            "The Intra-LPIPS of the 10-shot classifier is approximately 0.550.",
            (0.55, "about", False),
        ),
        ("It does not have a success rate under 90%", None),
        ("an average return of 1k by the end of training", None),
        ("The scores are around 3.25 and around 4.75", None),
        ("Mixtral-8x7B with 0.3B parameters beats the baseline", None),
    ],
)
def test_the_number_that_a_leaf_names(text, wanted):
    found = named_number(text)
    if wanted is None:
        assert found is None
    else:
        assert (found.value, found.relation, found.percent) == wanted


def facts():
    evidence = breiman()
    return Facts.of(evidence, score(evidence, Rubric(), "0" * 64))


def numbered(text, category=RESULT):
    return node(leaf("r", category=category, text=text))


def entry(tree, **of):
    file = GradesFile(schema=1, leaves=[{"leaf": "r", **of}])
    return grades_from_file(tree, file, facts(), name="g.yaml")["$.sub_tasks[0]"]


def test_a_leafs_number_that_is_the_claims_own_follows_the_verdict():
    known = facts()
    for claim in breiman_claims():
        verdict = known.verdicts[claim.id]
        tree = numbered(f"The test error is approximately {claim.value}%.")
        found = entry(tree, claim=claim.id)
        wanted = {"reproduced": 1.0, "not_reproduced": 0.0, "inconclusive": None}
        assert found.score == wanted[verdict.verdict]
        assert found.by == "metrics"


def test_a_leafs_other_number_is_held_against_the_value():
    value = facts().verdicts["twonorm-adaboost"].value
    assert entry(numbered(f"error below {value + 1:.1f}"), claim="twonorm-adaboost").score == 1
    assert entry(numbered(f"error below {value - 1:.1f}"), claim="twonorm-adaboost").score == 0
    assert entry(numbered(f"error around {3 * value:.1f}"), claim="twonorm-adaboost").score == 0


def test_an_execution_leaf_rests_on_runs():
    tree = numbered("The experiment has been run.", RUN)
    name = next(iter(facts().executed))
    found = entry(tree, experiment=name)
    assert (found.score, found.by) == (1.0, "execution")
    with pytest.raises(FileFormatError, match="no experiment 'nothing'"):
        entry(tree, experiment="nothing")
    with pytest.raises(FileFormatError, match="asks for Result Analysis"):
        entry(numbered("It is around 3.10."), experiment=name)


def test_a_number_maps_by_itself_only_where_it_cannot_be_another_claims():
    known = facts()
    plain = known.claims["waveform-adaboost"]
    claim = plain.model_copy(update={"method": "AdaBoost", "dataset": "waveform"})

    def mapped(text, *claims, category=RESULT):
        of = Facts({one.id: one for one in claims}, known.verdicts)
        return len(grades_by_number(numbered(text, category), of))

    own = "AdaBoost has a test error of approximately 17.8%."
    assert mapped(own, claim) == 1
    assert mapped("The test error is approximately 17.8%.", claim) == 0  # of which method?
    assert mapped(own, claim, claim.model_copy(update={"id": "waveform-selection"})) == 0
    assert mapped(own, claim.model_copy(update={"value": 18.0})) == 0
    assert mapped(own, claim.model_copy(update={"unit": "fraction"})) == 0
    assert mapped("AdaBoost has a test error of approximately 4.9%.", claim) == 0  # two digits
    assert mapped(own, claim, category=CODE) == 0


# --- what a judge may see, and what it may not say ---

CODE_FILES = {
    "main.py": "import numpy\nx = train(depth=3)\nprint(x)\n",
    "reproduce.sh": "python main.py\n",
}
RAN = Reproduced(Status.OK, "done", 1.0, "0.71\n", {"results/t.csv": "accuracy,0.713\n"}, 1)


def test_a_result_leaf_sees_only_what_the_script_wrote():
    seen = visible(RESULT, {**CODE_FILES, "results/old.csv": "accuracy,0.99"}, RAN)
    assert set(seen) == {"results/t.csv", "reproduce.sh", "reproduce.log"}
    assert set(visible(CODE, CODE_FILES, RAN)) == set(CODE_FILES)
    assert set(visible(RUN, CODE_FILES, RAN)) == {*CODE_FILES, "reproduce.log"}
    assert visible(RESULT, CODE_FILES, None) is None
    assert visible(RUN, CODE_FILES, None) is None


def test_without_a_run_nothing_is_executed_and_without_files_there_is_no_result():
    paths = {one.task_category: path for path, one in leaves(TREE)}
    assert {p: g.score for p, g in by_rule(TREE, script=False, reproduced=None).items()} == {
        paths[RUN]: 0,
        paths[RESULT]: 0,
    }
    assert by_rule(TREE, script=True, reproduced=None) == {}
    assert by_rule(TREE, script=True, reproduced=RAN) == {}
    wrote_nothing = Reproduced(Status.FAILED, "exit status 1", 1.0, "error", {}, 0)
    assert set(by_rule(TREE, script=True, reproduced=wrote_nothing)) == {paths[RESULT]}


def said(met, quote="x = train(depth=3)", lines=(2, 2), file="main.py"):
    span = {"file": file, "first": lines[0], "last": lines[1], "quote": quote}
    return LeafAnswer(evidence=[span] if quote else [], reasoning="so", met=met)


@pytest.mark.parametrize(
    ("answers", "wanted"),
    [
        ([said(True)], 1),
        ([said(False, quote="")], 0),
        ([said(True, quote="")], None),
        ([said(True, quote="x = train(depth=9)")], None),
        ([said(True, file="other.py")], None),
        ([said(True, lines=(90, 91))], None),
        ([said(True, quote="x")], None),
        ([said(True), said(True), said(False)], 1),
        ([said(True), said(False)], None),
        ([said(True, quote="made up line"), said(False)], 0),
    ],
)
def test_a_judge_is_believed_only_with_a_quote_that_is_there(answers, wanted):
    assert decide(answers, CODE_FILES).score == wanted


def test_the_judge_is_asked_per_leaf_and_stops_with_the_budget():
    asked = []

    def ask(*, prompt, values, answer_model, check):
        asked.append(values)
        if len(asked) > 1:
            raise FileFormatError("the budget is spent.")
        return said(True)

    todo = list(leaves(node(leaf("a"), leaf("b"))))
    found, stopped = judge_leaves(todo, CODE_FILES, RAN, ask)
    assert {path: one.score for path, one in found.items()} == {"$.sub_tasks[0]": 1}
    assert "budget" in stopped
    assert "   2 x = train(depth=3)" in str(asked[0]["files"])


# --- the command ---


def test_the_command_scores_and_shows(tmp_path, capsys):
    rubric = tmp_path / "rubric.json"
    rubric.write_text(TREE.model_dump_json(), encoding="utf-8")
    grades = tmp_path / "grades.yaml"
    grades.write_text(
        "schema: 1\nleaves:\n  - {leaf: a, score: 1, by: ada, evidence: 'main.py:2'}\n",
        encoding="utf-8",
    )
    (tmp_path / "submission").mkdir()
    named = ["--rubric", str(rubric), "--grades", str(grades), "--json"]
    assert main(["paperbench", "grade", *named]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["score"], result["graded_weight"]) == (1.0, 0.5)
    # A folder without reproduce.sh: what is to be executed or found is 0, not left out.
    submission = ["--submission", str(tmp_path / "submission")]
    assert main(["paperbench", "grade", *named, *submission]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["score"], result["graded_weight"]) == (0.5, 1.0)
    assert main(["paperbench", "grade", *named, "--code-only"]) == 0
    assert json.loads(capsys.readouterr().out)["score"] == 1.0
    assert main(["paperbench", "show", str(rubric)]) == 0
    assert "66.67%" in capsys.readouterr().out
    grades.write_text("schema: 1\nleaves:\n  - {leaf: a, score: 2}\n", encoding="utf-8")
    assert main(["paperbench", "grade", *named]) == 2
    assert "grades.yaml:3" in capsys.readouterr().err


def test_the_command_asks_the_judge_about_the_heaviest_leaves_only(
    project, tmp_path, capsys, monkeypatch
):
    rubric = tmp_path / "rubric.json"
    heavy, light = leaf("heavy", 5), leaf("light", 1)
    rubric.write_text(node(light, heavy).model_dump_json(), encoding="utf-8")
    folder = tmp_path / "submission"
    folder.mkdir()
    (folder / "main.py").write_text(CODE_FILES["main.py"])
    named = ["--rubric", str(rubric), "--submission", str(folder), "--judge", "1", "--json"]
    assert main(["paperbench", "grade", *named]) == 2
    assert "no judge model" in capsys.readouterr().err
    (project / "repro.yaml").write_text("schema: 1\nmodels:\n  judge: {model: scripted/one}\n")
    model = ScriptedModel([said(True).model_dump(mode="json")])
    monkeypatch.setattr("resources.chat_litellm.LiteLlmChat", lambda roles: model)
    for _ in range(2):  # the second time the ledger answers
        assert main(["paperbench", "grade", *named]) == 0
        result = json.loads(capsys.readouterr().out)
        assert result["score"] == 1.0
        assert result["graded_weight"] == pytest.approx(5 / 6)
        assert "1 stay ungraded" in result["notes"][0]
    assert len(model.asked) == 1
