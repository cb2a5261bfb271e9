"""What a run left counts only if it is there, fresh, finite, and just what was asked for."""

import json
import os
import time

import pytest
from experiment_cases import task
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repro_pipeline.experiment import metrics
from repro_pipeline.experiment.metrics import MetricsError, read_values
from repro_pipeline.ledger.runs import ValueSource

CLAIMS = ("a", "b")


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (tmp_path / "log").write_text("starting\n")
    return folder


def read(out, *, claims=CLAIMS, outputs=(), started_ns=0):
    return read_values(
        out, out.parent / "log", claims=claims, outputs=outputs, started_ns=started_ns
    )


def refused(out, **more):
    with pytest.raises(MetricsError) as error:
        read(out, **more)
    return error.value.code, str(error.value)


def metrics_text(*values):
    return json.dumps({"metrics": [{"claim": c, "value": v} for c, v in values]})


GOOD = metrics_text(("a", 3.9), ("b", 4))


def test_values_are_read_as_they_were_reported(out):
    (out / "metrics.json").write_text(GOOD)
    values, source = read(out)
    assert values == {"a": 3.9, "b": 4.0}
    assert source is ValueSource.SELF_REPORTED
    assert all(type(value) is float for value in values.values())


@given(
    st.dictionaries(
        st.sampled_from("abcdef"), st.floats(min_value=-1e100, max_value=1e100), min_size=1
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_every_finite_value_comes_through_unchanged(out, values):
    (out / "metrics.json").write_text(metrics_text(*values.items()))
    assert read(out, claims=tuple(values))[0] == values


@pytest.mark.parametrize(
    ("text", "code", "sentence"),
    [
        ("", "metrics_empty", "metrics.json: is empty."),
        (" \n", "metrics_empty", "metrics.json: is empty."),
        (
            '{"metrics": []}',
            "metrics_empty",
            "metrics.json: holds no values. Expected: a, b.",
        ),
        (
            GOOD.replace("3.9", "NaN"),
            "metrics_not_finite",
            "metrics.json: holds NaN, which is no finite number.",
        ),
        (
            GOOD.replace("3.9", "Infinity"),
            "metrics_not_finite",
            "metrics.json: holds Infinity, which is no finite number.",
        ),
        (
            GOOD.replace("3.9", "-Infinity"),
            "metrics_not_finite",
            "metrics.json: holds -Infinity, which is no finite number.",
        ),
        (
            GOOD.replace("3.9", "1e999"),
            "metrics_not_finite",
            "metrics.json: holds 1e999, which is no finite number.",
        ),
        (
            metrics_text(("a", 1), ("b", 2), ("c", 3)),
            "metrics_unknown_claim",
            "metrics.json: the claim 'c' is not one of the experiment's: a, b.",
        ),
        (
            metrics_text(("a", 1)),
            "metrics_incomplete",
            "metrics.json: lacks the claims b.",
        ),
        (
            metrics_text(("a", 1), ("b", 2), ("a", 3)),
            "metrics_repeated_claim",
            "metrics.json: reports 'a' twice.",
        ),
        (
            metrics_text(("a", 1), ("a", 1), ("b", 2)),
            "metrics_repeated_claim",
            "metrics.json: reports 'a' twice.",
        ),
        (
            '{"metrics": [{"claim": "a", "value": 1}], "metrics": [{"claim": "a", "value": 2}]}',
            "metrics_malformed",
            "metrics.json: is no usable JSON: the key 'metrics' stands twice.",
        ),
        (
            '{"metrics": [\n{"claim": "a" "value": 1}]}',
            "metrics_malformed",
            "metrics.json:2: is no valid JSON: Expecting ',' delimiter.",
        ),
        (
            "[" * 100_000,
            "metrics_malformed",
            "metrics.json: is no usable JSON: it is nested too deeply.",
        ),
        (GOOD.replace("3.9", "1" * 5000), "metrics_malformed", None),
        (GOOD.replace("3.9", "1" * 400), "metrics_no_number", None),
        (GOOD.replace("3.9", '"3.9"'), "metrics_no_number", None),
        (GOOD.replace("3.9", "true"), "metrics_no_number", None),
        (GOOD.replace("3.9", "null"), "metrics_no_number", None),
        (GOOD.replace("3.9", "[3.9]"), "metrics_no_number", None),
        (GOOD.replace('"value": 3.9', '"value": 3.9, "sd": 1'), "metrics_malformed", None),
        ('{"a": 3.9, "b": 4}', "metrics_malformed", None),
        ("[1, 2]", "metrics_malformed", None),
        ("3.9", "metrics_malformed", None),
        ("null", "metrics_malformed", None),
    ],
)
def test_metrics_that_cannot_count_are_refused(out, text, code, sentence):
    (out / "metrics.json").write_text(text)
    found, told = refused(out)
    assert found == code
    assert told == sentence if sentence else told.startswith("metrics.json: ")


def test_a_schema_fault_says_where_and_how_it_should_be(out):
    (out / "metrics.json").write_text(GOOD.replace("3.9", '"3.9"'))
    assert refused(out)[1] == (
        "metrics.json: the value of a is the text '3.9'; write a number: 3.9. "
        'It must be {"metrics": [{"claim": "<id>", "value": 3.9}], "notes": ""}.'
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            metrics_text(("mean_hits", "68%")),
            "the claim 'mean_hits' is not one of the experiment's: mean-hits, median-hits; did you "
            "mean 'mean-hits'? the value of mean_hits is the text '68%'; write a number: 68.",
        ),
        (metrics_text(("mean-hits", None)), "the value of mean-hits is nothing; write a number."),
        (metrics_text(("mean-hits", "1 of 2")), "the text '1 of 2'; write a number."),
        (metrics_text(("mean-hits", "x\ny\x1b" * 99)), "…'; write a number."),
        (metrics_text(("mean-hitz", 1)), "did you mean 'mean-hits'?"),
        ('{"metrics": [{"claim": "mean-hits"}]}', "the item 1 of `metrics` lacks `value`."),
        (
            '{"metrics": [{"claim": 1, "value": 1}]}',
            "`claim` of the item 1 of `metrics` must be a text",
        ),
        ('{"metrics": [{"claim": "a", "value": 1, "sd": 1}]}', "has the unknown key 'sd'."),
        ('{"metrics": {"mean-hits": 1}}', "`metrics` of the file must be a list, not a mapping."),
        ('{"metrics": [3]}', "the item 1 of `metrics` must be a mapping, not the number 3."),
        ('{"mean-hits": 1}', "the file lacks `metrics`. the file has the unknown key 'mean-hits'."),
        ("[1]", "the file must be a mapping, not a list."),
        (metrics_text(*[(f"m_{n}", 1) for n in range(50)]), " 40 more faults. It must be"),
    ],
)
def test_a_schema_fault_shows_what_was_found_in_one_short_line(out, text, sentence):
    (out / "metrics.json").write_text(text)
    told = refused(out, claims=("mean-hits", "median-hits"))[1]
    assert sentence in told and told.isprintable()
    assert len(told) < 300 or len(text) > 1000
    assert "xy" not in told and "pydantic" not in told


def test_all_mappings_that_find_nothing_are_told_each_once(out):
    rows = "".join(f"m{n},{n}\n" for n in range(30)) + "z" * 500 + ",1\n"
    (out / "t.csv").write_text(f"model,acc\n{rows}")
    wanted = "{claim: %s, file: t.csv, csv: {where: {model: %s}, column: acc}}"
    outputs = task(f"outputs: [{wanted % ('a', 'x')}, {wanted % ('b', 'y')}]\n").outputs
    code, told = refused(out, outputs=outputs)
    assert code == "metrics_not_found" and len(told.splitlines()) == 2
    assert "'a' by the column acc where model = x. Columns: model, acc. model is: m0, m1, " in told
    assert "'b' by the column acc where model = y." in told and "m13" not in told
    (out / "t.csv").unlink()
    assert refused(out, outputs=outputs)[1] == "t.csv: the run did not write it."


def test_a_run_that_wrote_nothing_is_refused(out):
    assert refused(out) == ("metrics_missing", "metrics.json: the run did not write it.")
    (out / "metrics.json").mkdir()
    assert refused(out)[0] == "metrics_missing"


def test_a_pipe_in_the_place_of_metrics_is_never_opened(out):
    os.mkfifo(out / "metrics.json")
    assert refused(out)[0] == "metrics_missing"


def test_a_link_to_another_file_is_refused(out, tmp_path):
    (tmp_path / "other.json").write_text(GOOD)
    (out / "here.json").write_text(GOOD)
    for target in (tmp_path / "other.json", "here.json", "nowhere.json"):
        (out / "metrics.json").symlink_to(target)
        assert refused(out) == (
            "metrics_missing",
            "metrics.json: is a link, and no file of the run.",
        )
        (out / "metrics.json").unlink()


def test_a_file_from_before_the_run_is_stale_even_by_an_instant(out):
    path = out / "metrics.json"
    path.write_text(GOOD)
    stamp = path.stat().st_mtime_ns
    assert read(out, started_ns=stamp)[0] == {"a": 3.9, "b": 4.0}
    assert refused(out, started_ns=stamp + 1)[0] == "metrics_stale"
    os.utime(path, ns=(stamp, stamp - 10**15))
    assert refused(out, started_ns=stamp) == (
        "metrics_stale",
        "metrics.json: is older than the run: it was not written by it. "
        "A run must compute its values, not carry over a file.",
    )


def test_a_file_written_after_another_is_never_stale_by_its_stamp(out):
    """The run's start is the stamp of a file, so both are of one clock and one coarseness."""
    for _ in range(200):
        first = out / "first"
        first.write_text("x")
        (out / "metrics.json").write_text(GOOD)
        read(out, started_ns=first.stat().st_mtime_ns)


def test_a_huge_file_is_refused_before_it_is_read(out):
    with (out / "metrics.json").open("wb") as stream:
        stream.truncate(1 << 40)
    code, told = refused(out)
    assert code == "metrics_too_large"
    assert told == f"metrics.json: has {1 << 40} bytes, more than the {16 << 20} that are read."


def test_a_file_that_cannot_be_read_is_told(out, monkeypatch):
    (out / "metrics.json").write_text(GOOD)

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(metrics.Path, "read_text", refuse)
    assert refused(out) == ("metrics_missing", "metrics.json: cannot be read: Permission denied.")


def test_bytes_that_are_no_text_are_refused(out):
    (out / "metrics.json").write_bytes(b"\x80\x04\x95\x00\xff")
    assert refused(out)[0] == "metrics_malformed"


# --- values mapped from existing output ---------------------------------------------------------


def mapped(out, mapping, *, claims=("a",), **more):
    outputs = task(f"outputs:\n  - {mapping}\n").outputs
    return read(out, claims=claims, outputs=outputs, **more)


LOG = "epoch 1 acc 0.5\nepoch 2 acc 0.75\nfinal: 0.875 (best 0.9)\n"
TABLE = "epoch,split,acc\n1,test,0.5\n1,train,0.9\n2,test,0.75\n2,train,1.0\n"
RESULTS = {"runs": [{"acc": 0.5}, {"acc": 1.5}], "final": {"acc": "0.875", "note": "x"}}


@pytest.mark.parametrize(
    ("mapping", "value"),
    [
        ("{claim: a, file: r.json, json: '$.runs[0].acc'}", 0.5),
        ("{claim: a, file: r.json, json: '$.runs[*].acc'}", 1.5),
        ("{claim: a, file: r.json, json: '$.runs[*].acc', stat: mean}", 1.0),
        ("{claim: a, file: r.json, json: '$.runs[-1].acc'}", 1.5),
        ("{claim: a, file: r.json, json: '$.final.acc'}", 0.875),
        ("{claim: a, file: t.csv, csv: {column: acc}}", 1.0),
        ("{claim: a, file: t.csv, csv: {where: {split: test}, column: acc}}", 0.75),
        ("{claim: a, file: t.csv, csv: {where: {split: test}, column: acc}, stat: mean}", 0.625),
        ("{claim: a, file: t.csv, csv: {where: {split: test, epoch: '1'}, column: acc}}", 0.5),
        ("{claim: a, file: deep/log, regex: 'acc (\\S+)'}", 0.75),
        ("{claim: a, file: deep/log, regex: 'acc (\\S+)', stat: mean}", 0.625),
        ("{claim: a, file: stdout, regex: '^final: ([0-9.]+)'}", 0.875),
        ("{claim: a, file: stdout, regex: '(?<=best )[0-9.]+'}", 0.9),
    ],
)
def test_a_mapping_finds_the_value_that_a_reader_would(out, mapping, value):
    (out / "r.json").write_text(json.dumps(RESULTS))
    (out / "t.csv").write_text(TABLE)
    (out / "deep").mkdir()
    (out / "deep" / "log").write_text(LOG)
    (out.parent / "log").write_text(LOG)
    assert mapped(out, mapping) == ({"a": value}, ValueSource.PARSED)


@pytest.mark.parametrize(
    ("mapping", "code", "sentence"),
    [
        (
            "{claim: a, file: r.json, json: $.runs.acc}",
            "metrics_not_found",
            "r.json: holds nothing for the claim 'a' by json: $.runs.acc.",
        ),
        (
            "{claim: a, file: r.json, json: $.final.note}",
            "metrics_no_number",
            "r.json: the value of 'a' is no number: 'x'.",
        ),
        (
            "{claim: a, file: r.json, json: $.final}",
            "metrics_no_number",
            "r.json: the value of 'a' is no number: '{'acc': '0.875', 'note': 'x'}'.",
        ),
        (
            "{claim: a, file: t.csv, csv: {column: accuracy}}",
            "metrics_missing",
            "t.csv: has no column 'accuracy'. Columns: epoch, split, acc.",
        ),
        (
            "{claim: a, file: t.csv, csv: {where: {fold: x}, column: acc}}",
            "metrics_missing",
            "t.csv: has no column 'fold'. Columns: epoch, split, acc.",
        ),
        (
            "{claim: a, file: t.csv, csv: {where: {split: valid}, column: acc}}",
            "metrics_not_found",
            "t.csv: holds nothing for the claim 'a' by the column acc where split = valid. "
            "Columns: epoch, split, acc. split is: test, train.",
        ),
        (
            "{claim: a, file: t.csv, csv: {column: split}}",
            "metrics_no_number",
            "t.csv: the value of 'a' is no number: 'train'.",
        ),
        (
            "{claim: a, file: stdout, regex: 'loss (.*)'}",
            "metrics_not_found",
            "stdout: holds nothing for the claim 'a' by regex: loss (.*).",
        ),
        (
            "{claim: a, file: nothing.json, json: $.x}",
            "metrics_missing",
            "nothing.json: the run did not write it.",
        ),
        (
            "{claim: a, file: ../log, regex: acc}",
            "metrics_missing",
            "../log: leaves the output folder.",
        ),
        (
            "{claim: a, file: away/log, regex: acc}",
            "metrics_missing",
            "away/log: leaves the output folder.",
        ),
        (
            "{claim: a, file: link.json, json: $.runs}",
            "metrics_missing",
            "link.json: is a link, and no file of the run.",
        ),
        (
            "{claim: a, file: t.csv, json: $.x}",
            "metrics_malformed",
            "t.csv: is no usable JSON: Expecting value: line 1 column 1 (char 0).",
        ),
        ("{claim: a, file: deep.json, json: $.x}", "metrics_malformed", None),
        ("{claim: a, file: wide.csv, csv: {column: acc}}", "metrics_malformed", None),
        ("{claim: a, file: nan.json, json: $.x}", "metrics_not_finite", None),
        ("{claim: a, file: bool.json, json: $.x}", "metrics_no_number", None),
        ("{claim: a, file: digits.json, json: $.x}", "metrics_no_number", None),
        ("{claim: a, file: short.csv, csv: {column: acc}}", "metrics_no_number", None),
    ],
)
def test_a_mapping_that_finds_no_number_is_refused(out, mapping, code, sentence):
    for name, text in {
        "r.json": json.dumps(RESULTS),
        "t.csv": TABLE,
        "deep.json": "[" * 100_000,
        "wide.csv": "acc\n" + "9" * 200_000 + "\n",
        "short.csv": "epoch,acc\n1\n",
        "nan.json": '{"x": NaN}',
        "bool.json": '{"x": true}',
        "digits.json": '{"x": ' + "9" * 400 + "}",
    }.items():
        (out / name).write_text(text)
    (out / "link.json").symlink_to("r.json")
    (out / "away").symlink_to("..")
    (out.parent / "log").write_text(LOG)
    found, told = refused(out, claims=("a",), outputs=task(f"outputs:\n  - {mapping}\n").outputs)
    assert found == code
    assert sentence in (told, None)


def test_the_last_value_counts_whatever_stands_before_it(out):
    (out / "t.csv").write_text("acc\n\n-\n0.5\n0.75\n")
    assert mapped(out, "{claim: a, file: t.csv, csv: {column: acc}}")[0] == {"a": 0.75}
    (out / "t.csv").write_text("acc\n0.5\n0.75\n-\n")
    outputs = task("outputs:\n  - {claim: a, file: t.csv, csv: {column: acc}}\n").outputs
    assert refused(out, claims=("a",), outputs=outputs)[0] == "metrics_no_number"


def test_a_mapped_file_from_before_the_run_is_stale(out):
    (out / "r.json").write_text(json.dumps(RESULTS))
    later = time.time_ns() + 10**12
    outputs = task("outputs:\n  - {claim: a, file: r.json, json: $.final.acc}\n").outputs
    assert refused(out, claims=("a",), outputs=outputs, started_ns=later)[0] == "metrics_stale"


def test_a_huge_log_is_refused_before_it_is_read(out):
    with (out.parent / "log").open("wb") as stream:
        stream.truncate(1 << 40)
    outputs = task("outputs:\n  - {claim: a, file: stdout, regex: x}\n").outputs
    assert refused(out, claims=("a",), outputs=outputs)[0] == "metrics_too_large"


def test_claims_without_a_mapping_are_missed(out):
    (out / "r.json").write_text(json.dumps(RESULTS))
    outputs = task("outputs:\n  - {claim: a, file: r.json, json: $.final.acc}\n").outputs
    assert refused(out, outputs=outputs) == (
        "metrics_incomplete",
        "metrics.json: lacks the claims b.",
    )


def test_files_of_spreadsheets_are_read(out):
    text = 'name,"acc, in %"\r\n"a\nb",3.5\r\n'
    (out / "t.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    mapping = "{claim: a, file: t.csv, csv: {where: {name: \"a\\nb\"}, column: 'acc, in %'}}"
    assert mapped(out, mapping)[0] == {"a": 3.5}


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6))
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
def test_all_ways_of_output_give_the_same_value(out, numbers):
    (out / "r.json").write_text(json.dumps([{"v": n} for n in numbers]))
    (out / "t.csv").write_text("v\n" + "".join(f"{n!r}\n" for n in numbers))
    (out.parent / "log").write_text("".join(f"v = {n!r}\n" for n in numbers))
    for stat, value in (("last", numbers[-1]), ("mean", sum(numbers) / len(numbers))):
        for way in (
            "file: r.json, json: '$[*].v'",
            "file: t.csv, csv: {column: v}",
            "file: stdout, regex: '^v = (.*)$'",
        ):
            assert mapped(out, f"{{claim: a, {way}, stat: {stat}}}")[0]["a"] == value
