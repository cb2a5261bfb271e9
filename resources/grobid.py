"""GROBID: PDFs to TEI, by the official Python client.

The client's own `process_pdf` sends a PDF to a busy server again without end, and gives a time-out
out as status 400, a file that cannot be opened. So its request is used, and what it may answer is
dealt with here. Consolidation is off: nothing that is not in the PDF gets into the document, and
the server asks no third party.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from repro_pipeline.config import Grobid
from repro_pipeline.errors import ServiceError
from resources.user_cache import Cache, cache_folder, one_of, sha256_of

LARGEST_ANSWER = 100 << 20
_CHECK_SECONDS = 10
_OPTIONS = {
    "consolidateHeader": "0",
    "consolidateCitations": "0",
    "includeRawCitations": "1",
    "teiCoordinates": ["figure", "head"],
}
_START = (
    "Start it with `docker run --rm --init --ulimit core=0 -p 8070:8070 "
    "grobid/grobid:0.9.1-crf`, or take `grobid` out of repro.yaml."
)
_LOG = "Look at the server's log, or take `grobid` out of repro.yaml."


class GrobidService:
    """A GROBID server; each PDF is sent to it once, and the answer kept.

    At most `concurrency` PDFs are under way at a time, over all processes of the user.
    """

    def __init__(self, config: Grobid, sleep: Callable[[float], None] = time.sleep) -> None:
        self._config, self._sleep = config, sleep
        self.url = config.url.rstrip("/")
        self.name = f"grobid {self.url}"
        self._cache = Cache(cache_folder() / "grobid")

    def tei_of(self, pdf: Path) -> tuple[bytes, str]:
        """The TEI of a PDF and the server's name and version. Raises ServiceError."""
        key = f"{self.name} {sha256_of(pdf)}"
        kept = self._cache.get(key)
        if kept:
            return kept[0].read_bytes(), kept[1]
        slots = cache_folder() / "hosts" / urlsplit(self.url).netloc.replace(":", "-")
        with one_of([slots / f"{n}.lock" for n in range(self._config.concurrency)]):
            made_by = f"GROBID {self.version()}"
            content = self._processed(pdf)
        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            self._cache.put(key, Path(file.name), note=made_by)
        return content, made_by

    def version(self) -> str:
        """The version of a server that is up. Raises ServiceError."""
        alive, status = self._get("isalive")
        if status != 200 or alive.strip().lower() != "true":
            raise ServiceError(
                f"the server answers, but GROBID is not up in it (status {status}).",
                where=self.url,
                hint="It may still be starting: wait a minute and run again.",
                transient=True,
            )
        text, status = self._get("version")
        found = re.search(r"\d+\.\d+[\w.-]*", text)
        if status != 200 or not found:
            raise ServiceError("the server tells no version of GROBID.", where=self.url, hint=_LOG)
        return found[0]

    def _get(self, service: str) -> tuple[str, int]:
        import requests

        client = self._client()
        try:
            answer, status = client.get(client.get_server_url(service), timeout=_CHECK_SECONDS)
        except requests.RequestException as error:
            raise ServiceError(
                f"GROBID does not answer ({_kind(error)}).",
                where=self.url,
                hint=_START,
                transient=True,
            ) from None
        return answer.text, status

    def _processed(self, pdf: Path) -> bytes:
        """The answer to a PDF; a busy server is asked again, for a bounded number of times."""
        for number in range(self._config.tries):
            if number:
                self._sleep(self._config.pause * 2 ** (number - 1))
            content, status = self._post(pdf)
            if status != 503:
                return _checked(content, status, pdf, self.url)
        raise ServiceError(
            f"GROBID is busy (503) after {self._config.tries} tries.",
            where=self.url,
            hint="Run again later, or lower `grobid.concurrency` in repro.yaml.",
            transient=True,
        )

    def _post(self, pdf: Path) -> tuple[bytes, int]:
        import requests

        client = self._client()
        try:
            with pdf.open("rb") as file:
                answer, status = client.post(
                    client.get_server_url("processFulltextDocument"),
                    files={"input": (pdf.name, file, "application/pdf")},
                    data=_OPTIONS,
                    timeout=self._config.timeout,
                )
        except requests.Timeout:
            raise ServiceError(
                f"GROBID did not answer to {pdf.name} within {self._config.timeout:g} seconds.",
                where=self.url,
                hint="Raise `grobid.timeout` in repro.yaml, or give the server more memory.",
            ) from None
        except requests.RequestException as error:
            raise ServiceError(
                f"GROBID broke off over {pdf.name} ({_kind(error)}).",
                where=self.url,
                hint=_LOG,
                transient=True,
            ) from None
        return answer.content, status

    def _client(self):
        try:
            from grobid_client.grobid_client import GrobidClient
        except ImportError:
            raise ServiceError(
                "`grobid.url` is set, but GROBID's client is not installed.",
                where="repro.yaml",
                hint="Run `pip install 'repro-pipeline[grobid]'`.",
            ) from None
        return GrobidClient(grobid_server=self.url, check_server=False)


def _checked(content: bytes, status: int, pdf: Path, url: str) -> bytes:
    """The answer, if it is TEI with its end. Raises ServiceError."""
    if status == 204 or (status == 200 and not content.strip()):
        raise ServiceError(
            f"GROBID found nothing in {pdf.name}.",
            where=url,
            hint="Is it a scan? Take `grobid` out of repro.yaml to read it without the server.",
        )
    if status != 200:
        said = " ".join(content[:300].decode(errors="replace").split())
        raise ServiceError(
            f"GROBID failed on {pdf.name}: {status}{f', {said}' if said else ''}.",
            where=url,
            hint=_LOG,
        )
    if len(content) > LARGEST_ANSWER:
        raise ServiceError(f"GROBID's answer to {pdf.name} is over 100 MiB.", where=url, hint=_LOG)
    if b"<TEI" not in content[:4096] or not content.rstrip().endswith(b"</TEI>"):
        raise ServiceError(f"GROBID's answer to {pdf.name} is no whole TEI.", where=url, hint=_LOG)
    return content


def _kind(error: Exception) -> str:
    """What failed, without the client's addresses of objects."""
    text = repr(error)
    known = {
        "Connection refused": "connection refused",
        "Name or service not known": "no such host",
        "name resolution": "no such host",
        "unreachable": "network unreachable",
        "timed out": "no answer in time",
    }
    return next((words for sign, words in known.items() if sign in text), type(error).__name__)
