"""A disk that is full or cannot be written, found at the root of whatever error it led to."""

from __future__ import annotations

import errno

_SAID = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the quota of the disk is used up",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "this user may not write there",
}
_SQLITE = {
    "database or disk is full": "the disk is full",
    "disk I/O error": "the disk is full or broken",
    "attempt to write a readonly database": "a database cannot be written",
    "unable to open database file": "a database cannot be opened or made",
}


def unwritable(error: BaseException | None) -> str | None:
    """What hinders writing, in words; None for an error of another kind."""
    from sqlite3 import OperationalError

    while error is not None:
        if isinstance(error, OSError) and error.errno in _SAID:
            place = f"{error.filename}: " if error.filename else ""
            return f"{place}{_SAID[error.errno]}."
        if isinstance(error, OperationalError) and str(error) in _SQLITE:
            return f"{_SQLITE[str(error)]}."
        error = error.__cause__ or error.__context__
    return None
