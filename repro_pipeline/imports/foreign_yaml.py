"""YAML that others wrote, read leniently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

_LARGEST = 1 << 20


def read_foreign(path: Path) -> dict[str, Any] | None:
    """The mapping of a small YAML file; None where there is none, or it is none."""
    try:
        with path.open("rb") as stream:
            value = yaml.load(stream.read(_LARGEST), Loader=_Texts)
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class _Texts(yaml.SafeLoader):
    """Every scalar is text, so that an id such as 007 or a title such as `1984` stays as written."""

    yaml_implicit_resolvers: dict = {}

    def compose_node(self, parent: Any, index: Any) -> Any:
        """No aliases: a few lines of them unfold to gigabytes."""
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("holds an alias")
        return super().compose_node(parent, index)
