"""A ledger copied into another, of any kind of database."""

from repro_pipeline.ledger.chain import verify_chain
from repro_pipeline.ledger.events import WarningRecorded
from resources.ledger_sql import SqlLedger


def test_a_copy_holds_every_event_and_goes_on(ledger, tmp_path):
    for number in range(1100):  # over two pages
        warning = WarningRecorded(code="w", sentence=f"ä {number}", stage="report")
        ledger.append(f"chain-{number % 3}", warning, actor="test")
    copy = SqlLedger("sqlite:///copy.sqlite", folder=tmp_path)
    ledger.copy_to(copy)
    for chain in ("chain-0", "chain-1", "chain-2"):
        assert list(copy.stored(chain)) == list(ledger.stored(chain))
    more = WarningRecorded(code="more", sentence="", stage="report")
    assert copy.append("chain-0", more, actor="test").prev == ledger.head("chain-0").hash
    assert verify_chain("chain-0", list(copy.stored("chain-0"))) == ()
    copy.close()


def test_a_file_is_copied_into_a_server(tmp_path, url):
    source = SqlLedger("sqlite:///source.sqlite", folder=tmp_path)
    source.append("a", WarningRecorded(code="w", sentence="", stage="report"), actor="test")
    target = SqlLedger(url)
    source.copy_to(target)
    assert list(target.stored("a")) == list(source.stored("a"))
    target.close()
    source.close()
