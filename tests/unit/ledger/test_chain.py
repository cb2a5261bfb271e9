"""Whatever is done to a chain shows; where nothing was done, nothing does."""

import hashlib
import json
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledger_examples import CHAIN, NOON, chained, chains, long_chains, warning

from repro_pipeline.errors import FileFormatError
from repro_pipeline.ledger.anchor import read_anchors
from repro_pipeline.ledger.chain import event_hash, head_of, link, start, verify_chain
from repro_pipeline.ledger.events import Event, Head
from repro_pipeline.ledger.export import export_lines, read_export


def rehashed(event: Event) -> Event:
    return event.model_copy(update={"hash": event_hash(event)})


def edited(event: Event, field: str) -> Event:
    """The event with one field changed, and its hash left as it was."""
    old = getattr(event, field)
    new = {
        "seq": lambda: old + 100,
        "at": lambda: old + timedelta(microseconds=1),
        "schema_version": lambda: old + 1,
        "payload": lambda: {**old, "extra": 0},
        "prev": lambda: hashlib.sha256(old.encode()).hexdigest(),
        "hash": lambda: hashlib.sha256(old.encode()).hexdigest(),
    }.get(field, lambda: old + "x")()
    return event.model_copy(update={field: new})


def renumbered(events: list[Event]) -> list[Event]:
    return [event.model_copy(update={"seq": n}) for n, event in enumerate(events, start=1)]


def positions(events):
    return st.integers(0, len(events) - 1)


@given(chains)
def test_an_untouched_chain_has_no_break(events):
    anchors = [head_of(event) for event in events]
    assert verify_chain(CHAIN, events, anchors) == ()


@given(st.data(), long_chains, st.sampled_from(sorted(Event.model_fields)))
def test_any_edited_field_is_found_and_its_event_named(data, events, field):
    index = data.draw(positions(events))
    mutated = [*events]
    mutated[index] = edited(events[index], field)
    breaks = verify_chain(CHAIN, mutated)
    named = {found.seq for found in breaks}
    assert {mutated[index].seq, events[index].seq} & named
    if field not in {"seq", "hash"}:
        assert named == {events[index].seq}
        assert {found.kind for found in breaks} == {"changed"}


@given(st.data(), long_chains, st.sampled_from(["at", "payload", "actor", "key", "kind", "prev"]))
def test_an_edit_with_a_new_hash_is_found_before_the_end_or_by_an_anchor(data, events, field):
    index = data.draw(positions(events))
    mutated = [*events]
    mutated[index] = rehashed(edited(events[index], field))
    anchors = [head_of(events[-1])] if index == len(events) - 1 else []
    breaks = verify_chain(CHAIN, mutated, anchors)
    assert breaks
    if index < len(events) - 1:
        assert [found.seq for found in breaks] == [events[index].seq]


@given(st.data(), long_chains)
def test_removed_events_are_found(data, events):
    index = data.draw(st.integers(0, len(events) - 2))
    mutated = events[:index] + events[index + 1 :]
    assert [(found.kind, found.seq) for found in verify_chain(CHAIN, mutated)] == [
        ("removed", index + 1)
    ]
    # Closing the gap by renumbering does not help.
    named = {found.seq for found in verify_chain(CHAIN, renumbered(mutated))}
    assert named == set(range(index + 1, len(events)))


@given(st.data(), long_chains)
def test_swapped_events_are_found(data, events):
    first, second = data.draw(st.lists(positions(events), min_size=2, max_size=2, unique=True))
    mutated = [*events]
    mutated[first], mutated[second] = mutated[second], mutated[first]
    assert "moved" in {found.kind for found in verify_chain(CHAIN, mutated)}
    kinds = {(found.kind, found.seq) for found in verify_chain(CHAIN, renumbered(mutated))}
    assert kinds == {("moved", first + 1), ("moved", second + 1)}


@given(st.data(), long_chains)
def test_inserted_events_are_found(data, events):
    index = data.draw(st.integers(1, len(events) - 1))
    head = head_of(events[index - 1])
    forged = link(head, warning("forged"), at=NOON, actor="human:mallory")
    beside = [*events[:index], forged, *events[index:]]
    assert [(found.kind, found.seq) for found in verify_chain(CHAIN, beside)] == [
        ("inserted", forged.seq)
    ]
    pushed = renumbered(beside)
    assert verify_chain(CHAIN, pushed)
    foreign = chained([warning("elsewhere")], chain="other")
    assert verify_chain(CHAIN, [*events, foreign[0]])


@given(st.data(), long_chains)
def test_a_truncated_chain_is_found_by_an_anchor_and_only_so(data, events):
    length = data.draw(st.integers(0, len(events) - 1))
    assert verify_chain(CHAIN, events[:length]) == ()
    (found,) = verify_chain(CHAIN, events[:length], [head_of(events[-1])])
    assert (found.kind, found.seq) == ("removed", length + 1)


@given(st.data(), long_chains)
def test_a_chain_rewritten_as_a_whole_is_found_by_an_anchor_and_only_so(data, events):
    index = data.draw(positions(events))
    rewritten = [*events[:index]]
    for event in events[index:]:
        head = head_of(rewritten[-1]) if rewritten else start(CHAIN)
        rewritten.append(link(head, event.content, at=event.at, actor="code:other"))
    assert verify_chain(CHAIN, rewritten) == ()
    anchors = [head_of(event) for event in events[:index]] + [head_of(events[-1])]
    (found,) = verify_chain(CHAIN, rewritten, anchors)
    assert (found.kind, found.seq) == ("rewritten", len(events))
    assert f"after {index} on" in found.sentence


def test_anchors_of_other_chains_are_no_matter():
    events = chained([warning("a")])
    assert verify_chain(CHAIN, events, [Head(chain="other", seq=9, hash="0" * 64)]) == ()


@given(chains)
def test_an_exported_line_can_be_checked_with_json_and_sha256_alone(events):
    for event in events:
        line = json.loads(event.model_dump_json())
        hashed = line.pop("hash")
        text = json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert hashlib.sha256(text.encode()).hexdigest() == hashed


def test_a_time_without_zone_is_refused():
    naive = datetime(2024, 1, 1)
    with pytest.raises(ValueError, match="time zone"):
        link(start(CHAIN), warning("a"), at=naive, actor="code:1")


def test_anchors_are_read_line_by_line(tmp_path):
    path = tmp_path / "heads.jsonl"
    heads = [head_of(event) for event in chained([warning("a"), warning("b")])]
    path.write_text("".join(head.model_dump_json() + "\n" for head in heads))
    assert read_anchors(path) == tuple(heads)
    with path.open("a") as file:
        file.write("rubbish\n")
    with pytest.raises(FileFormatError, match=r"heads\.jsonl:3"):
        read_anchors(path)
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_anchors(tmp_path / "none")


def test_an_exported_chain_can_be_verified_without_its_ledger(tmp_path):
    events = chained([warning("ü"), warning("b"), warning("c")])
    path = tmp_path / "forests.jsonl"
    path.write_text("".join(export_lines(events)), encoding="utf-8")
    assert list(read_export(path)) == events
    path.write_text(path.read_text(encoding="utf-8").replace('"b"', '"d"'), encoding="utf-8")
    assert [found.seq for found in verify_chain(CHAIN, read_export(path))] == [2]
    path.write_text("{}\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"forests\.jsonl:1"):
        list(read_export(path))
