"""Code of authors from a Git repository: the files of one commit, and nothing of it executed.

Git is run with no configuration but its own defaults and what stands here: no hooks, no filters, no
prompt, no helper that the repository names. Files are read from its objects, so no checkout happens,
in which attributes and filters would act.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from repro_pipeline.imports.code_address import CodeTarget
from repro_pipeline.imports.record import GitOrigin, ImportFault
from repro_pipeline.tied import tied

_SAFE = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "credential.helper="),
    *("-c", "fetch.fsckObjects=true"),
    # Faults of old commits' dates and names, which no file depends on.
    *(
        word
        for fault in ("missingSpaceBeforeDate", "badTimezone", "missingEmail", "zeroPaddedFilemode")
        for word in ("-c", f"fetch.fsck.{fault}=ignore")
    ),
    *("-c", "fetch.unpackLimit=1"),
    *("-c", "submodule.recurse=false"),
    *("-c", "gc.auto=0"),
    # A helper of Git's that is left alone with a silent server ends by itself.
    *("-c", "http.lowSpeedLimit=1"),
    *("-c", "http.lowSpeedTime=60"),
)
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
    "GIT_ALLOW_PROTOCOL": "https:ssh:file",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",  # of a partial clone, from wherever and however its settings say
    "LC_ALL": "C",
}
_KEPT = (
    *("PATH", "SSH_AUTH_SOCK", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"),
    "GIT_SSL_CAINFO",  # the certificates of an organisation's own host
)
_POINTER = b"version https://git-lfs.github.com/spec/"
_LICENCE = re.compile(r"(licen[cs]e|copying)(\.\w+)?", re.I)
_BY_HAND = "Clone it yourself, put the files into code/ of the paper's folder, and add that."


@dataclass(frozen=True)
class Bounds:
    """The most that one repository may take."""

    seconds: float = 900
    fetched: int = 1 << 30
    """Bytes of the compressed history that comes."""
    bytes: int = 500 << 20
    """Of the commit's files."""
    files: int = 50_000


def fetch_code_at(target: CodeTarget, folder: Path, bounds: Bounds | None = None) -> GitOrigin:
    """Write the files of a commit into the new folder `folder`.

    A branch or tag is resolved to its commit first. Submodules are left out and named, and so is what
    the repository keeps in large-file storage: its pointers stay. Raises ImportFault.
    """
    bounds = bounds or Bounds()
    with tempfile.TemporaryDirectory(prefix="repro-git-") as place:
        git = _Git(Path(place), bounds, time.monotonic() + bounds.seconds, target.url)
        commit = git.bring(target)
        entries = list(git.entries(commit))
        _check(entries, bounds, target.url)
        left_out = git.write(entries, folder)
        roots = [one.path for one in entries if "/" not in one.path]
        return GitOrigin(
            url=target.url,
            commit=commit,
            tree=git.say("rev-parse", "--verify", f"{commit}^{{tree}}"),
            asked=target.ref,
            files=sum(one.kind == "blob" for one in entries),
            bytes=sum(one.size for one in entries),
            licence=next((name for name in roots if _LICENCE.fullmatch(name)), None),
            left_out=tuple(left_out),
        )


@dataclass(frozen=True)
class _Entry:
    mode: str
    kind: str
    sha: str
    size: int
    path: str


@dataclass(frozen=True)
class _Git:
    """A bare repository of our own, into which objects come."""

    place: Path
    bounds: Bounds
    until: float
    url: str

    def bring(self, target: CodeTarget) -> str:
        """Fetch what is wanted; its commit."""
        self._run("init", "--quiet", "--bare", ".")
        commit = target.ref if target.is_commit else self._resolved(target.ref)
        fetch = (
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
        )
        if commit:
            try:
                self._run(*fetch, "--depth=1", "--end-of-options", self.url, commit)
            except ImportFault:  # a server may give whole branches only
                commit = self._of_all(fetch, commit)
        else:
            commit = self._of_all(fetch, target.ref)
        try:
            return self.say("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
        except ImportFault:
            raise ImportFault(f"'{commit}' is no commit.", where=self.url) from None

    def _resolved(self, ref: str) -> str | None:
        """The commit of a branch or tag; None where there is none: it may be a short commit."""
        whole = ref == "HEAD" or ref.startswith("refs/")
        names = [ref] if whole else [f"refs/tags/{ref}", f"refs/heads/{ref}"]
        names = [name for one in names for name in (f"{one}^{{}}", one)]
        listed = self._run("ls-remote", "--quiet", "--end-of-options", self.url, *names)
        found = dict(reversed(line.split("\t", 1)) for line in listed.decode().splitlines())
        for name in names:
            if name in found:
                return found[name]
        return None

    def _of_all(self, fetch: Sequence[str], commit: str) -> str:
        """Fetch every branch and tag, and find a commit among them, which may be shortened."""
        heads = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        self._run(*fetch, "--end-of-options", self.url, *heads)
        if re.fullmatch(r"[0-9a-f]{7,64}", commit):
            try:
                return self.say("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
            except ImportFault:
                pass
        raise ImportFault(
            f"has no commit, branch or tag '{commit}'.",
            where=self.url,
            hint="Look it up in the repository's history.",
        )

    def entries(self, commit: str) -> Iterator[_Entry]:
        """The files of a commit."""
        listed = self._run("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
        for line in listed.split(b"\0")[:-1]:
            told, _, path = line.partition(b"\t")
            mode, kind, sha, size = told.decode().split()
            name = path.decode("utf-8", errors="surrogateescape")
            yield _Entry(mode, kind, sha, 0 if size == "-" else int(size), name)

    def write(self, entries: Sequence[_Entry], folder: Path) -> list[str]:
        """Write them; what is not there, in sentences."""
        folder.mkdir(parents=True)
        left_out = [
            f"The submodule {one.path} at {one.sha}." for one in entries if one.kind == "commit"
        ]
        blobs = [one for one in entries if one.kind == "blob"]
        content = self._contents([one.sha for one in blobs])
        links = []
        for one, data in zip(blobs, content, strict=True):
            if one.mode == "120000":
                links.append((one.path, data.decode("utf-8", errors="surrogateescape")))
                continue
            path = folder / one.path
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            except OSError as error:
                what = f"{one.path[:100]!r} cannot be written: {error.strerror}."
                raise ImportFault(what, where=self.url, hint=_BY_HAND) from None
            path.chmod(0o755 if one.mode == "100755" else 0o644)
            if data.startswith(_POINTER):
                size = re.search(rb"^size (\d+)$", data, re.M)
                told = f", {int(size[1]):,} bytes" if size else ""
                left_out.append(f"The content of {one.path}, kept in large-file storage{told}.")
        return left_out + _write_links(links, folder)

    def _contents(self, shas: Sequence[str]) -> Iterator[bytes]:
        """The objects' bytes, in this order."""
        with tempfile.TemporaryFile() as asked:
            asked.write("".join(f"{sha}\n" for sha in shas).encode())
            asked.seek(0)
            with subprocess.Popen(
                tied(["git", *_SAFE, "cat-file", "--batch"]),
                cwd=self.place,
                env=git_environment(self.place),
                stdin=asked,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            ) as process:
                for _ in shas:
                    head = process.stdout.readline().split()
                    if len(head) != 3:
                        raise ImportFault("came incomplete.", where=self.url, hint=_BY_HAND)
                    data = process.stdout.read(int(head[2]))
                    process.stdout.read(1)
                    yield data

    def say(self, *arguments: str) -> str:
        """What a command prints, on one line."""
        return self._run(*arguments).decode().strip()

    def _run(self, *arguments: str) -> bytes:
        """A command's output. Raises ImportFault when it fails, takes too long or brings too much."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = _started(arguments, self.place, out, err)
            try:
                self._watch(process)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            err.seek(0)
            if process.returncode:
                said = err.read(20_000).decode("utf-8", errors="replace")
                raise ImportFault(_fault(said), where=self.url, hint=_BY_HAND)
            out.seek(0)
            return out.read()

    def _watch(self, process: subprocess.Popen) -> None:
        ended = False
        while not ended:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.2)
                ended = True
            if time.monotonic() > self.until:
                what = f"took longer than {self.bounds.seconds:g} s."
                raise ImportFault(what, where=self.url, hint=_BY_HAND)
            if _size(self.place) > self.bounds.fetched:
                what = f"brings more than {self.bounds.fetched / (1 << 20):.3g} MiB."
                raise ImportFault(what, where=self.url, hint=_BY_HAND)


def _started(arguments: Sequence[str], place: Path, out, err) -> subprocess.Popen:
    variables = git_environment(place)
    if not shutil.which("git", path=variables.get("PATH")):
        raise no_git()
    return subprocess.Popen(
        tied(["git", *_SAFE, *arguments]),
        cwd=place,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        start_new_session=True,
    )


def no_git() -> ImportFault:
    """What is said where Git is not installed."""
    hint = "Install it (`apt-get install git`)."
    return ImportFault("there is no git here.", where="--code", hint=hint)


def git_environment(home: Path) -> dict[str, str]:
    """The variables that Git is run with, in a repository at `home`: no configuration of the host's."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, **_ENVIRONMENT, "HOME": str(home), "GIT_DIR": str(home)}


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size
        except FileNotFoundError:
            continue
    return total


def _check(entries: Sequence[_Entry], bounds: Bounds, url: str) -> None:
    """Raises ImportFault for too much, and for names that lead elsewhere."""
    total = sum(one.size for one in entries)
    if len(entries) > bounds.files or total > bounds.bytes:
        raise ImportFault(
            f"holds {len(entries):,} files of {total / (1 << 20):,.0f} MiB, more than the "
            f"{bounds.files:,} files or {bounds.bytes >> 20} MiB that are taken.",
            where=url,
            hint=_BY_HAND,
        )
    for one in entries:
        parts = PurePosixPath(one.path).parts
        if one.path.startswith("/") or ".." in parts or any(p.lower() == ".git" for p in parts):
            raise ImportFault(f"holds the name {one.path!r}.", where=url, hint=_BY_HAND)
        try:
            one.path.encode()
        except UnicodeEncodeError:
            raise ImportFault(
                f"holds a name that is not UTF-8: {one.path!r}.", where=url, hint=_BY_HAND
            ) from None


def _write_links(links: Sequence[tuple[str, str]], folder: Path) -> list[str]:
    """Write links, path and target, and take away those that lead out; these, in sentences.

    Where one leads is known when all are there: each may lead through others.
    """
    out = []
    for name, target in links:
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(target)
        except (OSError, ValueError):  # one that no file system holds
            out.append(name)
    top = folder.resolve()
    for name, _ in links:
        path = folder / name
        if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(top):
            path.unlink()
            out.append(name)
    return [f"The link {name}, which leads out of the repository." for name in sorted(out)]


def _fault(said: str) -> str:
    """What Git says, on one line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    told = next((line for line in lines if line.startswith(("fatal:", "error:"))), "")
    text = (told or (lines[-1] if lines else "")).removeprefix("fatal: ").removeprefix("error: ")
    if "terminal prompts disabled" in text or "Authentication failed" in text:
        return "asks for a name and password, or does not exist."
    return f"cannot be fetched: {text[:300].rstrip('.') or 'git failed'}."
