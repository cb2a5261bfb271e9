"""The checklist on small papers: stated with its span, missing, contradicted, not applicable."""

import pytest

from repro_pipeline.errors import FileFormatError
from repro_pipeline.lineage.checklist import load_checklist
from repro_pipeline.lineage.gaps import Gap, GapStatus, find_gaps
from repro_pipeline.paper.markdown import read_markdown

NETWORK = (
    "We train a convolutional neural network by back-propagation. The network has two hidden layers. "
    "Training a neural network this way is common.\n"
)


def gaps_of(tmp_path, text: str) -> dict[str, Gap]:
    path = tmp_path / "paper.md"
    path.write_text(f"# A study\n\n## Experiments\n\n{NETWORK}\n\n{text}\n")
    return {gap.item: gap for gap in find_gaps(read_markdown(path), load_checklist()).items}


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        ("learning-rate", "The initial learning rate was set to 0.1."),
        ("learning-rate", "We use Adam with a step size of $3 \\times 10^{-4}$."),
        ("schedule", "It is halved every time; the learning rate decays linearly."),
        ("batch-size", "We use mini-batches of 128 images."),
        ("optimiser", "All models are trained with RMSProp."),
        ("optimiser-parameters", "We set the momentum to 0.9."),
        ("training-length", "Each model is trained for 200 epochs."),
        ("training-length", "We run 100K iterations."),
        ("early-stopping", "Training ends if the loss has not decreased, with a patience of ten."),
        ("checkpoint-choice", "We select the model with the best validation accuracy."),
        ("initialisation", "Weights were initialized from a Gaussian distribution."),
        ("regularisation", "Dropout with probability 0.5 is applied."),
        ("split", "We hold out 10% for validation and 10% for testing."),
        ("split", "Results are by ten-fold cross-validation."),
        ("aggregation", "We report the mean over five runs."),
        ("number-of-runs", "Every experiment was repeated 20 times."),
        ("seeds", "The random seed is fixed to 42."),
        ("hardware", "Everything was run on one NVIDIA V100 GPU."),
        ("library-versions", "We used PyTorch 1.7."),
        ("precision", "We train in mixed precision."),
        ("weight-averaging", "An exponential moving average of the weights is evaluated."),
        ("warm-up", "It is warmed up during the first 1000 steps."),
        ("data-cleaning", "Duplicates were removed from the corpus of documents."),
        ("anomalous-samples", "Outliers beyond three deviations were discarded."),
        ("metric-definition", "We report the macro-averaged F1."),
    ],
)
def test_a_sentence_states_an_item_and_is_its_span(tmp_path, item, sentence):
    silent = gaps_of(tmp_path, "Nothing else is said.")
    assert silent[item].status is GapStatus.MISSING
    said = gaps_of(tmp_path, f"The weather was fine. {sentence} So it was.")[item]
    assert said.status is GapStatus.STATED
    assert " ".join(sentence.split())[:20] in said.spans[0].text
    assert said.spans[0].section == "Experiments"


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        ("learning-rate", "The learning rate matters a lot."),
        ("batch-size", "Normalisation depends on the batch."),
        ("training-length", "Training took many epochs."),
        ("library-versions", "The correlation was r 0.95, and we used R 2 hours."),
        ("library-versions", "We used PyTorch."),
        ("seeds", "We plant seeds."),
    ],
)
def test_a_word_without_its_value_states_nothing(tmp_path, item, sentence):
    assert gaps_of(tmp_path, sentence)[item].status is GapStatus.MISSING


def test_a_table_of_hyperparameters_states_its_rows(tmp_path):
    table = "Table 1: Settings.\n\n| Setting | Value |\n|---|---|\n| Batch size | 64 |\n| Dropout | 0.1 |\n"
    found = gaps_of(tmp_path, table)
    assert found["batch-size"].spans[0].text == "Batch size | 64"
    assert found["regularisation"].spans[0].section == "Table 1"


def test_two_values_for_all_experiments_contradict_and_both_spans_are_shown(tmp_path):
    found = gaps_of(tmp_path, "We use a batch size of 32.\n\nThe batch size is 64.")["batch-size"]
    assert found.status is GapStatus.CONTRADICTED
    assert [span.value for span in found.spans] == ["32", "64"]


@pytest.mark.parametrize(
    "text",
    [
        "We use a batch size of 32.\n\nThe batch size of 32 is small.",
        "We use a batch size of 32.\n\nFor the large model, the batch size is 64.",
        "The learning rate is 0.001.\n\nA learning rate of 1e-3 is used.",
    ],
)
def test_the_same_value_or_one_for_a_part_contradicts_nothing(tmp_path, text):
    found = gaps_of(tmp_path, text)
    assert GapStatus.CONTRADICTED not in {gap.status for gap in found.values()}


def test_other_kinds_of_experiment_are_not_asked_about(tmp_path):
    found = gaps_of(tmp_path, "Nothing else is said.")
    assert found["tree-parameters"].status is GapStatus.NOT_APPLICABLE
    assert "trees" in found["tree-parameters"].why
    path = tmp_path / "forest.md"
    body = "Random forests are bagging of decision trees. Boosting is shown as well. Decision trees vary."
    path.write_text(f"# Forests\n\n## Experiments\n\n{body}\n")
    forest = {gap.item: gap for gap in find_gaps(read_markdown(path), load_checklist()).items}
    assert forest["learning-rate"].status is GapStatus.NOT_APPLICABLE
    assert forest["tree-parameters"].status is GapStatus.MISSING


def test_related_work_and_sentences_about_others_say_nothing_of_this_paper(tmp_path):
    other = "Smith et al. (2019) use a batch size of 256."
    text = f"{other}\n\n## Related Work\n\nThe learning rate was set to 0.1 there."
    found = gaps_of(tmp_path, text)
    assert found["batch-size"].status is GapStatus.MISSING
    assert found["learning-rate"].status is GapStatus.MISSING


def test_a_checklist_of_ones_own_is_validated(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("kinds: {}\nitems: [{id: a, question: q, states: ['(']}]\n")
    with pytest.raises(FileFormatError, match="no valid regular expression"):
        load_checklist(path)
