"""Paths that a user gives."""

from __future__ import annotations

import errno
from pathlib import Path

from repro_pipeline.errors import UserError

_NOWHERE = {errno.ELOOP: "a link in it leads to itself", errno.ENAMETOOLONG: "a name is too long"}


def resolved(path: Path | str, *, where: str = "") -> Path:
    """The path from the root, its links followed; nothing needs to be there.

    `where` is what names it, such as an option. Raises UserError for a path that no file can have.
    """
    try:
        Path(path).stat()
    except OSError as error:
        if error.errno in _NOWHERE:
            said = f"cannot be followed: {_NOWHERE[error.errno]}."
            raise UserError(said, where=f"{where} {path}".strip()) from None
    return Path(path).resolve()
