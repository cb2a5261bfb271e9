"""A file takes another's place whole, or that one stays."""

import pytest

from repro_pipeline.wholefile import whole


def test_a_file_takes_its_place_at_the_end(tmp_path):
    path = tmp_path / "new" / "page.html"
    with whole(path) as fresh:
        fresh.write_text("one")
        assert not path.exists()
    assert [p.name for p in path.parent.iterdir()] == ["page.html"]
    assert path.read_text() == "one"


def test_where_writing_fails_the_old_file_stays_and_nothing_beside_it(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    with pytest.raises(OSError, match="full"), whole(path) as fresh:
        fresh.write_text("half")
        raise OSError("full")
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]
    assert path.read_text() == "old"
