"""A file with a fault gives one sentence with the line, the place and the mending; never a guess."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from repro_pipeline.bundle.task import Task
from repro_pipeline.choices import _is_one_slip
from repro_pipeline.config import ProjectConfig
from repro_pipeline.errors import FileFormatError
from repro_pipeline.experiment.spec import ExperimentSpec
from repro_pipeline.scoring.rubric import Rubric
from repro_pipeline.yamlfile import load_model, parse_model
from repro_pipeline.yamltext import LARGEST, read_yaml

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "random-forests-2001"
CLAIM = """\
claims:
  - id: a
    metric: error
    reported: {value: 1.5, quantum: 0.1, source: a person}
"""


def refused(text, model=Task):
    """The sentences of the refusal, one a fault."""
    with pytest.raises(FileFormatError) as error:
        parse_model(text, model, name="f.yaml")
    return str(error.value).split("\n")


# --- unknown and missing keys -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "model", "sentence"),
    [
        ("schema: 1\n\nclaim: []\n", Task, "f.yaml:3: unknown key 'claim'. Did you mean 'claims'?"),
        (
            CLAIM + "Code: {path: code}\n",
            Task,
            "f.yaml:5: unknown key 'Code'. Did you mean 'code'?",
        ),
        (
            "claims:\n- id: a\n  reported:\n    table: T\n    row: [r]\n    colum: [c]\n  metric: m\n",
            Task,
            "f.yaml:6: unknown key 'claims[0].reported.colum'. Did you mean 'column'?",
        ),
        (
            "claims:\n- id: a\n  metric: m\n  reported:\n    table:\n      lable: x\n"
            "    row: [r]\n    column: [c]\n",
            Task,
            "f.yaml:6: unknown key 'claims[0].reported.table.lable'. Did you mean 'label'?",
        ),
        (  # a key of another form of the address than the one that its other keys suggest
            "claims:\n- id: a\n  metric: m\n  reported:\n    qoute: 3.9 percent\n",
            Task,
            "f.yaml:5: unknown key 'claims[0].reported.qoute'. Did you mean 'quote'?",
        ),
        (
            CLAIM + "outputs:\n  - claim: a\n    file: f\n    csv: {were: {e: x}, column: c}\n",
            Task,
            "f.yaml:8: unknown key 'outputs[0].csv.were'. Did you mean 'where'?",
        ),
        (  # keys of a mapping whose keys are words of a list
            "data:\n  - name: d\n    path: p\n    roles:\n      train: all\n      tset: all\n",
            Task,
            "f.yaml:6: unknown key 'data[0].roles.tset'. Did you mean 'test'?",
        ),
        (
            "models:\n  coder:\n    model: x\n    temprature: 1.0\n",
            ProjectConfig,
            "f.yaml:4: unknown key 'models.coder.temprature'. Did you mean 'temperature'?",
        ),
        (
            "dimensions:\n  metric_parity: {treshold: 0.1}\n",
            Rubric,
            "f.yaml:2: unknown key 'dimensions.metric_parity.treshold'. Did you mean 'threshold'?",
        ),
        (
            "entry: [python]\nexperiments:\n  - {id: e, claims: [a], config: c, tiemout: 1m}\n",
            ExperimentSpec,
            "f.yaml:3: unknown key 'experiments[0].tiemout'. Did you mean 'timeout'?",
        ),
        (  # per cent in place of a fraction
            "dimensions:\n  metric_parity: {threshold: 15}\n",
            Rubric,
            "f.yaml:2: dimensions.metric_parity.threshold: must be a fraction above 0 and below 1 "
            "(0.15 is 15 %), not the number 15.",
        ),
        (
            "review:\n  rates: {early: 25}\n",
            Rubric,
            "f.yaml:2: review.rates.early: must be a fraction from 0 to 1 (0.15 is 15 %), "
            "not the number 25.",
        ),
        (
            "alerts: {budget: 80}\n",
            ProjectConfig,
            "f.yaml:1: alerts.budget: must be a fraction from 0 to 1 (0.15 is 15 %), "
            "not the number 80.",
        ),
        (  # nothing near: say what there is
            "review: {zzz: 1}\n",
            Rubric,
            "f.yaml:1: unknown key 'review.zzz'. Known keys: double_blind, phase, rates, seed, "
            "stable_after, stable_kappa.",
        ),
        (
            "on: 1\n",
            Rubric,
            "f.yaml:1: unknown key 'on'. Known keys: dimensions, false_discovery, review, schema.",
        ),
        (
            "3: 1\n",
            Rubric,
            "f.yaml:1: unknown key '3'. Known keys: dimensions, false_discovery, review, schema.",
        ),
        (
            "claims:\n  - id: a\n    metric: m\n",
            Task,
            "f.yaml:2: the key 'claims[0].reported' is missing.",
        ),
        (
            "claims:\n- id: a\n  metric: m\n  reported:\n    quote: 3.9 percent\n    row: [r]\n",
            Task,
            "f.yaml:6: the key 'claims[0].reported.row' does not go with the others. "
            "Here go: occurrence, part, quote.",
        ),
    ],
)
def test_a_wrong_key_is_told_once_with_its_line_and_the_nearest_key(text, model, sentence):
    assert refused(text, model) == [sentence]


def keys_of(node, place=()):
    """Every key that a model knows, as (place, node); settings of configurations are free."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            free = "change" in place or ("sample" in place and "config" in place)
            if not free:
                yield (*place, key.value), key
            yield from keys_of(value, (*place, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from keys_of(item, place)


FILES = [
    ((EXAMPLE / name).read_text(encoding="utf-8"), model)
    for name, model in (("task.yaml", Task), ("code/experiment.yaml", ExperimentSpec))
]
KEYS = [(text, model, key) for text, model in FILES for _, key in keys_of(yaml.compose(text))]


def typos(word):
    """Words one slip away: a letter lost, doubled, exchanged, put in, or two of them swapped."""
    letters = "abcdefghijklmnopqrstuvwxyz_"
    slips = {word[:i] + word[i + 1 :] for i in range(len(word))}
    slips |= {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1)}
    slips |= {word[:i] + c + word[i + 1 :] for i in range(len(word)) for c in letters}
    slips |= {word[:i] + c + word[i:] for i in range(len(word) + 1) for c in letters}
    slips |= {word.capitalize(), word.upper()}
    return sorted(slips - {word, ""})


def model_keys(model):
    """Every key that a model, or one within it, knows."""
    found, waiting = set(), [model.model_json_schema(by_alias=True)]
    while waiting:
        schema = waiting.pop()
        found |= set(schema.get("properties", ()))
        waiting += schema.get("$defs", {}).values()
    return found


SLIPS = {}
"""(model, key) -> the slips that lead to this key of the model and to no other."""
for _model in (Task, ExperimentSpec):
    _reached = Counter(slip for key in model_keys(_model) for slip in {key, *typos(key)})
    for _key in model_keys(_model):
        SLIPS[_model, _key] = [slip for slip in typos(_key) if _reached[slip] == 1]


def test_every_single_slip_in_a_key_is_understood():
    for (_, key), slips in SLIPS.items():
        for slip in slips:
            assert _is_one_slip(slip.lower(), key)
    for one, other in [
        ("id", "of"),
        ("path", "aptt"),
        ("a", ""),
        ("", ""),
        ("abc", "cba"),
        ("x", "xyz"),
    ]:
        assert _is_one_slip(one, other) == (one + other in {"a", ""})


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_typo_in_any_key_of_the_example_names_the_line_and_the_key(data):
    text, model, key = KEYS[data.draw(st.integers(0, len(KEYS) - 1))]
    typo = data.draw(st.sampled_from(SLIPS[model, key.value]))
    broken = text[: key.start_mark.index] + typo + text[key.end_mark.index :]
    line = key.start_mark.line + 1
    sentences = refused(broken, model)
    assert len(sentences) == 1
    assert sentences[0].startswith(f"f.yaml:{line}: unknown key '")
    assert f"{typo}'. Did you mean '{key.value}'?" in sentences[0]


def test_the_example_itself_is_accepted():
    for text, model in FILES:
        parse_model(text, model, name="f.yaml")


def test_several_faults_are_told_at_once_in_the_order_of_the_file():
    sentences = refused(CLAIM + "titel: x\nseeds: [1, -1]\nbudget: {usd: -1}\n")
    assert [sentence.split(":")[1] for sentence in sentences] == ["5", "6", "7"]


def test_very_many_faults_are_cut_off_and_counted_as_more():
    sentences = refused("".join(f"key{n}: 1\n" for n in range(5000)))
    assert len(sentences) == 21
    assert sentences[-1] == "f.yaml: There are more faults than these."


# --- values -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "id: 2024",
            "claims[0].id: must be a text, not the number 2024. Write it in quotes: '2024'.",
        ),
        (
            "id: 3.10",
            "claims[0].id: must be a text, not the number 3.10. Write it in quotes: '3.10'.",
        ),
        ("id: true", "claims[0].id: must be a text, not true. Write it in quotes: 'true'."),
        ("id: [a]", "claims[0].id: must be a text, not a list."),
        ("id: {a: b}", "claims[0].id: must be a text, not a mapping."),
        ("id:", "claims[0].id: must be a text, not nothing."),
        ("key: 1", "claims[0].key: must be true or false, not the number 1."),
        ("key: 'true'", "claims[0].key: must be true or false, not the text 'true'."),
        ("n_runs: true", "claims[0].n_runs: must be a whole number, not true."),
        ("n_runs: 2.5", "claims[0].n_runs: must be a whole number, not the number 2.5."),
        ("n_runs: '5'", "claims[0].n_runs: must be a whole number, not the text '5'."),
        (
            "n_runs: 0",
            "claims[0].n_runs: must be greater than or equal to 1, not the number 0.",
        ),
        (
            "direction: lowr",
            "claims[0].direction: must be 'lower', 'higher' or 'match', not the text 'lowr'.",
        ),
        (
            "reported: {table: T, row: Twonorm, column: [c]}",
            "claims[0].reported.row: must be a list, not the text 'Twonorm'. "
            "A list is written [one, two].",
        ),
        (  # a header that is a number
            "reported: {table: T, row: [100], column: [c]}",
            "claims[0].reported.row[0]: must be a text, not the number 100. "
            "Write it in quotes: '100'.",
        ),
        (
            "reported: {table: 2, row: [r], column: [c]}",
            "claims[0].reported.table: must be a text, not the number 2. Write it in quotes: '2'.",
        ),
        (
            "reported: {table: {index: 0}, row: [r], column: [c]}",
            "claims[0].reported.table.index: must be greater than or equal to 1, not the number 0.",
        ),
        (
            "reported: {value: 3.9, source: x}",
            "claims[0].reported: needs `quantum`: one unit of the last printed digit "
            "(0.1 for a printed 3.9).",
        ),
    ],
)
def test_a_wrong_value_is_told_with_its_line_and_what_it_should_be(line, sentence):
    given = {"id": "id: a", "metric": "metric: m", "reported": "reported: {quote: 3.9 percent}"}
    given[line.split(":")[0]] = line
    text = "claims:\n  -\n" + "".join(f"    {one}\n" for one in given.values())
    assert refused(text) == [f"f.yaml:{3 + list(given.values()).index(line)}: {sentence}"]


def test_python_3_10_is_not_silently_python_3_1():
    text = "code: {path: code, python: 3.10}\n"
    assert refused(text) == [
        "f.yaml:1: code.python: must be a text, not the number 3.10. Write it in quotes: '3.10'."
    ]
    quoted = parse_model(text.replace("3.10", "'3.10'"), Task, name="f.yaml")
    assert quoted.code.python == "3.10"


@pytest.mark.parametrize("word", ["yes", "No", "ON", "off"])
def test_words_that_yaml_versions_read_differently_are_refused_unless_quoted(word):
    text = f"schema: 1\ntitle: {word}\n"
    assert refused(text) == [
        f"f.yaml:2: the bare word {word} may mean a text or true or false. "
        f"Write true, false or '{word}'."
    ]
    assert parse_model(text.replace(word, f"'{word}'"), Task, name="f.yaml").title == word


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2024-01-31", "2024-01-31"),
        ("1:30", "1:30"),
        ("007", "007"),
        ("0x1f", 31),
        ("1_000", 1000),
        ("-3", -3),
        ("1e-3", 0.001),
        ("1e5", 1e5),
        ("2.5E+3", 2500.0),
        (".5", 0.5),
        ("3.", 3.0),
        ("null", None),
        ("~", None),
        ("true", True),
        ("False", False),
        ("'1e-3'", "1e-3"),
        ("1.2.3", "1.2.3"),
        ("e5", "e5"),
    ],
)
def test_bare_scalars_are_what_a_reader_takes_them_for(text, value):
    found = read_yaml(f"a: {text}\n", "f").value["a"]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", [".nan", ".inf", "-.INF", "1e999", "12345e6789"])
def test_a_number_that_is_not_finite_is_refused(text):
    assert refused(f"schema: 1\ntitle: {text}\n") == [
        f"f.yaml:2: {text} is no finite number. If it is a text, put it in quotes."
    ]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_as_python_prints_it_is_read_as_that_float(value):
    found = read_yaml(f"a: {value!r}\n", "f").value["a"]
    assert isinstance(found, float)
    assert found == value


# --- what is no YAML, or should not be ----------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "f.yaml: is empty."),
        ("# nothing\n", "f.yaml: is empty."),
        ("- a\n", "f.yaml:1: must be a mapping of keys to values."),
        (
            "just words\n",
            "f.yaml:1: must be a mapping of keys to values. "
            "Write a colon and a space between a key and its value.",
        ),
        ("schema: 1\nschema: 1\n", "f.yaml:2: the key 'schema' stands twice."),
        ("code:\n  path: a\n  path: b\n", "f.yaml:3: the key 'path' stands twice."),
        ("code: {path: a, 'path': b}\n", "f.yaml:1: the key 'path' stands twice."),
        ("schema: 1\n? [a, b]\n: 1\n", "f.yaml:2: a key must be a text."),
        ("schema: 1\ntitle: &a [*a]\n", "f.yaml:2: an alias refers to itself."),
        ("schema: 1\ntitle: &a {b: *a}\n", "f.yaml:2: an alias refers to itself."),
        ("schema: 1\ntitle: *b\n", "f.yaml:2: is no valid YAML: found undefined alias 'b'."),
        (
            "title: !!python/object/apply:os.system [ls]\n",
            "f.yaml:1: the tag '!!python/object/apply:os.system' is not known here.",
        ),
        ("title: !!int abc\n", "f.yaml:1: 'abc' cannot be read as its tag says."),
        ("a: 1\nb: \0\n", "f.yaml:2: holds the character U+0000, which YAML does not allow."),
        (
            "schema: 1\n---\nschema: 1\n",
            "f.yaml:2: is no valid YAML: expected a single document in the stream, "
            "but found another document.",
        ),
        (
            "claims:\n\t- id: a\n",
            "f.yaml:2: is no valid YAML: while scanning for the next token, found character "
            "'\\t' that cannot start any token. Indent with spaces, not with tabs.",
        ),
        ("schema: 1\nclaims: [a\n", None),
        ("a: 'x\n", None),
        ("a: " + "[" * 100 + "]" * 100, "f.yaml:1: is nested more than 40 deep."),
        ("[" * 20_000, "f.yaml: is nested more than 40 deep."),
        ("a: " + "x" * LARGEST, "f.yaml: is larger than 1 MiB."),
    ],
)
def test_what_is_no_usable_yaml_is_refused_with_its_line(text, sentence):
    (told,) = refused(text)
    assert told == sentence or (
        sentence is None and re.match(r"f\.yaml:\d: is no valid YAML", told)
    )


NO_COLON = "is no valid YAML: behind '{0}' a colon is missing. Write `{0}: {1}`."


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("title My paper\nschema: 1\n", 1, NO_COLON.format("title", "My paper")),
        ("schema: 1\ntitle My paper\nclaims: []\n", 2, NO_COLON.format("title", "My paper")),
        ("schema: 1\n\n# why\ntitle My paper", 4, NO_COLON.format("title", "My paper")),
        ("title My paper\n\n# why\nschema: 1\n", 1, NO_COLON.format("title", "My paper")),
        ("claims:\n  - id a\n    metric: b\n", 2, NO_COLON.format("id", "a")),
        ("claims:\n  - id: a\n    metric b\n    unit: x\n", 3, NO_COLON.format("metric", "b")),
        ("code:\n  path a\n  name: b\n", 2, NO_COLON.format("path", "a")),
        ("schema: 1\nseeds\n", 2, NO_COLON.format("seeds", "…")),
        (f"schema: 1\na {'x' * 90}\nb: 2\n", 2, NO_COLON.format("a", "x" * 60 + "…")),
        ("schema:1\nclaims: []\n", 1, "behind 'schema:' a space is missing. Write `schema: 1`."),
        ("schema: 1\ntitle: My paper: a study\n", 2, "a second colon stands in this line."),
        ("schema: 1\n  claims: []\n", 2, "indented deeper than line 1, which has a value already."),
        ("code:\n  path: a\n name: b\n", 3, "starts in another column than those that it goes"),
        ("schema: 1\ntitle: 'My\nclaims: []\n", 2, "the quote that opens here is never closed."),
        ("claims: [a, b\nseeds: 3\n", 2, "the [ that opens on line 1 is not closed, or a comma"),
        ("code: {path: a\nseeds: 3\n", 2, "the { that opens on line 1 is not closed, or a comma"),
    ],
)
def test_a_slip_is_told_with_its_own_line_and_what_is_missing(text, line, said):
    (told,) = refused(text)
    assert told.startswith(f"f.yaml:{line}: is no valid YAML: ")
    assert said in told


BEHIND = (
    "text stands behind a closed quote or bracket. Close each quote where its text ends, "
    "and put the whole text in quotes of a kind that it does not hold."
)
DASH = "A dash is missing or one too many, or the line is indented wrongly."
ITEM_AMONG_KEYS = f"this line is an item of a list, in the column of a mapping's keys. {DASH}"
KEY_AMONG_ITEMS = f"this line is a key, in the column of a list's items. {DASH}"
NO_FOLLOWING = (
    "this line does not go on with those before it. "
    "Look at its indentation, and at the quotes and brackets before it."
)
COLUMN = (
    "this line starts in another column than those that it goes with. "
    "Keys of one mapping, and items of one list, are indented alike."
)
DEEPER = (
    "this line is indented deeper than line {0}, which has a value already. "
    "Indent the keys of one mapping alike. Put a text over several lines in quotes."
)
GOES_ON = "this line goes on with the text that begins on line {0}, and has a colon. "
TEXT_GOES_ON = (
    f"{GOES_ON}A text over several lines that holds a colon and a space must stand in quotes; "
    "a key is indented like the others of its mapping."
)
ITEM = "An item of a list starts with a dash and a space."
NO_KEY = "a key with its colon must stand here, in one line."
LONG = "k" * 1100


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("a: 'it's'", 1, BEHIND),
        ('title: "Breiman" (2001)', 1, BEHIND),
        ('a: "x\nb: "y"\n', 2, BEHIND),
        ("regex: [0-9]+ x", 1, BEHIND),
        ("entry: {python} run.py", 1, BEHIND),
        ("a: [x] [y]", 1, BEHIND),
        ("x: &a 1\nb: *a y\n", 2, NO_FOLLOWING),
        ("x: [a]\n]", 2, "a ] stands here that closes no [."),
        ("x: {a: b}}", 1, "a } stands here that closes no {."),
        ("e:\n  - id: a\n  id: b", 3, KEY_AMONG_ITEMS),
        ("- a\nkey: 1", 2, KEY_AMONG_ITEMS),
        ("a: 1\n- b", 2, ITEM_AMONG_KEYS),
        ("a: 1\n: 2", 2, NO_FOLLOWING),
        ("title: 'x'\n  (2001)\n", 2, NO_FOLLOWING),
        ("code:\n  path: a\n name: b\n", 3, COLUMN),
        ("a:\n  - x\n - y\n", 3, COLUMN),
        ("- a: x\n b: y\n", 2, COLUMN),
        ("a: 'x'\n  b: 1\n", 2, DEEPER.format(1)),
    ],
)
def test_what_does_not_follow_is_told_to_stand_in_a_wrong_column_only_where_it_does(
    text, line, sentence
):
    assert refused(text) == [f"f.yaml:{line}: is no valid YAML: {sentence}"]


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        (
            "notes: we ran it\n  once more and found\n  the following: it works",
            3,
            TEXT_GOES_ON.format(1),
        ),
        ("- some text that\n    goes: on", 2, TEXT_GOES_ON.format(1)),
        ("a: b\n  - c\n  - d: e", 3, TEXT_GOES_ON.format(1)),
        ("a:\n  we ran\n  it and\n  found: c\n", 4, TEXT_GOES_ON.format(2)),
        ("a:\n- x\n- y\n z: 1", 4, TEXT_GOES_ON.format(3)),
        ("a:\n  -x\n  -y\n b: 1", 4, GOES_ON.format(2) + ITEM),
        ("title: one\n  two: three\n", 2, DEEPER.format(1)),
        (  # a key or a text: both are said
            "notes:\n  we ran it\n  and found: it works\n",
            2,
            "behind 'we' a colon is missing. Write `we: ran it`. "
            "If it is a text over several lines, put it in quotes.",
        ),
        (  # nothing but a key can stand at the start of a file
            "code\n  path: a\n",
            1,
            "behind 'code' a colon is missing. Write `code: …`.",
        ),
        ("\ufefftitle x\nb: 1\n", 1, "behind 'title' a colon is missing. Write `title: x`."),
        ("a:\n- b\n-c\nd: e\n", 3, f"{NO_KEY} {ITEM}"),
        ("a: 1\n-c\nd: e\n", 2, f"{NO_KEY} {ITEM}"),
        ("a:\n- b\nc\n- d\n", 3, f"{NO_KEY} {ITEM}"),
        ("a: 'x'\n'b' c\nd: e\n", 2, NO_KEY),
        (
            " - x\n - y\nb: 1\n",
            3,
            "expected '<document start>', but found '<block mapping start>'.",
        ),
        (f"{LONG}: 1\nb: 2\n", 1, "a key has at most 1024 characters."),
        (f"a: 1\n{LONG}: 1\n", 2, "a key has at most 1024 characters."),
        (f"a: 1\n{LONG} x\nb: 2\n", 2, NO_KEY),
        (f"a: 1\nb {LONG}\nb: 2\n", 2, NO_KEY),
        (
            f"a: 1\n{LONG[:300]} x\nb: 2\n",
            2,
            f"behind '{LONG[:60]}…' a colon is missing. Write `{LONG[:60]}…: x`.",
        ),
    ],
)
def test_a_missing_colon_is_told_only_where_it_is_no_text_over_several_lines(text, line, sentence):
    assert refused(text) == [f"f.yaml:{line}: is no valid YAML: {sentence}"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*"ab:-?'\"[]{}&*|#,%\n\n  ", "\n  ", ": ", "- "]), max_size=25))
def test_any_text_is_read_or_refused_with_a_line_that_it_has(parts):
    text = "".join(parts)
    try:
        read_yaml(text, "f")
    except FileFormatError as error:
        line = re.match(r"f(?::(\d+))?: ", str(error))[1]
        assert line is None or 1 <= int(line) <= text.count("\n") + 1


LAUGHS = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
from repro_pipeline.bundle.task import Task
from repro_pipeline.errors import FileFormatError
from repro_pipeline.yamlfile import parse_model
try:
    parse_model(sys.stdin.read(), Task, name="f.yaml")
except FileFormatError as error:
    print(error)
"""


def doubling(first, shape):
    """Nine levels of ten aliases each: a thousand million times the first value."""
    text = f"a0: &a0 {first}\n"
    for level in range(1, 10):
        text += f"a{level}: &a{level} {shape}\n".replace("%", f"*a{level - 1}")
    return text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (doubling("[]", "[" + "%, " * 9 + "%]"), r"f\.yaml:\d+: holds more than 100000 values\."),
        (
            doubling("{x: y}", "{" + ", ".join(f"k{n}: %" for n in range(10)) + "}"),
            r"f\.yaml:\d+: holds more than 100000 values\.",
        ),
        (
            f"title: &a {'x' * 500_000}\nexclude: [{', '.join(['*a'] * 50_000)}]\n",
            r"f\.yaml: is larger than 1 MiB\.",
        ),
        (
            f"title: {{? &a {'x' * 1000} : &b {{? {'y' * 1000} : 1}}}}\n"
            f"exclude: [{', '.join(['*b'] * 50_000)}]\n",
            r"f\.yaml: is larger than 1 MiB\.",
        ),
    ],
)
def test_aliases_of_aliases_are_refused_before_they_fill_the_memory(text, told):
    done = subprocess.run(
        [sys.executable, "-P", "-c", LAUGHS],
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert re.fullmatch(told, done.stdout.strip()), done.stderr[-500:]


def test_an_alias_stands_for_what_it_names_and_its_faults_for_where_that_is_written():
    address = "{value: 1.5, quantum: 0.1, source: x}"
    text = (
        f"claims:\n  - id: a\n    metric: m\n    reported: &r {address}\n"
        "  - id: b\n    metric: m\n    reported: *r\n"
    )
    task = parse_model(text, Task, name="f.yaml")
    assert task.claims[0].reported == task.claims[1].reported
    assert [sentence.split(":")[1] for sentence in refused(text.replace("0.1", "-1"))] == ["4", "4"]


def test_a_fault_between_keys_is_told_at_the_key_that_is_wrong():
    pair = "ablations:\n  - id: p\n    full: a\n    variant: b\n"
    assert refused(CLAIM + pair) == [
        "f.yaml:8: ablations[0].variant: the claim 'b' is not among: a."
    ]
    assert refused(CLAIM + pair.replace("variant: b", "variant: a")) == [
        "f.yaml:8: ablations[0].variant: `full` and `variant` are the same claim."
    ]
    assert refused(CLAIM + CLAIM.removeprefix("claims:\n")) == [
        "f.yaml:5: claims[1].id: 'a' stands twice."
    ]
    assert refused("seeds: [3, 4,\n  3]\n") == ["f.yaml:2: seeds[2]: '3' stands twice."]


# --- files --------------------------------------------------------------------------------------


def test_files_that_cannot_be_read_are_told_with_their_name(tmp_path):
    path = tmp_path / "task.yaml"

    def told():
        with pytest.raises(FileFormatError) as error:
            load_model(path, Task)
        return str(error.value).removeprefix(str(path))

    assert told() == ": no such file."
    path.write_bytes(b"schema: 1\ntitle: caf\xe9\n")
    assert told() == ":2: is not UTF-8. Save it in that encoding."
    path.write_bytes("schema: 1\n".encode("utf-16"))
    assert told() == ":1: is not UTF-8. Save it in that encoding."
    with path.open("wb") as stream:
        stream.truncate(1 << 40)
    assert told() == ": is larger than 1 MiB."
    path.unlink()
    path.mkdir()
    assert told() == ": is no file."


def test_a_file_with_a_byte_order_mark_and_windows_line_ends_is_read(tmp_path):
    path = tmp_path / "task.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + CLAIM.replace("\n", "\r\n").encode() + b"titel: x\r\n")
    with pytest.raises(FileFormatError, match=r"task\.yaml:5: unknown key 'titel'"):
        load_model(path, Task)


def test_json_is_read_as_well():
    assert parse_model('{"schema": 1, "title": "x"}', Task, name="f.json").title == "x"
