"""The checklist on small papers: stated with its span, missing, contradicted, not applicable."""

import pytest

from repro_pipeline.cli import main
from repro_pipeline.errors import FileFormatError
from repro_pipeline.lineage.checklist import load_checklist
from repro_pipeline.lineage.gaps import Gap, GapStatus, find_gaps
from repro_pipeline.paper.markdown import read_markdown
from repro_pipeline.paper.model import Cell, Paper, Section, Source, SourceFormat, Table

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


def test_a_short_paper_needs_fewer_signs_of_a_kind_than_a_long_one(tmp_path):
    def kinds(others: int) -> tuple[str, ...]:
        path = tmp_path / "short.md"
        rest = " ".join(f"This is sentence {n} and it tells nothing." for n in range(others))
        text = f"The waveform data are simulated. Trees are boosted. {rest}"
        path.write_text(f"# On waves\n\n## Experiment\n\n{text}\n")
        return find_gaps(read_markdown(path), load_checklist()).kinds

    assert set(kinds(10)) == {"trees", "simulated"}
    assert kinds(100) == ()


def test_work_of_others_is_no_sign_of_a_kind(tmp_path):
    path = tmp_path / "short.md"
    path.write_text(
        "# On waves\n\n## Experiment\n\nPrevious work trains neural networks. We boost decision trees.\n"
    )
    assert find_gaps(read_markdown(path), load_checklist()).kinds == ("trees",)


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


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        ("batch-size", "We initialise the last batch normalization layer [15] to 0."),
        ("training-length", "During training we save the model every 3000 iterations."),
        ("training-length", "It converged within 20 epochs."),
        ("seeds", "Metrics are averaged across 3 random seeds."),
        ("schedule", "The pruned fraction is decayed by cosine annealing."),
        ("regularisation", "We set the noise rate λ = 0.3."),
        ("checkpoint-choice", "Our final model outperforms the best baseline on the test set."),
        ("data-size", "Entities with more than 4 words are hard."),
        ("aggregation", "Time increased by an average of 45% across all datasets."),
        ("hardware", "Cluster centers are initialised at random."),
        ("library-versions", "We used the PyTorch library 2 ."),
        ("significance", "It is significantly better."),
        ("weight-averaging", "The moving average of the loss is plotted."),
    ],
)
def test_a_word_in_another_meaning_states_nothing(tmp_path, item, sentence):
    assert gaps_of(tmp_path, sentence)[item].status is GapStatus.MISSING


@pytest.mark.parametrize(
    "sentence",
    [
        "10-fold cross-validation was used.",
        "Prior to the split into 80% training and 20% test data, nothing was done.",
    ],
)
def test_a_sentence_that_begins_with_a_number_is_the_papers_own(tmp_path, sentence):
    assert gaps_of(tmp_path, sentence)["split"].status is GapStatus.STATED


def test_a_table_that_was_read_as_one_column_is_a_list_of_settings():
    cells = ["optimization", "learning rate", "0.01", "batch size", "10", "strategy", "SGD"]
    grid = tuple((Cell(text=text),) for text in cells)
    body = Paper(
        source=Source(file="p.xml", format=SourceFormat.TEI, sha256="0" * 64, reader="test 1"),
        title="A study",
        sections=(Section(title="Experiments", text=NETWORK),),
        tables=(Table(index=1, grid=grid),),
    )
    found = {gap.item: gap for gap in find_gaps(body, load_checklist()).items}
    assert found["learning-rate"].spans[0].text == "learning rate | 0.01"
    assert found["batch-size"].spans[0].value == "10"
    assert found["optimiser"].spans[0].text == "strategy | SGD"


def test_results_of_test_and_training_are_no_sizes(tmp_path):
    table = "Table 1: Results.\n\n| Model | Train time | Test |\n|---|---|---|\n| ours | 48.5 | 72.4 |\n"
    found = gaps_of(tmp_path, table)
    assert {found["split"].status, found["data-size"].status} == {GapStatus.MISSING}
    sizes = "Table 1: Sizes.\n\n| Data | Train | Test |\n|---|---|---|\n| A | 60,000 | 10,000 |\n"
    found = gaps_of(tmp_path, sizes)
    assert {found["split"].status, found["data-size"].status} == {GapStatus.STATED}


@pytest.mark.parametrize("unit", ["iterations", "steps"])
def test_one_large_number_with_two_units_is_a_slip(tmp_path, unit):
    text = f"It is trained for 20000 epochs.\n\n## Cost\n\nTraining with 20000 {unit} took a day."
    assert gaps_of(tmp_path, text)["training-length"].status is GapStatus.CONTRADICTED


@pytest.mark.parametrize("other", ["64", "256", "1024"])
def test_text_and_table_that_differ_contradict(tmp_path, other):
    table = f"Table 1: Settings.\n\n| Setting | Value |\n|---|---|\n| Batch size | {other} |\n"
    found = gaps_of(tmp_path, f"We use a batch size of 32.\n\n{table}")["batch-size"]
    assert found.status is GapStatus.CONTRADICTED
    assert {span.value for span in found.spans} == {"32", other}


@pytest.mark.parametrize(
    "text",
    [
        "We use a batch size of 32.\n\nOn CIFAR-10 the batch size is 64.",
        "We use batch sizes of 32, 64 and 128.\n\nThe batch size is 16.",
        "The batch size is 16.\n\nThe batch size is 32.\n\nThe batch size is 64.",
        "The batch size is 16.\n\n## Another task\n\nThe batch size is 32.",
        "The learning rate is 3e-4.\n\nA learning rate of 3 × 10^{-4} is used.",
        "We train for 60k steps.\n\nWe train for 60,000 steps.",
    ],
)
def test_several_experiments_contradict_nothing(tmp_path, text):
    found = gaps_of(tmp_path, text)
    assert GapStatus.CONTRADICTED not in {gap.status for gap in found.values()}


def test_where_the_code_is_may_be_said_in_the_introduction(tmp_path):
    path = tmp_path / "paper.md"
    said = "Our code is available at https://github.com/a/b. We use a batch size of 8."
    path.write_text(f"# A study\n\n## Introduction\n\n{said}\n\n## Experiments\n\n{NETWORK}\n")
    found = {gap.item: gap for gap in find_gaps(read_markdown(path), load_checklist()).items}
    assert found["code"].status is GapStatus.STATED
    assert found["batch-size"].status is GapStatus.MISSING


def test_gaps_on_a_terminal_break_no_name_and_ask_for_what_is_missing(tmp_path, capsys):
    (tmp_path / "paper.md").write_text(f"# A study\n\n## Experiments\n\n{NETWORK}\n")
    assert main(["gaps", str(tmp_path / "paper.md")]) == 0
    said = capsys.readouterr().out
    assert "\nhyperparameter-selection  missing" in said
    assert "How were hyperparameters chosen" in said
    assert said.count("None of") == 1
    assert max(map(len, said.splitlines())) <= 120
