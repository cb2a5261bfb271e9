"""The base of every model at a border: immutable, and strict about keys it does not know."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,99}$")]
"""An id that is safe as a partition key, a folder name and a URL part."""

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""A SHA-256 digest in lower-case hexadecimal."""


class Frozen(BaseModel):
    """An immutable model; an unknown key is an error, and a NaN is never written as null."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, ser_json_inf_nan="constants"
    )


class Misfit(ValueError):
    """What a model's own check finds wrong, with its place (keys and positions) in the model."""

    def __init__(self, what: str, *place: str | int) -> None:
        super().__init__(what)
        self.place = place


def canonical_json(value: Any) -> bytes:
    """One byte string per value: sorted keys, no spaces, UTF-8, no NaN. Raises ValueError on NaN."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def digest(value: Any) -> str:
    """SHA-256 of a model, or of any JSON value, in canonical form."""
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    return hashlib.sha256(canonical_json(plain)).hexdigest()
