"""Answers of public services, kept per user: one request at a time per host, bounded in every way."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from repro_pipeline.config import LiteratureConfig
from resources.http_download import Bounds, download
from resources.user_cache import Cache, cache_folder, one_at_a_time

KEPT_SECONDS = 30 * 24 * 3600
_TRIES = 3
_BY_HAND = "put its text into the bundle's references/ yourself."


class Answers:
    """Gets by address. What was answered well is kept for a month; nothing else is."""

    def __init__(
        self, config: LiteratureConfig, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._config, self._sleep = config, sleep
        self._cache = Cache(cache_folder() / "literature", seconds=KEPT_SECONDS)

    def get(self, url: str, largest: int) -> bytes:
        """The body behind an address. Raises NotThere, FetchError."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "answer")
            self.bring(url, path, largest)
            return path.read_bytes()

    def bring(self, url: str, path: Path, largest: int) -> None:
        """Write the body behind an address to `path`. Raises NotThere, FetchError."""
        kept = self._cache.get(url)
        if kept:
            shutil.copyfile(kept[0], path)
            return
        bounds = Bounds(
            silence=self._config.timeout,
            seconds=self._config.longest,
            size=largest,
            tries=_TRIES,
            pause=self._config.interval,
            longest_pause=self._config.longest_pause,
        )
        host = urlsplit(url).netloc.rpartition("@")[2].replace(":", "-")
        lock = cache_folder() / "hosts" / f"{host}.lock"
        with one_at_a_time(lock, self._config.interval, self._sleep):
            download(url, path, bounds, hint=_BY_HAND, sleep=self._sleep)
        self._cache.put(url, path)
