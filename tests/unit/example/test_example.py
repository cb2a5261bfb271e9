"""The bundled example agrees with itself: claims, experiments, assumptions, table and notes."""

import re
from pathlib import Path

import pytest
import yaml

BUNDLE = Path(__file__).resolve().parents[3] / "examples" / "random-forests-2001"
TASK = yaml.safe_load((BUNDLE / "task.yaml").read_text(encoding="utf-8"))
SPEC = yaml.safe_load((BUNDLE / "code" / "experiment.yaml").read_text(encoding="utf-8"))
PAPER = (BUNDLE / "paper.tex").read_text(encoding="utf-8")
CLAIMS = [claim["id"] for claim in TASK["claims"]]
ASSUMPTIONS = {assumption["id"]: assumption for assumption in TASK["assumptions"]}


def of_kind(kind):
    return [entry for entry in SPEC["experiments"] if entry["kind"] == kind]


def result_table():
    """Row header -> column header -> printed text, of the one table of the paper."""
    body = re.search(r"\\label\{tab:synthetic\}(.*?)\\end\{tabular\}", PAPER, re.DOTALL).group(1)
    rows = [
        [cell.strip() for cell in row.split("&")]
        for row in re.findall(r"^.*&.*(?=\\\\)", body, re.M)
    ]
    header, *rest = rows
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rest}


def test_every_claim_is_covered_by_exactly_one_baseline():
    covered = [claim for entry in of_kind("baseline") for claim in entry["claims"]]
    assert sorted(covered) == sorted(CLAIMS)
    assert len(CLAIMS) == len(set(CLAIMS)) == 16


def test_each_claim_names_its_own_cell_of_the_table():
    cells = set()
    for claim in TASK["claims"]:
        address = claim["reported"]
        assert address["table"] == {"label": "tab:synthetic"}
        (row,), (column,) = address["row"], address["column"]
        assert re.fullmatch(r"\d+\.\d", result_table()[row][column])
        assert claim["id"] == f"{row} {column}".lower().replace(" ", "-")
        cells.add((row, column))
    assert len(cells) == 16


def test_pairs_name_claims_of_one_data_set():
    dataset = {claim["id"]: claim["dataset"] for claim in TASK["claims"]}
    for pair in TASK["ablations"] + TASK["comparisons"]:
        assert dataset[pair["full"]] == dataset[pair["variant"]]
        assert pair["full"] != pair["variant"]


def test_each_highly_influential_assumption_has_its_sensitivity_experiment():
    wanted = {
        (assumption["sensitivity"], name)
        for name, assumption in ASSUMPTIONS.items()
        if assumption["influence"] == "high"
    }
    assert wanted == {(entry["id"], entry["assumption"]) for entry in of_kind("sensitivity")}
    base = {entry["id"]: entry for entry in of_kind("baseline")}
    for entry in of_kind("sensitivity"):
        ((factor, value),) = entry["change"].items()
        config = yaml.safe_load((BUNDLE / "code" / base[entry["of"]]["config"]).read_text())
        assert config[factor] != value


@pytest.mark.parametrize("name", ASSUMPTIONS)
def test_what_an_assumption_quotes_stands_in_its_source(name):
    source = ASSUMPTIONS[name]["source"]
    assert set(ASSUMPTIONS[name].get("claims", [])) <= set(CLAIMS)
    if source["kind"] == "reference":
        assert "\\bibitem" in PAPER and f"]{{{source['reference']}}}" in PAPER
        text = (BUNDLE / source["file"]).read_text(encoding="utf-8")
        assert f"key: {source['reference']}\n" in text
    else:
        text = PAPER
    assert source.get("quote", "") in text


def test_the_lock_has_hashes_and_names_no_index():
    lock = (BUNDLE / "code" / "requirements.lock").read_text(encoding="utf-8")
    packages = re.findall(r"^[\w.-]+==", lock, re.M)
    assert {"numpy==", "scikit-learn=="} <= set(packages)
    assert lock.count("--hash=sha256:") >= len(packages)
    assert "://" not in lock and "index-url" not in lock
