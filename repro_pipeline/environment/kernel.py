"""What runs a notebook in its environment: added to what the code asks for, and written down as assumed."""

from __future__ import annotations

from repro_pipeline.bundle.terms import AssumptionSource, Influence
from repro_pipeline.environment.model import BuiltEnvironment
from repro_pipeline.errors import BuildError
from repro_pipeline.imports.notebook import PACKAGES
from repro_pipeline.ledger.assumption import Assumption


def assumed_kernel(built: BuiltEnvironment, notebook: str, *, by: str) -> Assumption:
    """The kernel that a notebook is run by, with its versions.

    Raises BuildError where the code came with a lock that lacks it: nothing is added to such.
    """
    has = built.fingerprint.packages
    missing = [one for one in PACKAGES if one not in has]
    if missing:
        raise BuildError(
            f"the code's own lock lacks {' and '.join(missing)}, which run {notebook}.",
            where="task.yaml: code.notebook",
            hint="Add them to the lock, or give requirements instead of a lock.",
        )
    versions = ", ".join(f"{one} {has[one]}" for one in PACKAGES)
    return Assumption(
        id="notebook-kernel",
        topic="software",
        statement=f"{notebook} is run from its first cell to its last, in a fresh kernel.",
        value=versions,
        source=AssumptionSource(
            kind="convention", note="Nobody said what ran it, or in which order its cells ran."
        ),
        influence=Influence.LOW,
        proposed_by=by,
    )
