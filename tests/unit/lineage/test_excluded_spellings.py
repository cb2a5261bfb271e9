"""An excluded source is excluded however the task spells it."""

from __future__ import annotations

import pytest

from repro_pipeline.paper.literature import excluded_by_task


@pytest.mark.parametrize(
    "spelled",
    [
        "github.com/owner/name",
        "https://www.github.com/Owner/Name/",
        "git@github.com:owner/name.git",
        "ssh://git@github.com/owner/name",
        "git+https://github.com/owner/name.git",
        "owner/name",
        "github.com/owner",
    ],
)
def test_every_spelling_excludes_it_and_nothing_else(spelled: str):
    for address in ("https://github.com/owner/name/tree/main", "git@github.com:Owner/name.git"):
        assert excluded_by_task(address, [spelled]), address
    for address in ("github.com/owners/name", "github.com/someone/owner/name", "example.org/names"):
        assert excluded_by_task(address, [spelled, "pip:names"]) is None, address


def test_a_name_on_any_hub_is_excluded_on_each():
    for host in ("gitlab.com", "example.org"):
        assert excluded_by_task(f"https://{host}/owner/name", ["owner/name"])
        assert excluded_by_task(f"https://{host}/owner/name", ["github.com/owner/name"]) is None
