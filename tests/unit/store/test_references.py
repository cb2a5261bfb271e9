"""What events refer to, directly or through what is stored, is never collected."""

import json
import os
import time
from datetime import UTC, datetime

import pytest

from repro_pipeline.errors import IntegrityError
from repro_pipeline.frozen import canonical_json, digest
from repro_pipeline.ledger.chain import link, start
from repro_pipeline.ledger.events import (
    BenchPlanned,
    BenchTrialEnded,
    DownloadFinished,
    Event,
    RubricSeen,
    ScoresChanged,
    StageFinished,
    SweepEnded,
    WarningRecorded,
)
from repro_pipeline.ledger.logs import LINE, FoundLine, head, search, tail
from repro_pipeline.sandbox.egress import EgressRules
from repro_pipeline.status import Status
from repro_pipeline.tree import missing_from, references_in
from resources.artifact_store import FsspecArtifactStore
from resources.ledger_sql import SqlLedger


@pytest.fixture
def store(tmp_path):
    return FsspecArtifactStore(str(tmp_path / "store"))


def event_with(output: str | None) -> Event:
    payload = StageFinished(
        stage="baseline",
        inputs=digest("inputs"),
        status=Status.OK,
        output=output,
        code_version="1",
        launch="l1",
        seconds=1,
    )
    return link(start("forests"), payload, at=datetime.now(UTC), actor="code:1")


def test_references_are_followed_through_json_and_trees(store, tmp_path):
    folder = tmp_path / "code"
    (folder / "configs").mkdir(parents=True)
    (folder / "run.py").write_text("print(1)\n")
    (folder / "configs" / "a.json").write_text("{}")
    tree = store.put_tree(folder)
    log = store.put(b"epoch 1\n")
    inner = store.put(canonical_json({"attempts": [{"log": log}], "code": tree}))
    output = store.put(canonical_json([{"deep": {"inner": f"sha256:{inner}"}}]))
    unrelated = store.put(b"unrelated")
    needed = references_in([event_with(output)], store)
    assert {output, inner, tree, log} <= needed
    assert needed == set(store.digests()) - {unrelated}


def test_a_text_that_is_no_json_refers_to_nothing(store):
    other = store.put(b"other")
    log = store.put(f"stored {other}\n".encode())
    assert references_in([event_with(log)], store) == {log}


def test_references_in_a_json_text_of_any_length_are_found(store):
    """Also one that lies across the border of two pieces that are read."""
    others = [store.put(f"file {number}".encode()) for number in range(3)]
    border = 1 << 20
    for shift in (0, 1, 32, 63, 64, 65):
        text = b'["' + b"x " * ((border - shift) // 2) + b'", "' + others[0].encode() + b'"]'
        assert text[:border].count(others[0].encode()) in {0, 1}
        long = store.put(text)
        assert others[0] in references_in([event_with(long)], store)


def test_a_ring_of_references_ends(store):
    one = store.put(b"[]")
    two = store.put(json.dumps([one]).encode())
    assert references_in([event_with(two)], store) == {one, two}


@pytest.mark.parametrize("at", [0, 1, 20, -1])
def test_a_damaged_artifact_on_the_way_stops_the_collection(store, tmp_path, at):
    """Also one that no longer looks like JSON, and would seem to refer to nothing."""
    inner = store.put(b"inner")
    listing = store.put(json.dumps([inner]).encode())
    (path,) = (tmp_path / "store").glob(f"{listing[:2]}/{listing}")
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.chmod(0o644)
    path.write_bytes(content)
    with pytest.raises(IntegrityError, match=listing):
        references_in([event_with(listing)], store)


def test_collecting_with_the_closure_keeps_everything_readable(store, tmp_path):
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "run.py").write_text("print(1)\n")
    tree = store.put_tree(folder)
    for number in range(5):
        store.put(f"left over {number}".encode())
    then = time.time() - 1000
    for path in (tmp_path / "store").glob("*/*"):
        os.utime(path, (then, then))
    events = [event_with(tree), event_with(None)]
    removed = store.gc(references_in(events, store), older_than_seconds=100)
    assert len(removed) == 5
    store.get_tree(tree, tmp_path / "again")
    assert (tmp_path / "again" / "run.py").read_text() == "print(1)\n"


GONE = digest("gone")
OTHER = digest("no artifact")


@pytest.mark.parametrize(
    "payload",
    [
        RubricSeen(rubric=GONE),
        RubricSeen(rubric=GONE, text=GONE),
        ScoresChanged(
            before=OTHER,
            after=OTHER,
            rubric_before=OTHER,
            rubric_after=OTHER,
            change=GONE,
            sentence="Two claims.",
        ),
        SweepEnded(
            number=1,
            paper="forests",
            fresh_dependencies=False,
            status=Status.OK,
            result=GONE,
            sentence="As before.",
            launch="l1",
        ),
        BenchPlanned(plan=GONE),
        BenchTrialEnded(trial="a/b/1", row=GONE, status=Status.OK, tokens=0, usd=None),
        DownloadFinished(
            download="d1",
            code_tree=GONE,
            environment=OTHER,
            command=("sh", "get.sh"),
            rules=EgressRules(allow=()),
            status=Status.OK,
            files={"data/a.csv": OTHER},
            requests=0,
            bytes=0,
            seconds=1,
            runner="bubblewrap",
        ),
    ],
    ids=lambda payload: payload.kind,
)
def test_what_an_event_names_as_an_artifact_is_missed(payload, store, tmp_path):
    ledger = SqlLedger("sqlite:///ledger.sqlite", folder=tmp_path)
    ledger.append("forests", WarningRecorded(code="weak", sentence=OTHER), actor="code:1")
    event = ledger.append("forests", payload, actor="code:1")
    assert missing_from(ledger, store) == {GONE: event}


def test_a_log_is_shown_in_parts(store):
    lines = [f"epoch {number} loss {1 / (number + 1):.3f}" for number in range(20_000)]
    lines[77] = "ERROR: out of memory"
    log = store.put(("\n".join(lines) + "\r\n\xff").encode("latin-1"))
    with store.open(log) as stream:
        assert head(stream, 2) == tuple(lines[:2])
    with store.open(log) as stream:
        assert tail(stream, 2) == (lines[-1], "�")
    with store.open(log) as stream:
        assert search(stream, "error", most=5) == (FoundLine(number=78, text=lines[77]),)
    with store.open(log) as stream:
        assert len(search(stream, "epoch", most=5)) == 5


def test_a_long_line_is_one_line_and_a_text_or_sign_across_its_pieces_is_found(store):
    long = "x" * (LINE - 3) + "Needle" + "y" * LINE + "z" * (LINE - 2) + "é" + "needle"
    log = store.put(f"first\n{long}\nlast needle\n".encode())
    with store.open(log) as stream:
        found = search(stream, "NEEDLE", most=9)
    assert [line.number for line in found] == [2, 2, 3]
    assert found[-1].text == "last needle"
    with store.open(log) as stream:
        assert "".join(tail(stream, 99)) == f"first{long}last needle"
    with store.open(log) as stream:
        assert search(stream, "aneedle", most=9) == ()
