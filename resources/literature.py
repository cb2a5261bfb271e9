"""Cited works by HTTP: providers are asked in order, and no record of another work is taken."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from repro_pipeline.config import Fetch, LiteratureConfig
from repro_pipeline.errors import UserError
from repro_pipeline.paper.fetch import ArxivPaper
from repro_pipeline.paper.literature import (
    Brought,
    CodeTree,
    Excluded,
    Exclusions,
    Work,
    mismatch,
    repositories_in,
)
from repro_pipeline.paper.model import Paper, Reference
from repro_pipeline.paper.read import find_sources, read_paper
from repro_pipeline.ports import ArtifactStore
from resources.answers import Answers
from resources.http_download import NotThere
from resources.literature_shapes import addresses, works_in
from resources.paper_source import HttpPaperSource
from resources.reference_code import fetch_code

_LARGEST_ANSWER = 8 << 20


class HttpLiterature:
    """OpenAlex, Semantic Scholar, arXiv, Crossref and GitHub, as far as `repro.yaml` names them."""

    def __init__(
        self,
        config: LiteratureConfig,
        fetch: Fetch,
        store: ArtifactStore,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._config, self._store = config, store
        self._answers = Answers(config, sleep)
        self._papers = HttpPaperSource(fetch, sleep)

    def bring(self, reference: Reference, exclusions: Exclusions) -> Brought:
        """A cited work's record, its text where arXiv has it, and its code. Never raises UserError:

        what could not be had is said in `failures`, what may not be looked at in `excluded`.
        """
        failures: list[str] = []
        work = self._find(reference, failures)
        if work is None:
            return Brought(key=reference.key, failures=tuple(failures))
        if hit := exclusions.of_work(work):
            return Brought(key=reference.key, excluded=(hit,), failures=tuple(failures))
        paper = self._text(reference.arxiv or work.arxiv, failures)
        text = _plain(paper) if paper else ""
        excluded: list[Excluded] = []
        code = self._code(work, text, exclusions, excluded, failures)
        return Brought(
            key=reference.key,
            work=work,
            text=self._store.put(text.encode()) if text else None,
            code=code,
            excluded=tuple(excluded),
            failures=tuple(failures),
        )

    def _find(self, reference: Reference, failures: list[str]) -> Work | None:
        """The first record that is the cited work, of the first provider that has it."""
        for provider in self._config.providers:
            base = getattr(self._config, provider).rstrip("/")
            for url in addresses(provider, base, reference):
                try:
                    works = works_in(provider, self._answers.get(url, _LARGEST_ANSWER))
                except NotThere:
                    continue
                except (UserError, ValueError) as error:
                    failures.append(f"{provider}: {error}")
                    break
                for work in works:
                    why = mismatch(reference, work)
                    if why is None:
                        return work
                    failures.append(f"{provider}: a record was refused: {why}")
        return None

    def _text(self, arxiv: str | None, failures: list[str]) -> Paper | None:
        if arxiv is None:
            failures.append("no provider names a text of it that may be fetched")
            return None
        try:
            with tempfile.TemporaryDirectory() as folder:
                self._papers.fetch(ArxivPaper(id=arxiv), Path(folder), asked=f"arxiv:{arxiv}")
                return read_paper(find_sources(Path(folder))[0])
        except (UserError, IndexError) as error:
            failures.append(f"its text: {error}")
            return None

    def _code(
        self,
        work: Work,
        text: str,
        exclusions: Exclusions,
        excluded: list[Excluded],
        failures: list[str],
    ) -> CodeTree | None:
        """The first repository that its record or text names and that may be looked at."""
        named = dict.fromkeys([*repositories_in(" ".join(work.links)), *repositories_in(text)])
        for repository in [one for one in named if one.startswith("github.com/")][:3]:
            try:
                found = fetch_code(
                    self._answers,
                    self._config.github.rstrip("/"),
                    repository,
                    exclusions,
                    self._store,
                )
            except UserError as error:
                failures.append(f"its code: {error}")
                continue
            if isinstance(found, CodeTree):
                return found
            excluded.append(found)
        return None


def _plain(paper: Paper) -> str:
    """A paper's words, a paragraph for each section, caption and row of a table."""
    parts = [paper.title, paper.abstract]
    parts += [f"{section.title}\n\n{section.text}" for section in paper.sections]
    for table in paper.tables:
        parts.append(table.caption)
        parts += [" ".join(cell.text for cell in row) for row in table.grid]
    return "\n\n".join(part for part in parts if part.strip())
