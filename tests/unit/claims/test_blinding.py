"""Blinding: no spelling of a reported value is shown, and settings are."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from repro_pipeline.claims.blind_files import _prose_places, blind_files
from repro_pipeline.claims.blinding import blind_paper, secrets_for
from repro_pipeline.claims.leaks import leaks, shown_text
from repro_pipeline.claims.masking import Reach, mask_text
from repro_pipeline.claims.model import Claim, ClaimPair, ReportedClaims
from repro_pipeline.claims.numerals import numerals
from repro_pipeline.paper.address import CellAddress, TextAddress
from repro_pipeline.paper.model import (
    Caption,
    Cell,
    Paper,
    Reference,
    Section,
    Source,
    SourceFormat,
    Table,
)
from repro_pipeline.paper.numbers import parse_numbers

SETTINGS = (
    "We train with a learning rate of 0.1, batch size 32 and dropout of 0.25 for 120 epochs.",
    "The forest has 100 trees, n = 300 cases are drawn, and we set λ = 0.932.",
    "Seeds are 0, 1 and 2; weight decay is 1e-4, and β_1 = 0.9.",
    "Images are resized to 224 × 224, and 10% of the samples are held out.",
    "The learning rate is dropped from 0.1 to 0.01 after epoch 60.",
)


def table(text: str, **more) -> Table:
    grid = []
    for number, line in enumerate(text.strip().splitlines()):
        cells = [part.strip() for part in line.split("|")]
        grid.append(
            tuple(
                Cell(
                    text=part.strip("*"),
                    numbers=parse_numbers(part.strip("*")) if number and place else (),
                    bold=part.startswith("*"),
                )
                for place, part in enumerate(cells)
            )
        )
    return Table(
        **{"index": 1, "number": "Table 1", "label": "tab:main", "grid": tuple(grid), **more}
    )


MAIN = """
Method   | Trees | Accuracy     | F1
Baseline | 100   | 90.1 ± 0.3   | 0.884
Ours     | 100   | *93.2 ± 0.4* | *0.917*
"""


def paper(*texts: str, **more) -> Paper:
    return Paper(
        **{
            "source": Source(
                file="p.tex", format=SourceFormat.LATEX, sha256="0" * 64, reader="t 1"
            ),
            "title": "A method",
            "tables": (table(MAIN),),
            "sections": (
                Section(title="Setup", text=" ".join(SETTINGS)),
                *(Section(title="Results", text=text) for text in texts),
            ),
            **more,
        }
    )


def cell_claim(claim_id: str, row: str, column: str, value: float, quantum: float, **more) -> Claim:
    address = CellAddress(table="Table 1", row=(row,), column=(column,))
    terms = {"metric": column.lower(), "value": value, "quantum": quantum, "address": address}
    return Claim(id=claim_id, **{**terms, **more})


OURS = cell_claim("ours-acc", "Ours", "Accuracy", 93.2, 0.1, unit="percent")
BASE = cell_claim("base-acc", "Baseline", "Accuracy", 90.1, 0.1, unit="percent")
CLAIMS = ReportedClaims(claims=(OURS, BASE), main="ours-acc", proposed_by="test")


def results_of(text: str, **more) -> str:
    """How a sentence of the results is shown."""
    return next(
        p.text for p in blind_paper(paper(text, **more), CLAIMS).parts if p.title == "Results"
    )


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spelling",
    """93.2|0.932|.932|93,2|93.2 %|93.2%|93.2\\%|$93.2\\%$|$93.2$|93{,}2|93.2±0.4|93.2 ± 0.4|$93.2 \\pm 0.4$|
    93.2 (0.4)|93.2% (±0.4)|93.2 percent|93.2 per cent|93.20|93.24|9.32e1|9.32 × 10^{1}|9.32 \\times 10^{1}|
    9.32×10¹|932e-3|93 %|93 percent|ninety-three percent|ninety-three point two percent|6.8|6.8 %|0.068|
    93·2|٩٣.٢|93. 2|+93.2|~93.2|９３．２|\\textbf{93.2}|(93.2)|93.2-percent""".replace(
        "\n", ""
    ).split("|"),
)
def test_every_spelling_of_a_value_is_hidden(spelling):
    spelling = spelling.strip()
    shown = results_of(f"Our method has an accuracy of {spelling} on the test set.")
    digits = [one for one in numerals(shown)]
    assert "[masked]" in shown and not digits, shown
    assert shown.startswith("Our method has an accuracy of")
    assert shown.endswith("on the test set.")


@pytest.mark.parametrize(
    ("spelling", "telling"),
    [
        *(
            (one, True)
            for one in "93.2 0.932 .932 93,2 9.32e1 932e-3 93{,}2 93.24 ٩٣.٢ 93·2".split()
        ),
        ("9.32 × 10¹", True),
        ("93. 2", True),
        ("233 of 250", True),
        *((one, False) for one in ("6.8", "0.068", "93", "0.93", "ninety-three percent")),
        *(
            (one, None)
            for one in ("93.3", "9.32", "932", "93.1", "0.0932", "6.9", "68", "230 of 250")
        ),
    ],
)
def test_a_number_is_the_value_or_not_whatever_the_words_around_it(spelling, telling):
    secrets = secrets_for(paper(), ReportedClaims(claims=(OURS,), main="ours-acc", proposed_by="t"))
    hits = [
        hit for one in numerals(f"See {spelling} there.") if (hit := secrets.hit(one, tables=False))
    ]
    assert [hit.telling for hit in hits] == ([] if telling is None else [telling])
    assert all(hit.claims == ("ours-acc",) for hit in hits)


@pytest.mark.parametrize("place", ["abstract", "title", "caption", "figure", "section", "equation"])
def test_a_value_is_hidden_wherever_it_is_quoted(place):
    text = "Accuracy reaches 93.2 here."
    changes = {
        "abstract": {"abstract": text},
        "title": {"title": text},
        "caption": {"tables": (table(MAIN, caption=text),)},
        "figure": {"figures": (Caption(number="Figure 1", text=text),)},
        "section": {"sections": (Section(title=text, text="Nothing."),)},
        "equation": {"equations": (r"\mathrm{acc} = 93.2",)},
    }
    blinded = blind_paper(paper(**changes[place]), CLAIMS)
    assert "93.2" not in blinded.text
    assert any("ours-acc" in span.claims for span in blinded.spans if span.kind == "value")


def test_all_results_of_a_table_with_a_claim_are_hidden_without_their_emphasis_and_settings_stay():
    shown = blind_paper(paper(), CLAIMS).text
    assert "| Baseline | 100 | [masked: base-acc] | [masked] |" in shown
    assert "| Ours | 100 | [masked: ours-acc] | [masked] |" in shown


def test_another_table_that_repeats_a_claims_value_is_hidden_and_one_that_does_not_is_shown():
    again = table(
        "Part | Accuracy\nAll | 93.2\nNo gate | 91.7", index=2, number="Table 2", label="b"
    )
    other = table("Part | Size\nAll | 12.5\nNo gate | 11.5", index=3, number="Table 3", label="c")
    shown = blind_paper(paper(tables=(table(MAIN), again, other)), CLAIMS).text
    assert "91.7" not in shown and "93.2" not in shown
    assert "12.5" in shown and "11.5" in shown


def test_a_value_of_two_digits_is_hidden_in_results_and_not_elsewhere():
    claims = ReportedClaims(
        claims=(cell_claim("err", "Ours", "Accuracy", 3.9, 0.1, unit="percent"),),
        main="err",
        proposed_by="test",
    )
    body = table("Method | Accuracy\nOurs | 3.9")
    text = (
        "The error is 3.9. Version 3.9 of Python was used. Points lie at a distance of 3.9 apart."
    )
    blinded = blind_paper(paper(text, tables=(body,)), claims).text
    assert "The error is [masked]." in blinded and "| Ours | [masked: err] |" in blinded
    assert "Version 3.9 of Python" in blinded and "distance of 3.9" in blinded


def test_a_quoted_claim_is_hidden_in_its_quote_whatever_its_digits():
    quote = "is made of 7 out of ten"
    claim = Claim(
        id="seven", metric="count", value=7, quantum=1, address=TextAddress(quote=quote), text="7"
    )
    claims = ReportedClaims(claims=(claim,), main="seven", proposed_by="test")
    shown = blind_paper(paper("It is made\nof 7 out of ten. We use 7 layers."), claims).text
    assert "of [masked] out of ten. We use 7 layers." in shown


@pytest.mark.parametrize(
    "thing", ["tree", "layer", "epoch", "step", "estimator", "seed", "fold", "minibatch"]
)
def test_a_share_or_a_decimal_is_no_number_of_things(thing):
    shown = blind_paper(paper(f"It raises that of one {thing} from 90.1 % to 93.2."), CLAIMS).text
    assert "90.1" not in shown and "93.2" not in shown


# --- differences, ratios, signs -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Accuracy improves by 3.1 points over the baseline.", ["3.1", "improves"]),
        ("This is a 12% relative reduction of the error.", ["12", "reduction"]),
        ("Our method halves the error of the baseline.", ["halves"]),
        ("Accuracy drops sharply without the gate.", ["drops"]),
        ("Our model significantly outperforms the baseline.", ["significantly outperforms"]),
        (
            "It is 1.5x more accurate, and three times faster than the baseline.",
            ["1.5", "three", "faster"],
        ),
        ("Removing the gate hurts accuracy slightly (−0.7 points).", ["hurts", "−0.7"]),
        ("Our accuracy is between 92.8 and 93.6.", ["92.8", "93.6"]),
    ],
)
def test_differences_ratios_and_signs_are_hidden(text, hidden):
    shown = results_of(text)
    for words in hidden:
        assert words in text and words not in shown, shown


def test_the_size_of_an_ablation_is_hidden_however_it_is_told():
    pair = ClaimPair(
        id="gate", kind="ablation", full="ours-acc", variant="base-acc", expected_sign=-1
    )
    claims = CLAIMS.model_copy(update={"pairs": (pair,)})
    made = paper(
        "The gap is 3.1. It differs by 3.3 per cent, a ratio of 0.967. There are 3 of them."
    )
    shown = next(p.text for p in blind_paper(made, claims).parts if p.title == "Results")
    assert not re.search(r"3\.1|3\.3|0\.967", shown) and "There are 3 of them." in shown


def test_two_counts_that_tell_a_value_are_hidden():
    shown = results_of("Ours gets 233 of 250 right, on 40 of 250 days, with 1/4 of the weight.")
    assert shown == "Ours gets [masked] right, on 40 of 250 days, with 1/4 of the weight."


def test_a_sentence_that_holds_a_value_is_read_as_one_about_results_over_the_ends_of_lines():
    text = (
        "Ours brings this to 93.2 % with 200 trees, which is the larger of the two sizes that were tried,\n"
        "and another 400 trees change it by no more than 0.1 points: more do no harm."
    )
    shown = results_of(text)
    assert "[masked] % with 200 trees" in shown and "another 400 trees" in shown
    assert "by no more than [masked] points" in shown


def test_boosted_trees_are_a_method_and_how_often_they_err_a_result():
    shown = results_of("Boosted trees err far less often than one tree.")
    assert shown == "Boosted trees err [masked] than one tree."


def test_who_generalises_perfectly_and_what_closes_a_gap_is_hidden():
    shown = results_of("Without noise networks generalise perfectly; decay closes most of the gap.")
    assert shown == "Without noise networks generalise [masked]; decay [masked]."
    assert results_of("Weight decay raises the accuracy.") == "Weight decay [masked] the accuracy."


def test_items_of_a_list_and_rows_are_sentences_of_their_own():
    long = "- The accuracy of ours, which has been measured on the test set, is high"
    shown = results_of(f"{long}\n- noise of 0.5 was added")
    assert "noise of 0.5" in shown


def test_the_base_of_a_power_of_symbols_is_no_result_unless_it_is_a_value_beyond_doubt():
    pair = ClaimPair(
        id="gate", kind="ablation", full="ours-acc", variant="base-acc", expected_sign=-1
    )
    claims = CLAIMS.model_copy(update={"pairs": (pair,)})  # whose difference is 3.1
    said = "Correlations are 3.1 to the\npower of their distance."
    assert said in blind_paper(paper(said), claims).text
    made = paper("The correlation is 3.1^{|i − j|}. The errors are 0.932^{k} and 3.1^{2}.")
    shown = next(p.text for p in blind_paper(made, claims).parts if p.title == "Results")
    assert (
        shown == "The correlation is 3.1^{|i − j|}. The errors are [masked]^{k} and [masked]^{2}."
    )


def test_a_part_that_is_trained_on_is_no_ratio_of_results():
    text = "It is trained on one half and its accuracy is taken on the other."
    assert results_of(text) == text
    assert "half" not in results_of("The error of ours is a half of the baseline's.")
    assert "half" not in results_of("It errs by one half less than the baseline.")


# --- settings -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sentence", SETTINGS)
@pytest.mark.parametrize("title", ["Setup", "Results", "Training details"])
def test_settings_stay(sentence, title):
    made = blind_paper(paper(sections=(Section(title=title, text=sentence),)), CLAIMS)
    assert sentence in made.text


numbers = st.integers(min_value=101, max_value=9999).filter(lambda n: n % 10)
places = st.sampled_from([1, 2, 3])
TEMPLATES = (
    "We reach an accuracy of {} on the test set.",
    "The score was {} in our experiments, as Table 1 shows.",
    "Ours: {}; others do worse.",
    "It is worth noting ({}) that nothing else changed.",
)


def spelled(value: float, decimals: int) -> list[str]:
    """The value as people write it, by formatting alone."""
    plain = f"{value:.{decimals}f}"
    fraction = f"{value / 100:.{decimals + 2}f}"
    return [
        plain,
        f"{plain}%",
        f"${plain}\\%$",
        f"{plain} ± 0.{'0' * (decimals - 1)}1",
        plain.replace(".", ","),
        *([fraction, fraction.removeprefix("0")] if value < 100 else []),
        f"{value:.{decimals + 6}e}".replace("e+0", "e"),
    ]


@given(numbers, places, st.sampled_from(TEMPLATES), st.sampled_from(SETTINGS), st.integers(0, 7))
@example(932, 3, TEMPLATES[1], SETTINGS[0], 0)
@example(1001, 3, TEMPLATES[1], SETTINGS[0], 4)
def test_no_spelling_survives_and_no_setting_is_lost(digits, decimals, template, setting, which):
    value = digits / 10**decimals
    claim = Claim(
        id="a",
        metric="score",
        value=value,
        quantum=10**-decimals,
        address=CellAddress(table="Table 1", row=("Ours",), column=("Accuracy",)),
    )
    claims = ReportedClaims(claims=(claim,), main="a", proposed_by="test")
    ways = spelled(value, decimals)
    said = template.format(ways[which % len(ways)])
    text = f"{setting} {said} {setting}"
    body = table(f"Method | Accuracy\nOurs | {value:.{decimals}f}")
    made = paper(text, tables=(body,))
    shown = next(p.text for p in blind_paper(made, claims).parts if p.title == "Results")
    for way in ways:
        assert way not in shown.replace(setting, ""), shown
    if not any(way in setting for way in ways):
        assert shown.count(setting) == 2, shown
    secrets = secrets_for(made, claims)
    assert not [one for one in leaks(shown, secrets) if one.certain]
    if not secrets.of_claims[0].is_setting:
        assert [one for one in leaks(said, secrets) if one.certain]


@given(st.text(alphabet="0123456789.,eE+-−±%×^{}()[]$\\ \n abtwo", max_size=80))
def test_masking_ends_whatever_the_text_and_masks_nothing_twice(text):
    secrets = secrets_for(paper(), CLAIMS)
    shown, spans = mask_text(text, secrets, where="x")
    pieces, position = [], 0
    for span in spans:
        assert span.start >= position and text[span.start : span.end] == span.hidden
        pieces += [text[position : span.start], "[masked]"]
        position = span.end
    assert "".join([*pieces, text[position:]]) == shown


# --- the check ------------------------------------------------------------------------------------------


def test_the_blinded_paper_passes_the_check_and_the_paper_fails_it():
    text = "We reach 93.2 % accuracy, the baseline 90.1."
    made = paper(text, abstract=text, references=(Reference(key="1", text="A work. 1993."),))
    secrets = secrets_for(made, CLAIMS)
    probe = shown_text({"planner 0": blind_paper(made, CLAIMS).text}, secrets)
    assert (probe.applies, probe.evidence["hits"], probe.claims) == (True, 0, ())
    probe = shown_text({"planner 0": f"Think. {text}", "coder 0": "Nothing."}, secrets)
    assert probe.evidence["hits"] == 2 and probe.evidence["prompts"] == 2
    assert probe.claims == ("ours-acc", "base-acc")


@pytest.mark.parametrize(
    "text", ["93", "6.8", "λ = 0.932", "at 93.2 trees per", "[93]", "ResNet-932"]
)
def test_what_may_be_chance_is_no_leak(text):
    secrets = secrets_for(paper(*SETTINGS), CLAIMS)
    found = [one for one in leaks(f"see {text} here", secrets) if one.certain]
    assert not found or text.startswith("at 93.2")


def test_a_share_of_cases_is_a_leak_although_it_counts_something():
    (found,) = leaks("It is right on 93.2% of the test images.", secrets_for(paper(), CLAIMS))
    assert found.certain


def test_a_value_that_is_a_setting_too_is_a_warning():
    claim = cell_claim("a", "Ours", "Accuracy", 0.932, 0.001)
    claims = ReportedClaims(claims=(claim,), main="a", proposed_by="test")
    body = table("Method | Accuracy\nOurs | 0.932")
    secrets = secrets_for(paper(tables=(body,)), claims)
    (found,) = leaks("It is 0.932 there.", secrets)
    assert not found.certain and found.claims == ("a",)


# --- files ----------------------------------------------------------------------------------------------

NOTEBOOK = """{"cells": [
 {"cell_type": "markdown", "source": ["Accuracy is 93.2 %."]},
 {"cell_type": "code", "source": ["lr = 0.1\\n", "print(accuracy)"],
  "outputs": [{"text": ["0.932"]}]}]}"""


def test_given_code_is_masked_and_its_results_are_withheld():
    files = {
        "README.md": "Ours reaches 93.2 % accuracy with lr = 0.1, 3.1 points over the baseline.",
        "train.py": "LR = 0.1  # gives 93.2 accuracy\nTARGET = 0.932\nN_TREES = 100\n",
        "run.sh": "python train.py --lr 0.1  # 93.2\n",
        "results/final.json": '{"a": 1}',
        "numbers.json": '{"test": 0.932}',
        "config.json": '{"lr": 0.1, "batch": 32}',
        "train.log": "epoch 1 accuracy 12",
        "demo.ipynb": NOTEBOOK,
    }
    made = blind_files(files, secrets_for(paper(), CLAIMS))
    assert set(made.withheld) == {"results/final.json", "numbers.json", "train.log"}
    for text in made.texts.values():
        assert not re.search(r"93\.2|932|3\.1", text), text
    assert made.texts["config.json"] == files["config.json"]
    assert "TARGET = MASKED\nN_TREES = 100" in made.texts["train.py"]
    assert made.texts["train.py"].startswith("LR = 0.1  # gives [masked]")
    assert "lr = 0.1" in made.texts["README.md"] and "--lr 0.1" in made.texts["run.sh"]
    prose, code = json.loads(made.texts["demo.ipynb"])["cells"]
    assert prose["source"] == "Accuracy is [masked] %."
    assert (code["source"], code["outputs"]) == ("lr = 0.1\nprint(accuracy)", [])
    assert {claim for span in made.spans for claim in span.claims} == {"ours-acc"}


def test_comments_are_found_in_code_with_form_feeds():
    code = "a = 1\f\nb = 2\f\nc = 3\f\nd = 4\nLR = 0.1  # it came to about 93 points with this\n"
    places = [code[start:end] for start, end in _prose_places("train.py", code)]
    assert places == ["# it came to about 93 points with this"]


def test_a_cited_work_keeps_its_own_results():
    secrets = secrets_for(paper(), CLAIMS)
    text = "Their accuracy is 71.5, ours was 93.2 and improves on it."
    shown, _ = mask_text(text, secrets, where="ref", reach=Reach.VALUES)
    assert shown == "Their accuracy is 71.5, ours was [masked] and improves on it."
