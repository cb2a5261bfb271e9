"""Papers from arXiv and from addresses, into a bundle's folder."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from repro_pipeline.config import Fetch
from repro_pipeline.errors import FetchError
from repro_pipeline.paper.fetch import (
    RECORD_NAME,
    ArxivPaper,
    FetchedFile,
    FetchRecord,
    PaperUrl,
    file_name,
)
from resources.http_download import Bounds, NotThere, download
from resources.user_cache import Cache, cache_folder, one_at_a_time, sha256_of

KEPT_SECONDS = 24 * 3600
"""How long an answer stands for its address: arXiv announces new versions once a day."""

_BY_HAND = "Download the source or the PDF yourself, and `repro add FOLDER`."


class HttpPaperSource:
    """Fetches by HTTP, one request at a time per host of all the user's processes."""

    def __init__(self, config: Fetch, sleep: Callable[[float], None] = time.sleep) -> None:
        self._config, self._sleep = config, sleep
        self._cache = Cache(cache_folder() / "papers", seconds=KEPT_SECONDS)
        self._bounds = Bounds(
            silence=config.timeout,
            seconds=config.longest,
            size=config.largest,
            pause=config.interval,
        )

    def fetch(self, target: ArxivPaper | PaperUrl, folder: Path, *, asked: str) -> FetchRecord:
        """Write the paper's files and the record of where they are from into an empty folder."""
        if isinstance(target, PaperUrl):
            files, absent = [self._get(target.url, folder)], ()
        else:
            files, absent = self._arxiv(target, folder)
        record = FetchRecord(asked=asked, files=tuple(filter(None, files)), absent=absent)
        if not record.files:
            raise FetchError(
                "the server has neither its source nor its PDF.", where=asked, hint=_BY_HAND
            )
        (folder / RECORD_NAME).write_text(record.model_dump_json(indent=1), encoding="utf-8")
        return record

    def _arxiv(
        self, paper: ArxivPaper, folder: Path
    ) -> tuple[list[FetchedFile | None], tuple[str, ...]]:
        """Source and PDF of a paper; where the source is a PDF, there is no other."""
        base = self._config.arxiv.rstrip("/")
        files: list[FetchedFile | None] = []
        absent = []
        for what, path in (("LaTeX source", "e-print"), ("PDF", "pdf")):
            try:
                got = self._get(f"{base}/{path}/{paper.name}", folder)
            except NotThere:
                got = None
            if got is None:
                absent.append(f"arXiv has no {what} of {paper.name}.")
                continue
            files.append(got)
            if what == "LaTeX source" and got.file == "paper.pdf":
                absent.append(f"arXiv has no LaTeX source of {paper.name}, but its PDF.")
                break
        return files, tuple(absent)

    def _get(self, url: str, folder: Path) -> FetchedFile | None:
        """One file of the bundle; None where the source was withdrawn."""
        with tempfile.TemporaryDirectory(dir=folder) as fresh:
            path = Path(fresh, "file")
            self._bring(url, path)
            name = file_name(path, where=url)
            if name is None:
                return None
            path.replace(folder / name)
        return FetchedFile(
            file=name,
            url=url,
            sha256=sha256_of(folder / name),
            bytes=(folder / name).stat().st_size,
            at=datetime.now(UTC),
        )

    def _bring(self, url: str, path: Path) -> None:
        kept = self._cache.get(url)
        if kept:
            shutil.copyfile(kept[0], path)
            return
        host = urlsplit(url).netloc.rpartition("@")[2].replace(":", "-")
        with one_at_a_time(
            cache_folder() / "hosts" / f"{host}.lock", self._config.interval, self._sleep
        ):
            download(url, path, self._bounds, hint=_BY_HAND, sleep=self._sleep)
        file_name(path, where=url)  # only what is a paper is kept
        self._cache.put(url, path)
