"""Code of a Git repository: the commit's files and no others, and nothing executed."""

from __future__ import annotations

import os
import random
from pathlib import Path

import https_git
import pytest
from foreign import commit, git, repository, write
from hypothesis import example, given
from hypothesis import strategies as st

from repro_pipeline.errors import UserError
from repro_pipeline.imports.code_address import CodeTarget, parse_code
from resources.code_remotes import remotes_of
from resources.code_source import Bounds, fetch_code_at

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 1234567\n"


def fetched(repo: Path, ref: str, place: Path, **bounds):
    return fetch_code_at(CodeTarget(str(repo), ref), place, Bounds(**bounds))


def test_a_commit_comes_whole_and_exactly(tmp_path):
    repo = tmp_path / "repo"
    content = {"main.py": "print(1)\r\n", "src/é.py": "x\n", "run.sh": "echo\n", "LICENSE": "MIT"}
    first = repository(repo, content)
    (repo / "run.sh").chmod(0o755)
    second = commit(repo)
    origin = fetched(repo, second, tmp_path / "new")
    got = {
        p.relative_to(tmp_path / "new").as_posix(): p.read_bytes().decode()
        for p in (tmp_path / "new").rglob("*")
        if p.is_file()
    }
    assert got == content
    assert os.access(tmp_path / "new/run.sh", os.X_OK) and not os.access(
        tmp_path / "new/main.py", os.X_OK
    )
    assert (origin.commit, origin.tree) == (second, git(repo, "rev-parse", "HEAD^{tree}"))
    assert (origin.files, origin.licence, origin.left_out) == (4, "LICENSE", ())
    fetched(repo, first, tmp_path / "old")
    assert not os.access(tmp_path / "old/run.sh", os.X_OK)


@pytest.mark.parametrize("ref", ["HEAD", "main", "v1", "v2", "feature/x", "short"])
def test_names_are_resolved_to_the_commit_that_they_stand_for(tmp_path, ref):
    repo = tmp_path / "repo"
    wanted = repository(repo, {"a.py": "1"})
    git(repo, "tag", "v1")
    git(repo, "tag", "-a", "v2", "-m", "annotated")
    git(repo, "branch", "feature/x")
    if ref not in {"HEAD", "main"}:
        write(repo, {"a.py": "2"})
        commit(repo)
    origin = fetched(repo, wanted[:9] if ref == "short" else ref, tmp_path / "out")
    assert origin.commit == wanted and (tmp_path / "out/a.py").read_text() == "1"


def test_nothing_of_the_repository_is_executed(tmp_path):
    """Hooks, filters, submodules and aliases that would leave a mark."""
    mark, repo = tmp_path / "mark", tmp_path / "repo"
    repository(repo, {"a.py": "1"})
    touch = f"touch {mark}"
    for name in (
        "post-checkout",
        "post-merge",
        "pre-auto-gc",
        "reference-transaction",
        "post-index-change",
    ):
        hook = repo / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\n{touch}\n")
        hook.chmod(0o755)
    write(
        repo,
        {
            ".gitattributes": "*.py filter=evil\n*.txt export-ignore export-subst\n",
            "note.txt": "$Format:%H$",
            ".gitmodules": f'[submodule "m"]\n\tpath = m\n\turl = {repo}\n',
        },
    )
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},m")
    for key in (
        "filter.evil.smudge",
        "filter.evil.clean",
        "core.fsmonitor",
        "uploadpack.packObjectsHook",
    ):
        git(repo, "config", key, touch)
    git(
        repo,
        "-c",
        "core.fsmonitor=false",
        "-c",
        "filter.evil.clean=cat",
        "-c",
        "core.hooksPath=/dev/null",
        "add",
        ".gitattributes",
        "note.txt",
        ".gitmodules",
    )
    git(
        repo,
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.hooksPath=/dev/null",
        "commit",
        "-q",
        "-m",
        "more",
    )
    mark.unlink(missing_ok=True)
    origin = fetched(repo, "main", tmp_path / "out")
    assert not mark.exists()
    assert (tmp_path / "out/note.txt").read_text() == "$Format:%H$"
    assert origin.left_out == (f"The submodule m at {'1' * 40}.",)


def test_a_repository_made_to_attack_git_is_refused(tmp_path):
    modules = '[submodule "m"]\n\tpath = m\n\turl = x\n\tupdate = !touch mark\n'
    repository(tmp_path / "repo", {".gitmodules": modules})
    with pytest.raises(UserError, match="disallowed submodule update"):
        fetched(tmp_path / "repo", "HEAD", tmp_path / "out")


def test_what_is_kept_elsewhere_or_leads_out_is_named(tmp_path):
    repo = tmp_path / "repo"
    write(repo, {"in/a.py": "1", "big.bin": POINTER})
    (repo / "in/good").symlink_to("../big.bin")
    (repo / "bad").symlink_to("../../etc/passwd")
    (repo / "worse").symlink_to("/etc/passwd")
    repository(repo, {})
    origin = fetched(repo, "HEAD", tmp_path / "out")
    assert (tmp_path / "out/in/good").read_text() == POINTER
    assert not os.path.lexists(tmp_path / "out/bad") and not os.path.lexists(tmp_path / "out/worse")
    assert len(origin.left_out) == 3 and "1,234,567 bytes" in origin.left_out[0]


def test_a_link_that_leads_out_through_others_is_named(tmp_path):
    """Word by word `up/../secret` stays within; but `up` is the folder itself."""
    repo = tmp_path / "repo"
    write(repo, {"deep/a.py": "1"})
    targets = {"up": ".", "bad": "up/../secret", "deep/worse": "../up/..", "good": "deep/../deep"}
    for name, target in targets.items():
        (repo / name).symlink_to(target)
    repository(repo, {})
    write(tmp_path, {"secret": "of this host"})
    origin = fetched(repo, "HEAD", tmp_path / "out")
    assert len(origin.left_out) == 2 and "bad" in origin.left_out[0]
    assert (tmp_path / "out/good/a.py").read_text() == "1"
    assert not os.path.lexists(tmp_path / "out/bad")
    assert not os.path.lexists(tmp_path / "out/deep/worse")


def test_only_a_commit_is_recorded_as_one(tmp_path):
    """Git serves any object by its id: what a tag stands for is recorded, and a tree is refused."""
    repo = tmp_path / "repo"
    made = repository(repo, {"a.py": "1"})
    git(repo, "tag", "-a", "v1", "-m", "annotated")
    git(repo, "config", "uploadpack.allowAnySHA1InWant", "true")
    for number, ref in enumerate((git(repo, "rev-parse", "v1"), "refs/tags/v1", "refs/heads/main")):
        assert fetched(repo, ref, tmp_path / f"out{number}").commit == made
    for what in ("HEAD^{tree}", "HEAD:a.py"):
        with pytest.raises(UserError, match="is no commit"):
            fetched(repo, git(repo, "rev-parse", what), tmp_path / "other")


def test_a_name_that_no_folder_holds_is_told(tmp_path):
    repo = tmp_path / "repo"
    repository(repo, {"a.py": "1"})
    blob = git(repo, "rev-parse", "HEAD:a.py")
    git(repo, "update-index", "--add", "--cacheinfo", f"100644,{blob},{'n' * 300}")
    git(repo, "commit", "-q", "-m", "long")
    with pytest.raises(UserError, match="File name too long"):
        fetched(repo, "HEAD", tmp_path / "out")


def test_limits_hold(tmp_path):
    repo = tmp_path / "repo"
    repository(repo, {"a": "x" * 5000, "b": "y"})
    for bounds in ({"files": 1}, {"bytes": 4999}):
        with pytest.raises(UserError, match="more than the"):
            fetched(repo, "HEAD", tmp_path / "out", **bounds)
        assert not (tmp_path / "out").exists()
    (repo / "c").write_bytes(random.Random(1).randbytes(300_000))  # does not compress
    commit(repo)
    with pytest.raises(UserError, match="brings more than"):
        fetched(repo, "HEAD", tmp_path / "out", fetched=200_000)
    with pytest.raises(UserError, match="took longer"):
        fetched(repo, "HEAD", tmp_path / "out", seconds=-1)
    with pytest.raises(UserError, match="no commit, branch or tag"):
        fetched(repo, "nope", tmp_path / "out")
    with pytest.raises(UserError, match="cannot be fetched"):
        fetched(tmp_path, "HEAD", tmp_path / "out")


def test_the_places_that_a_clone_came_from(tmp_path):
    repository(tmp_path / "repo", {"a": "1"})
    assert remotes_of(tmp_path / "repo") == []
    git(tmp_path / "repo", "remote", "add", "origin", "git@github.com:ada/tiny.git")
    assert remotes_of(tmp_path / "repo") == ["github.com/ada/tiny.git"]
    git(tmp_path / "repo", "worktree", "add", "-q", "-b", "w", str(tmp_path / "tree"))
    git(tmp_path, "clone", "-q", str(tmp_path / "repo"), "clone")
    git(tmp_path, "clone", "-q", "--bare", str(tmp_path / "clone"), "bare")
    for place in ("tree", "clone", "bare"):
        assert "github.com/ada/tiny.git" in remotes_of(tmp_path / place), place


@pytest.mark.parametrize(
    "line",
    [
        "url = https://me:hunter2@github.com/ada/tiny",
        'url = "https://github.com/ada/tiny"',
        "url = https://github.com/ada/tiny # mine",
        "URL = ssh://git@ssh.github.com:443/ada/tiny",
        "pushurl = git@github.com.:/ada/tiny",
        'url = gh:tiny\n[url "https://github.com/ada/"]\n\tinsteadOf = gh:',
    ],
)
def test_a_remote_is_read_as_git_reads_it(tmp_path, line):
    """However it is written; and no password is among what is told."""
    write(tmp_path / "repo", {".git/config": f'[remote "origin"]\n\t{line}\n'})
    found = remotes_of(tmp_path / "repo")
    assert "github.com/ada/tiny" in found and "hunter2" not in str(found)


def test_settings_that_git_does_not_read_are_told(tmp_path):
    write(tmp_path / "repo", {".git/config": "[remote"})
    with pytest.raises(UserError, match="no configuration"):
        remotes_of(tmp_path / "repo")


@pytest.mark.parametrize(
    ("text", "url", "ref", "address"),
    [
        ("https://h.org/o/n@v1.2", "https://h.org/o/n", "v1.2", "h.org/o/n"),
        ("https://h.org/o/n", "https://h.org/o/n", "HEAD", "h.org/o/n"),
        (
            "ssh://git@h.org/o/n@feature/x",
            "ssh://git@h.org/o/n",
            "feature/x",
            "h.org/o/n",
        ),
        (
            "ssh://git@ssh.github.com:443/o/n",
            "ssh://git@ssh.github.com:443/o/n",
            "HEAD",
            "github.com/o/n",
        ),
        ("git@h.org:/o/n@" + "A" * 40, "git@h.org:/o/n", "a" * 40, "h.org/o/n"),
        ("git@h.org:o/n.git", "git@h.org:o/n.git", "HEAD", "h.org/o/n.git"),
        ("git@h.org:o/n.git@abc1234", "git@h.org:o/n.git", "abc1234", "h.org/o/n.git"),
    ],
)
def test_addresses(text, url, ref, address):
    target = parse_code(text)
    assert (target.url, target.ref, target.address) == (url, ref, address)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("http://h/o/n", "not by http"),
        ("git://h/o/n", "not by git"),
        ("file:///etc", "not by file"),
        ("ext::sh -c id", "no address"),
        ("--upload-pack=id", "no address"),
        ("https://me@h/o/n", "password"),
        ("https://h/o/n@-x", "names no commit"),
        ("https://h/o/n@a..b", "names no commit"),
        ("https://h", "names no repository"),
        ("ssh://-oProxyCommand=id/n", "names no repository"),
        ("git@-oProxyCommand=id:n", "no such repository"),
        ("/no/such/place", "no such repository"),
        ("", "no address"),
    ],
)
def test_other_addresses_are_refused(text, said):
    with pytest.raises(UserError, match=said):
        parse_code(text)


@pytest.mark.parametrize(
    "text",
    [
        "https://me:hunter2@h/o/n@v1",
        "http://hunter2@h/o/n",
        "git+https://hunter2@h/o/n",
        "https://hunter2@h/o/n@a..b",
        "me:hunter2@h:o/n",
        "https://h/o/n?token=hunter2@v1",
        "https://h/o/n#hunter2",
        "ssh://me:hunter2@h/o/n",
        "https://hunter2@[::1/x",
        "https://hunter2@h:port/o/n",
        "-https://hunter2@h/o/n",
    ],
)
def test_a_password_is_neither_taken_nor_repeated(text):
    with pytest.raises(UserError) as caught:
        parse_code(text)
    assert "hunter2" not in str(caught.value)


@given(st.text(max_size=60))
@example("~0")
@example("a" * 5000)
@example("\0@x")
def test_any_text_is_an_address_or_a_sentence(text):
    try:
        target = parse_code(text)
    except UserError:
        return
    assert not target.url.startswith("-") and not target.ref.startswith("-")


@pytest.mark.skipif(not https_git.is_possible(), reason="needs openssl and git-http-backend")
def test_a_server_by_https(tmp_path, monkeypatch):
    """One commit alone comes; a certificate that nobody vouches for, or a question, is a sentence."""
    commits = [repository(tmp_path / "all/repo", {"a.py": "1"})]
    write(tmp_path / "all/repo", {"a.py": "2"})
    commits.append(commit(tmp_path / "all/repo"))
    with https_git.serving(tmp_path / "all", tmp_path / "it.pem") as (address, asked):
        with pytest.raises(UserError, match="certificate"):
            fetch_code_at(parse_code(f"{address}/repo@main"), tmp_path / "no")
        monkeypatch.setenv("GIT_SSL_CAINFO", str(tmp_path / "it.pem"))
        for text, wanted in (("@main", commits[1]), (f"@{commits[0]}", commits[0])):
            origin = fetch_code_at(parse_code(f"{address}/repo{text}"), tmp_path / wanted)
            assert origin.commit == wanted
            number = str(commits.index(wanted) + 1)
            assert (tmp_path / wanted / "a.py").read_text() == number
        with pytest.raises(UserError, match="asks for a name and password"):
            fetch_code_at(parse_code(f"{address}/private@main"), tmp_path / "no")
    assert any("git-upload-pack" in one for one in asked)
