"""`repro ledger` and `repro store`, on a real project's ledger and store."""

import json
import os
import sqlite3
import time

import pandas as pd
import pytest
from children import fork, wait
from ledger_examples import attempt_pair, model_call, stage, warning

from repro_pipeline.cli import main
from repro_pipeline.errors import UserError
from repro_pipeline.frozen import canonical_json, digest
from repro_pipeline.ledger.events import (
    PROJECT_CHAIN,
    AttemptFinished,
    EnvironmentBuilt,
    ImplementationFrozen,
)
from resources.opening import open_project

ACTOR = "code:0.1.0"


@pytest.fixture
def opened(project):
    return open_project(project)


def record(opened, *payloads, chain="forests"):
    return [opened.ledger.append(chain, payload, actor=ACTOR) for payload in payloads]


def lines(capsys) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_show_says_what_happened_when_and_by_whom(opened, capsys):
    record(
        opened, *attempt_pair(), stage("parse", "l1"), model_call(usd=None), warning("a\x1b[31mb")
    )
    assert main(["ledger", "show", "forests"]) == 0
    shown = lines(capsys)
    assert [line.split()[0] for line in shown] == list("12345")
    assert all(ACTOR in line for line in shown)
    assert "twonorm seed 0 eval #1 ok" in shown[1]
    assert "1000 + 50 tokens, price unknown" in shown[3]
    assert "\x1b" not in "".join(shown)


def test_show_takes_kinds_a_number_and_a_time(opened, capsys):
    events = record(opened, *(warning(str(n)) for n in range(3)), stage("parse", "l1"))

    def shown(*options: str) -> list[int]:
        assert main(["ledger", "show", "forests", "--json", *options]) == 0
        return [json.loads(line)["seq"] for line in lines(capsys)]

    assert shown("--since", "3") == [3, 4]
    assert shown("--kind", "stage_finished") == [4]
    assert shown("--kind", "stage_finished", "--kind", "warning_recorded", "--since", "2") == [
        2,
        3,
        4,
    ]
    assert shown("--since", events[2].at.isoformat()) == [
        e.seq for e in events if e.at >= events[2].at
    ]
    assert shown("--since", "2020-01-01") == [1, 2, 3, 4]
    assert shown("--since", "2999-01-01T00:00") == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "nobody"], "no chain 'nobody'"),
        (["show", "forests", "--kind", "stage_done"], "stage_finished"),
        (["show", "forests", "--since", "yesterday"], "2026-05-01"),
        (["export", "nobody"], "no chain 'nobody'"),
        (["verify", "--file", "absent.jsonl"], "cannot be read"),
        (["verify", "--anchor", "absent.jsonl"], "cannot be read"),
    ],
)
def test_what_is_asked_for_wrongly_is_said_in_a_sentence(opened, capsys, arguments, said):
    record(opened, warning("x"))
    assert main(["ledger", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_one_chain_goes_into_a_file_where_one_is_named(opened, tmp_path, capsys):
    record(opened, *(warning(str(n)) for n in range(3)))
    file = tmp_path / "copies" / "forests.jsonl"
    assert main(["ledger", "export", "forests", "--out", str(file)]) == 0
    assert file.is_file() and capsys.readouterr().out.strip() == str(file)
    assert main(["ledger", "verify", "--file", str(file)]) == 0


def test_a_file_for_several_chains_or_for_tables_is_refused(opened, tmp_path, capsys):
    record(opened, warning("x"))
    record(opened, warning("y"), chain=PROJECT_CHAIN)
    file = tmp_path / "all.jsonl"
    assert main(["ledger", "export", "--out", str(file)]) == 2
    said = capsys.readouterr().err
    assert "one chain" in said and "forests" in said
    assert main(["ledger", "export", "forests", "--format", "parquet", "--out", str(file)]) == 2
    assert not file.exists()


def test_an_export_is_verified_without_the_ledger_and_an_edit_is_found(opened, tmp_path, capsys):
    events = record(opened, *(warning(str(n)) for n in range(4)))
    record(opened, warning("y"), chain=PROJECT_CHAIN)
    out = tmp_path / "copies" / "today"
    assert main(["ledger", "export", "--out", str(out)]) == 0
    assert sorted(path.name for path in out.iterdir()) == ["_project.jsonl", "forests.jsonl"]
    file = out / "forests.jsonl"
    assert main(["ledger", "verify", "--file", str(file)]) == 0
    assert f"ok forests, 4 events, head {events[-1].hash}" in capsys.readouterr().out
    text = file.read_text()
    anchors = tmp_path / "anchors"
    assert main(["ledger", "anchor"]) == 0
    anchors.write_text("".join(line + "\n" for line in lines(capsys)))
    file.write_text(text.replace('"sentence":"2"', '"sentence":"7"'))
    assert main(["ledger", "verify", "--file", str(file)]) == 2
    assert "BROKEN forests, event 3" in capsys.readouterr().out
    file.write_text("".join(text.splitlines(keepends=True)[:3]))
    assert main(["ledger", "verify", "--file", str(file)]) == 0
    assert main(["ledger", "verify", "--file", str(file), "--anchor", str(anchors)]) == 2


def test_verify_names_the_edited_event_and_the_chain_that_is_gone(
    opened, project, tmp_path, capsys
):
    record(opened, *(warning(str(n)) for n in range(3)))
    record(opened, warning("z"), chain="gone")
    main(["ledger", "anchor"])
    anchors = tmp_path / "anchors"
    anchors.write_text("".join(line + "\n" for line in lines(capsys)))
    assert main(["ledger", "verify", "--anchor", str(anchors)]) == 0
    with sqlite3.connect(project / ".repro" / "ledger.sqlite") as connection:
        connection.execute("DROP TRIGGER events_no_update")
        connection.execute("DROP TRIGGER events_no_delete")
        connection.execute(
            "UPDATE events SET actor = 'human:eve' WHERE chain = 'forests' AND seq = 2"
        )
        connection.execute("DELETE FROM events WHERE chain = 'gone'")
    capsys.readouterr()
    assert main(["ledger", "verify", "--anchor", str(anchors)]) == 2
    said = capsys.readouterr().out
    assert "BROKEN forests, event 2 (changed)" in said
    assert "BROKEN gone, event 1 (removed)" in said


def test_tables_are_exported_as_parquet(opened, tmp_path):
    record(opened, *attempt_pair(), model_call(), model_call(ordinal=1, usd=None))
    assert main(["ledger", "export", "--format", "parquet", "--out", str(tmp_path), "forests"]) == 0
    calls = pd.read_parquet(tmp_path / "forests" / "model_calls.parquet")
    assert calls["usd"].sum() == 0.25 and calls["priced"].tolist() == [True, False]
    events = pd.read_parquet(tmp_path / "forests" / "events.parquet")
    assert events["seq"].tolist() == [1, 2, 3, 4] and set(events["actor"]) == {ACTOR}


# --- the store


def age(project, hours: float) -> None:
    then = time.time() - 3600 * hours
    for path in (project / ".repro" / "store").glob("??/*"):
        os.utime(path, (then, then))


def output(opened, name: str, content: bytes):
    made = stage(name, "l1").model_copy(update={"output": opened.store.put(content)})
    record(opened, made, chain=name)
    return made.output


def test_gc_removes_what_no_chain_refers_to_and_says_how_much(opened, project, capsys):
    inner = opened.store.put(b"a log")
    kept = output(opened, "forests", canonical_json({"log": inner}))
    other = output(opened, "boosting", b"{}")
    loose = opened.store.put(os.urandom(5000))
    young = opened.store.put(b"just stored")
    age(project, 30)
    assert opened.store.put(b"just stored") == young
    assert main(["store", "gc", "--dry-run"]) == 0
    would = lines(capsys)
    assert loose in opened.store
    assert would[-1] == "1 artifacts, 5,000 bytes would be removed; 3 are referred to"
    assert main(["store", "gc"]) == 0
    assert lines(capsys)[0].split() == ["5,000", loose]
    assert set(opened.store.digests()) == {inner, kept, other, young}
    (swept,) = (e.content for e in opened.ledger.events(PROJECT_CHAIN, kinds={"store_swept"}))
    assert (swept.removed, swept.bytes) == (1, 5000)
    assert main(["store", "verify"]) == 0


def test_gc_waits_for_no_stage_that_is_at_work_and_removes_nothing_then(opened, project, capsys):
    record(opened, warning("x"))
    loose = opened.store.put(b"stored, and soon to be named by an event")
    age(project, 30)
    with opened.locked("forests"):
        assert wait(fork(lambda: exit_with(main(["store", "gc"]), 2))) == 0
    assert loose in opened.store
    with pytest.raises(UserError), opened.locked("forests"), opened.locked("forests", wait=False):
        pass


def exit_with(code: int, expected: int) -> None:
    assert code == expected


def test_gc_beside_a_pipeline_never_removes_what_it_comes_to_refer_to(opened, project):
    """A worker stores and then records, over and over, the same contents too; collections run beside it."""
    contents = [f"artifact {n % 5}".encode() for n in range(60)]

    def work() -> None:
        mine = open_project(project)
        for n, content in enumerate(contents):
            with mine.locked("forests"):
                digest = mine.store.put(content)
                time.sleep(0.005)
                made = stage(f"s{n}", "l1").model_copy(update={"output": digest})
                mine.ledger.append("forests", made, actor=ACTOR)

    record(opened, warning("x"))
    pid = fork(work)
    codes = []
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        opened.store.put(f"loose {len(codes)}".encode())
        codes.append(main(["store", "gc", "--older-than", "0"]))
    assert set(codes) <= {0, 2} and 0 in codes
    named = {e.payload["output"] for e in opened.ledger.events("forests", kinds={"stage_finished"})}
    assert len(named) == 5
    assert all(digest in opened.store for digest in named)


def test_store_verify_names_what_is_damaged_and_what_is_missing(opened, project, capsys):
    one, two = output(opened, "forests", b"{}"), output(opened, "boosting", b"a" * 500)
    folder = project / ".repro" / "store"
    (damaged,) = folder.glob(f"{one[:2]}/{one}*")
    damaged.chmod(0o644)
    damaged.write_bytes(b"{ }")
    (missing,) = folder.glob(f"{two[:2]}/{two}*")
    missing.unlink()
    assert main(["store", "verify"]) == 2
    said = capsys.readouterr().out
    assert f"DAMAGED {one}" in said
    assert f"MISSING {two}, named by event 1 (stage_finished) of boosting" in said
    assert main(["store", "gc"]) == 2, "a damaged listing could hide references"
    assert one in opened.store


@pytest.mark.parametrize("hours", ["-1", "nan"])
def test_gc_refuses_an_age_that_is_none(opened, hours, capsys):
    assert main(["store", "gc", "--older-than", hours]) == 2
    assert "hours" in capsys.readouterr().err


def altered(project, *statements) -> None:
    with sqlite3.connect(project / ".repro" / "ledger.sqlite") as connection:
        connection.execute("DROP TRIGGER events_no_update")
        for statement in statements:
            connection.execute(*statement)


def test_an_altered_event_is_shown_as_it_stands_without_control_signs(opened, project, capsys):
    record(opened, stage("parse", "l1"), warning("x"))
    altered(
        project,
        ("UPDATE events SET payload = '{\"a\":1}' WHERE seq = 1",),
        ("UPDATE events SET kind = ? WHERE seq = 2", ["\x1b[31mred\nok"]),
    )
    assert main(["ledger", "show", "forests"]) == 0
    shown = lines(capsys)
    assert len(shown) == 2
    assert "a=1" in shown[0]
    assert "\x1b" not in shown[1]


@pytest.mark.parametrize("name", ["../../outside", "a/b", "\x1b[31mred\nok forests, 2 events"])
def test_a_chain_of_a_strange_name_writes_nowhere_else_and_hides_nothing(
    opened, project, tmp_path, capsys, name
):
    record(opened, warning("x"), warning("y"))
    altered(project, ("UPDATE events SET chain = ?", [name]))
    assert main(["ledger", "verify"]) == 2
    said = lines(capsys)
    assert all(line.startswith(("BROKEN", "No anchor")) for line in said)
    assert "\x1b" not in "".join(said)
    for form in ("jsonl", "parquet"):
        assert main(["ledger", "export", "--out", str(tmp_path / "a" / "b"), "--format", form]) == 2
    assert not (tmp_path / "a").exists()
    assert main(["ledger", "show", "nobody"]) == 2
    assert "\x1b" not in capsys.readouterr().err
    assert main(["store", "gc"]) == 0


def test_an_export_that_holds_nothing_or_says_two_things_is_refused(opened, tmp_path, capsys):
    record(opened, warning("x"))
    assert main(["ledger", "export", "--out", str(tmp_path)]) == 0
    file = tmp_path / "forests.jsonl"
    text = file.read_text()
    for edited in (
        "",
        text.replace('"actor"', '"actor":"human:eve","actor"'),
        text.replace('"sentence":"x"', '"sentence":NaN'),
        "[" * 100_000 + "\n",
    ):
        file.write_text(edited)
        assert main(["ledger", "verify", "--file", str(file)]) == 2
        assert "forests.jsonl" in capsys.readouterr().err


def test_an_export_that_fails_leaves_no_part_of_a_file(opened, project, tmp_path):
    record(opened, warning("x"), warning("y"))
    altered(project, ("UPDATE events SET payload = 'no json' WHERE seq = 2",))
    assert main(["ledger", "export", "--out", str(tmp_path / "out")]) == 2
    assert not list((tmp_path / "out").iterdir())


def test_store_verify_goes_on_behind_a_damaged_listing_and_looks_for_all_kinds(
    opened, project, tmp_path, capsys
):
    """Code trees of frozen code and of probes, a run's record, a lock, a report's files."""
    store = opened.store
    trees, inner = [], []
    for name in ("frozen", "probed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.py").write_text(f"print('{name}')")
        trees.append(store.put_tree(tmp_path / name))
        inner.append(store.put_file(tmp_path / name / "run.py"))
    page, lock, trace = (store.put(text) for text in (b"<html>", b"lock", b"trace"))
    report = store.put(canonical_json({"html": page}))
    started, finished = attempt_pair()
    attempt = finished.attempt.model_copy(update={"log": None, "outputs": {}, "record": trace})
    record(
        opened,
        ImplementationFrozen(code_tree=trees[0], mode="code", claims=digest("claims")),
        started.model_copy(update={"code_tree": trees[1]}),
        AttemptFinished(attempt=attempt),
        EnvironmentBuilt(lock=lock, fingerprint=digest("host")),
        stage("report", "l1").model_copy(update={"output": report}),
    )
    assert main(["store", "verify"]) == 0
    folder = project / ".repro" / "store"
    for name in (*inner, page, lock, trace):
        (path,) = folder.glob(f"{name[:2]}/{name}*")
        path.unlink()
    capsys.readouterr()
    assert main(["store", "verify"]) == 2
    said = capsys.readouterr().out
    assert all(f"MISSING {name}" in said for name in (*inner, page, lock, trace))
    (path,) = folder.glob(f"{trees[0][:2]}/{trees[0]}*")
    path.chmod(0o644)
    path.write_bytes(b"{}")
    assert main(["store", "verify"]) == 2
    said = capsys.readouterr().out
    assert f"DAMAGED {trees[0]}" in said
    assert all(f"MISSING {name}" in said for name in (inner[1], page, lock, trace))
    assert said.endswith("1 damaged, 4 missing\n")


def test_gc_removes_nothing_while_a_listing_is_missing(opened, project, tmp_path, capsys):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "run.py").write_text("print(1)")
    tree = opened.store.put_tree(tmp_path / "code")
    inner = opened.store.put_file(tmp_path / "code" / "run.py")
    record(opened, ImplementationFrozen(code_tree=tree, mode="code", claims=digest("claims")))
    (path,) = (project / ".repro" / "store").glob(f"{tree[:2]}/{tree}*")
    listing = path.read_bytes()
    path.unlink()
    assert main(["store", "gc", "--older-than", "0"]) == 2
    assert tree in capsys.readouterr().err
    assert inner in opened.store
    path.write_bytes(listing)
    assert main(["store", "gc", "--older-than", "0"]) == 0
    path.unlink()
    assert main(["store", "gc", "--older-than", "0", "--despite-missing"]) == 0
    assert inner not in opened.store
