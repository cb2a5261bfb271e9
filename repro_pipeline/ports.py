"""What the domain asks of the outside: one Protocol a need, one adapter a file in `resources/`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Protocol

from repro_pipeline.chat import ChatAnswer, ChatRequest, ModelInfo
from repro_pipeline.ledger.events import Event, Head, Payload
from repro_pipeline.paper.fetch import ArxivPaper, FetchRecord, PaperUrl
from repro_pipeline.paper.literature import Brought, Exclusions
from repro_pipeline.paper.model import Reference
from repro_pipeline.sandbox.egress import EgressRequest, EgressRules
from repro_pipeline.sandbox.image import ContainerImage
from repro_pipeline.sandbox.policy import Enforcement, RunOutcome, SandboxPolicy


class Ledger(Protocol):
    """The append-only event log."""

    def append(self, chain: str, payload: Payload, *, actor: str) -> Event:
        """Append once per key: a key that stands already returns its event and writes nothing."""

    def events(self, chain: str, *, kinds: Collection[str] = (), after: int = 0) -> Iterator[Event]:
        """The events of a chain in order, of the given kinds (all by default)."""

    def stored(self, chain: str) -> Iterator[Event]:
        """The events of a chain as they stand, damaged or not: for verification only."""

    def chains(self) -> tuple[str, ...]:
        """The names of all chains."""

    def head(self, chain: str) -> Head | None:
        """Where the chain ends; None for an empty chain."""


class ArtifactStore(Protocol):
    """Bytes by their SHA-256. What is read is checked against its name (IntegrityError)."""

    def put(self, content: bytes) -> str:
        """Store bytes; return their digest."""

    def put_file(self, path: Path) -> str:
        """Store a file without loading it whole; return its digest."""

    def put_tree(self, folder: Path) -> str:
        """Store a folder's files (not links that leave it); return the digest of its listing."""

    def get(self, digest: str) -> bytes:
        """The bytes of that digest. Raises IntegrityError when missing or altered."""

    def open(self, digest: str) -> IO[bytes]:
        """The bytes as a stream, checked as it is read to its end."""

    def get_tree(self, digest: str, target: Path) -> None:
        """Write a stored folder to `target`, which must not exist."""

    def __contains__(self, digest: str) -> bool:
        """Whether the bytes are there."""


class Runner(Protocol):
    """Runs commands under a policy, each to its end. Safe to call from several threads."""

    name: str

    def enforcement(self) -> dict[str, Enforcement]:
        """What this runner enforces on this host, found by trying.

        Raises SandboxUnavailable where it cannot run.
        """

    def inside(self, path: Path, policy: SandboxPolicy, *, workdir: Path, out: Path) -> str:
        """Where a run sees a path of the host: what commands and configurations must name.

        Raises UserError for a path that the run does not see.
        """

    def run(
        self,
        command: Sequence[str],
        policy: SandboxPolicy,
        *,
        workdir: Path,
        out: Path,
        log: Path,
        on_output: Callable[[bytes], None] | None = None,
    ) -> RunOutcome:
        """Run `command` in the private writable copy `workdir`, with the writable folder `out`.

        Paths in the command are those that `inside` gives. Output goes to the file `log`, which
        lies in neither folder, and piecewise to `on_output`. A failing command is an outcome;
        raises SandboxUnavailable where the sandbox cannot be made as the policy wants it, and
        UserError where a folder or mount is unfit.
        """

    def cancel_all(self) -> None:
        """End the runs that are under way; their outcome is `cancelled`."""


class Slots(Protocol):
    """Places for runs, which everything on this host shares."""

    def hold(
        self, given_up: Callable[[], bool] = lambda: False
    ) -> AbstractContextManager[tuple[int, ...] | None]:
        """Hold a place: the graphics cards of its run; None where it was given up before one was free."""


class Egress(Protocol):
    """The one way out of a sandbox: a context whose value is a socket, behind which rules are kept."""

    requests: int
    bytes: int
    """What was passed on, in both directions."""
    spent: bool
    """Whether the limit on bytes stopped something."""

    def __enter__(self) -> Path:
        """Listen."""

    def __exit__(self, *_: object) -> None:
        """End every connection."""


OpenEgress = Callable[[EgressRules, Callable[[EgressRequest], None]], Egress]
"""Makes a way out under rules; the second argument is told every request before it is passed on."""


class Images(Protocol):
    """Environments as container images, in the engine that runs the code."""

    base: str
    """The image that they are built upon, as it is configured."""

    def build(self, lock_text: str, *, python: str) -> ContainerImage:
        """The image of a lock, built where the engine does not have it. Raises BuildError."""

    def ask(self, image: ContainerImage, command: Sequence[str]) -> str:
        """What a command prints in an image. Raises BuildError where it fails."""


class PaperSource(Protocol):
    """Fetches published papers."""

    def fetch(self, target: ArxivPaper | PaperUrl, folder: Path, *, asked: str) -> FetchRecord:
        """Write the paper's files and `source.json`, the record, into an empty folder.

        `asked` is what the user asked for. Raises FetchError.
        """


class Literature(Protocol):
    """Brings cited works from outside."""

    def bring(self, reference: Reference, exclusions: Exclusions) -> Brought:
        """A cited work's record, text and code, as far as they can be had and may be looked at."""


class TeiService(Protocol):
    """Reads PDFs into TEI."""

    name: str
    """What an answer depends on beside the PDF: the service and its address."""

    def version(self) -> str:
        """The service's version. Raises ServiceError where it does not answer."""

    def tei_of(self, pdf: Path) -> tuple[bytes, str]:
        """The TEI of a PDF, and the name and version of what made it. Raises ServiceError."""


class ChatModel(Protocol):
    """The language models behind the roles of `repro.yaml`."""

    def info(self, role: str) -> ModelInfo:
        """Which model plays a role, with what is known of it. Raises NoModel. Calls no network."""

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Ask once, without retries. Raises a ChatError, each kind of failure its own."""
