"""`task.yaml`: what its parts ask of each other, told at the line that is wrong."""

import pytest

from repro_pipeline.bundle.task import Task
from repro_pipeline.errors import FileFormatError
from repro_pipeline.yamlfile import parse_model

CLAIMS = """\
claims:
  - {id: a, metric: m, reported: {quote: 3.9 percent}}
  - {id: b, metric: m, reported: {quote: 4.9 percent}}
"""


def task(text):
    return parse_model(CLAIMS + text, Task, name="task.yaml")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "ablations:\n  - {id: p, full: a, variant: c}\n",
            "5: ablations[0].variant: the claim 'c' is not among: a, b.",
        ),
        (
            "comparisons:\n  - {id: p, full: c, variant: a}\n",
            "5: comparisons[0].full: the claim 'c' is not among: a, b.",
        ),
        (
            "ablations: [{id: p, full: a, variant: b}]\n"
            "comparisons:\n  - {id: p, full: a, variant: b}\n",
            "6: comparisons[0].id: 'p' stands twice.",
        ),
        (
            "outputs:\n  - {claim: c, file: f, json: $.x}\n",
            "5: outputs[0].claim: the claim 'c' is not among: a, b.",
        ),
        (
            "outputs:\n  - {claim: a, file: f, json: $.x}\n  - {claim: a, file: f, json: $.y}\n",
            "6: outputs[1].claim: 'a' stands twice.",
        ),
        (
            "outputs:\n  - {claim: a, file: f}\n",
            "5: outputs[0]: needs exactly one of `json`, `csv`, `regex`.",
        ),
        (
            "outputs:\n  - {claim: a, file: f, regex: x, json: $.x}\n",
            "5: outputs[0]: needs exactly one of `json`, `csv`, `regex`.",
        ),
        (
            "outputs:\n  - claim: a\n    file: f\n    regex: '(x'\n",
            "7: outputs[0].regex: is no valid regular expression: missing ), unterminated "
            "subpattern at position 0.",
        ),
        (
            "outputs:\n  - claim: a\n    file: f\n    json: $.a..b\n",
            "7: outputs[0].json: the path is not understood from '..b' on; write it as "
            "$.results[0].accuracy or $.runs[*]['top-1'].",
        ),
        ("data:\n  - {name: d}\n", "5: data[0]: needs exactly one of `path`, `uri`."),
        (
            "data:\n  - {name: d, path: x}\n  - {name: d, path: y}\n",
            "6: data[1].name: 'd' stands twice.",
        ),
        (
            "seeds: [1, 4294967296]\n",
            "4: seeds[1]: must be less than 4294967296, not the number 4294967296.",
        ),
        (
            "assumptions:\n  - id: x\n    topic: t\n    statement: s\n    source: {kind: human}\n"
            "    claims: [a, c]\n",
            "9: assumptions[0].claims[1]: the claim 'c' is not among: a, b.",
        ),
        (
            "assumptions:\n  - id: x\n    topic: t\n    statement: s\n"
            "    source: {kind: paper, quote: ' '}\n",
            "8: assumptions[0].source.quote: must match pattern '\\S', not the text ' '.",
        ),
    ],
)
def test_a_fault_between_parts_is_told_where_it_stands(text, sentence):
    with pytest.raises(FileFormatError) as error:
        task(text)
    assert str(error.value) == f"task.yaml:{sentence}"


def test_only_one_claim_is_main():
    text = CLAIMS.replace("metric: m", "metric: m, main: true")
    with pytest.raises(FileFormatError, match=r"task\.yaml:3: claims\[1\]\.main: more than one"):
        parse_model(text, Task, name="task.yaml")


def test_what_a_task_says_is_what_is_read():
    found = task(
        "seeds: [3, 1]\n"
        "code: {path: src, command: [python, x.py, '{seed}'], python: '3.10', timeout: 10m}\n"
        "outputs:\n  - {claim: a, file: log.csv, csv: {where: {epoch: '5'}, column: acc}, stat: mean}\n"
        "data:\n  - {name: d, path: d.csv, roles: {train: t.idx, test: all}, private: true}\n"
    )
    assert found.seeds == (3, 1)
    assert found.code.command == ("python", "x.py", "{seed}")
    assert (found.code.python, found.code.timeout) == ("3.10", 600)
    assert found.outputs[0].csv.where == {"epoch": "5"}
    assert (found.outputs[0].stat, found.data[0].roles["test"]) == ("mean", "all")
