"""What a user can do wrong, said in one sentence: what is wrong, where, and what to do."""

from __future__ import annotations

from typing import ClassVar


class UserError(Exception):
    """A mistake that its reader can mend.

    `what` is the fault, `where` a place (file:line, table and cell, key), `hint` the mending.
    `code` names the kind, for the ledger and for tools. `transient`: the same may succeed in a while,
    though nobody mends anything.
    """

    code: ClassVar[str] = "user_error"

    def __init__(
        self, what: str, *, where: str = "", hint: str = "", transient: bool = False
    ) -> None:
        super().__init__(what, where, hint)
        self.what, self.where, self.hint = what, where, hint
        self.transient = transient

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        hint = f" {self.hint}" if self.hint else ""
        return f"{place}{self.what}{hint}"


class BundleError(UserError):
    """The paper's folder is missing, empty, or contradicts itself."""

    code = "bad_bundle"


class FileFormatError(UserError):
    """A YAML or JSON file does not follow its schema."""

    code = "bad_file"


class PaperError(UserError):
    """A paper's source cannot be read."""

    code = "unreadable_paper"


class FetchError(UserError):
    """A published paper cannot be fetched."""

    code = "not_fetched"


class ServiceError(UserError):
    """A service that the project names does not answer, or answers with what cannot be used."""

    code = "service_failed"


class AddressError(UserError):
    """An address names no cell, several cells, or a cell that holds no number."""

    code = "bad_address"


class BuildError(UserError):
    """The environment cannot be resolved or built."""

    code = "environment_failed"


class SandboxUnavailable(UserError):
    """No runner on this host enforces what the policy asks for."""

    code = "sandbox_unavailable"


class IntegrityError(UserError):
    """Stored evidence is missing or altered."""

    code = "evidence_damaged"


class LedgerError(UserError):
    """The ledger cannot be opened, read or appended to."""

    code = "ledger_failed"


class StoreError(UserError):
    """The artifact store cannot be opened, read or written to, or is given what it cannot keep."""

    code = "store_failed"
