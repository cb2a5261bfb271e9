"""Code of a cited work from GitHub: its own repository, at one commit, only the files that matter."""

from __future__ import annotations

import json
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from repro_pipeline.errors import FetchError
from repro_pipeline.paper.literature import CodeTree, Excluded, Exclusions
from repro_pipeline.ports import ArtifactStore
from resources.answers import Answers

_MATTERS = {".py", ".yaml", ".yml", ".json"}
_MOST_FILES, _LARGEST_FILE = 400, 256 << 10
_LARGEST_ANSWER, _LARGEST_TREE = 4 << 20, 100 << 20


def fetch_code(
    answers: Answers,
    api: str,
    repository: str,
    exclusions: Exclusions,
    store: ArtifactStore,
) -> CodeTree | Excluded:
    """A repository (host/owner/name) at the head of its default branch, pinned to that commit.

    Asked before anything is brought: whether it is excluded by address, is a fork or a mirror, or a copy
    of one that is excluded. Then its README: one that bears the target's title is not looked at further.
    Raises FetchError.
    """
    if hit := exclusions.of_address(repository):
        return hit
    name = repository.partition("/")[2]
    about = _json(answers, f"{api}/repos/{name}")
    origins = [about.get(key) for key in ("parent", "source") if isinstance(about.get(key), dict)]
    named = [about.get("full_name"), *(origin.get("full_name") for origin in origins)]
    for full_name in filter(None, named):
        if hit := exclusions.of_address(f"github.com/{full_name}"):
            return Excluded(what=repository, rule=f"{hit.rule} ({full_name})")
    if about.get("fork") or about.get("mirror_url"):
        return Excluded(what=repository, rule="it is a fork or a mirror")
    commit = _json(answers, f"{api}/repos/{name}/commits/{about.get('default_branch') or 'HEAD'}")
    sha = commit.get("sha")
    if not isinstance(sha, str) or len(sha) != 40:
        raise FetchError("names no commit.", where=repository, hint="Give its code by hand.")
    files = _tree(answers, f"{api}/repos/{name}/tarball/{sha}")
    for path, content in files.items():
        if PurePosixPath(path).stem.lower() == "readme":
            text = content.decode("utf-8", "replace")
            if hit := exclusions.of_text(f"{repository}: {path}", text):
                return hit
    licence = (about.get("license") or {}).get("spdx_id")
    return CodeTree(
        repository=repository,
        commit=sha,
        licence=None if licence in {None, "NOASSERTION"} else licence,
        files={
            path: store.put(content)
            for path, content in files.items()
            if PurePosixPath(path).suffix in _MATTERS
        },
    )


def _json(answers: Answers, url: str) -> dict[str, Any]:
    try:
        answer = json.loads(answers.get(url, _LARGEST_ANSWER))
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise FetchError("the answer is no JSON object.", where=url, hint="Try again later.")
    return answer


def _tree(answers: Answers, url: str) -> dict[str, bytes]:
    """The small text files of a tarball, by their path below its one folder."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tree.tar.gz")
        answers.bring(url, path, _LARGEST_TREE)
        try:
            with tarfile.open(path) as archive:
                return _members(
                    archive, lambda n: n.suffix in _MATTERS or n.stem.lower() == "readme"
                )
        except (tarfile.TarError, OSError, EOFError) as error:
            raise FetchError(
                f"is no readable archive ({error}).", where=url, hint="Try again later."
            ) from None


def _members(archive: tarfile.TarFile, wanted: Callable[[PurePosixPath], bool]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for member in archive:
        path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
        if not member.isfile() or member.size > _LARGEST_FILE or not wanted(path):
            continue
        if ".." in path.parts or len(files) >= _MOST_FILES:
            continue
        opened = archive.extractfile(member)
        files[str(path)] = opened.read() if opened else b""
    return files
