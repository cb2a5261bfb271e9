"""A paper's folder: what it must hold, what its content is, and what may not be in it."""

import os
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.bundle.folder import (
    code_prefix,
    lies_inside,
    open_bundle,
    paper_files,
    paper_id_of,
)
from repro_pipeline.errors import BundleError, FileFormatError, UserError
from repro_pipeline.frozen import digest
from repro_pipeline.reading.keep import keep_bundle

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "random-forests-2001"


@pytest.fixture
def bundle(tmp_path):
    """A small bundle with something in each of its places."""
    folder = tmp_path / "papers" / "small"
    for name, content in {
        "paper.md": "# Small\n",
        "task.yaml": "schema: 1\n",
        "code/run.py": "print(1)\n",
        "code/deep/er.py": "",
        "references/a.md": "key: a\n",
        "references/deep/b.txt": "b\n",
        "data/d.csv": "1,2\n",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def refused(folder):
    with pytest.raises(BundleError) as error:
        open_bundle(folder)
    return str(error.value).replace(str(folder.parent), "PAPERS")


def test_the_example_is_a_bundle():
    bundle = open_bundle(EXAMPLE)
    assert bundle.paper == "random-forests-2001"
    assert bundle.sources == ("paper.tex", "paper.pdf")
    assert bundle.has_code
    assert len(bundle.task.claims) == 16
    assert bundle.references == (
        "references/arcing-classifiers.md",
        "references/bias-variance-arcing.md",
    )


def test_no_such_bundle_says_which_exist(bundle):
    assert refused(bundle.with_name("smal")) == (
        "PAPERS/smal: no such bundle. Did you mean 'small'? These exist: small."
    )
    shutil.rmtree(bundle)
    (bundle.parent / ".half.new").mkdir()
    assert refused(bundle).endswith("no such bundle. Add one with `repro add PATH`.")


def test_a_file_in_the_place_of_a_bundle_is_none(bundle):
    path = bundle.with_name("file")
    path.write_text("x")
    assert "no such bundle" in refused(path)


def test_a_bundle_without_a_paper_says_what_a_paper_may_be_called(bundle):
    (bundle / "paper.md").rename(bundle / "article.md")
    assert refused(bundle).startswith("PAPERS/small: holds no paper. Put the paper there as")
    (bundle / "paper").write_text("a file, not a folder of LaTeX")
    (bundle / "paper.tex").mkdir()
    assert "holds no paper" in refused(bundle)


def test_the_sources_come_with_the_most_exact_first(bundle):
    names = ["paper.tar.gz", "paper.tex", "paper.tei.xml", "paper.xml", "paper.md", "paper.pdf"]
    for name in reversed(names):
        (bundle / name).write_text("x")
    (bundle / "paper").mkdir()
    assert open_bundle(bundle).sources == ("paper", *names)


@pytest.mark.parametrize("path", ["cod", "../small/paper.md", "/etc", "..", "paper.md", "a\\0b"])
def test_code_that_is_no_folder_of_the_bundle_is_refused(bundle, path):
    (bundle / "task.yaml").write_text(f'code: {{path: "{path}"}}\n')
    with pytest.raises(UserError, match=r"is no folder (of|inside) the bundle"):
        open_bundle(bundle)


@pytest.mark.parametrize("path", ["code", "./code", "code/", "./code/."])
def test_a_code_folder_has_one_spelling(bundle, path):
    (bundle / "task.yaml").write_text(f'code: {{path: "{path}"}}\n')
    assert code_prefix(open_bundle(bundle).task) == "code/"


def test_every_file_that_a_source_may_input_counts_as_the_paper(bundle):
    (bundle / "results.tex").write_text("10.0")
    (bundle / "tables").mkdir()
    (bundle / "tables" / "more.tex").write_text("11.0")
    files = paper_files(open_bundle(bundle))
    assert {"results.tex", "tables/more.tex", "paper.md"} <= set(files)
    assert not any(name.startswith(("code/", "references/", "data/")) for name in files)
    assert "task.yaml" not in files


def test_code_that_is_a_link_out_of_the_bundle_is_refused(bundle, tmp_path):
    shutil.rmtree(bundle / "code")
    (tmp_path / "elsewhere").mkdir()
    (bundle / "code").symlink_to(tmp_path / "elsewhere")
    assert "code: is a link that leaves the bundle" in refused(bundle)
    (bundle / "task.yaml").write_text("code: {path: code}\n")
    assert "is no folder of the bundle" in refused(bundle)


def test_a_fault_in_task_yaml_keeps_its_line(bundle):
    (bundle / "task.yaml").write_text("schema: 1\nclaim: []\n")
    with pytest.raises(FileFormatError, match=r"task\.yaml:2: unknown key 'claim'"):
        open_bundle(bundle)


def test_without_task_and_code_there_are_none(bundle):
    (bundle / "task.yaml").unlink()
    shutil.rmtree(bundle / "code")
    found = open_bundle(bundle)
    assert (found.task.claims, found.has_code) == ((), False)


# --- content ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["paper.md", "task.yaml", "code/deep/er.py", "references/a.md", "data/d.csv"]
)
def test_any_byte_counts(bundle, name):
    before = open_bundle(bundle).content
    path = bundle / name
    path.write_bytes(path.read_bytes() + b"#")
    assert open_bundle(bundle).content != before
    path.write_bytes(path.read_bytes()[:-1])
    assert open_bundle(bundle).content == before


def test_names_and_new_files_count_and_times_and_modes_do_not(bundle):
    before = open_bundle(bundle).content
    for path in bundle.rglob("*"):
        os.utime(path, (1, 1))
    (bundle / "code" / "run.py").chmod(0o755)
    (bundle / "empty").mkdir()
    assert open_bundle(bundle).content == before
    (bundle / "code" / "run.py").rename(bundle / "code" / "walk.py")
    renamed = open_bundle(bundle).content
    assert renamed != before
    (bundle / "code" / "new").write_text("")
    assert open_bundle(bundle).content not in {before, renamed}


def test_what_tools_leave_is_no_content(bundle):
    before = open_bundle(bundle)
    for name in (".git/config", "code/__pycache__/x.pyc", "code/.venv/bin/x", "code/.DS_Store"):
        path = bundle / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (bundle / "references" / ".git").write_text("gitdir: elsewhere")
    (bundle / "code" / ".venv" / "bin" / "python").symlink_to("/usr/bin/env")
    assert open_bundle(bundle) == before


def test_the_content_is_the_digest_of_the_listing(bundle):
    found = open_bundle(bundle)
    assert list(found.files) == sorted(found.files)
    assert found.content == digest(found.files)
    assert set(found.files) == {
        path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()
    }


# --- links and odd files ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target", ["/etc/hostname", "../../../outside", "../../other/paper.md", "/etc"]
)
def test_a_link_that_leaves_the_bundle_is_refused(bundle, tmp_path, target):
    (tmp_path / "outside").write_text("x")
    other = bundle.with_name("other")
    other.mkdir()
    (other / "paper.md").write_text("x")
    (bundle / "data" / "link").symlink_to(target)
    assert refused(bundle) == (
        "PAPERS/small/data/link: is a link that leaves the bundle. Put a copy in its place."
    )


def test_a_link_through_a_link_that_leaves_is_refused(bundle, tmp_path):
    (tmp_path / "outside").mkdir()
    (bundle / "a").symlink_to(tmp_path / "outside")
    (bundle / "b").symlink_to("a/file")
    assert "is a link that leaves the bundle" in refused(bundle)


def test_links_within_the_bundle_count_by_what_they_lead_to(bundle):
    (bundle / "code" / "d.csv").symlink_to("../data/d.csv")
    (bundle / "code" / "all").symlink_to("../data")
    first = open_bundle(bundle)
    assert first.files["code/d.csv"] == first.files["data/d.csv"]
    (bundle / "code" / "all").unlink()
    (bundle / "code" / "all").symlink_to("../references")
    assert open_bundle(bundle).content != first.content
    (bundle / "data" / "d.csv").write_text("3,4\n")
    second = open_bundle(bundle)
    assert second.files["code/d.csv"] == second.files["data/d.csv"] != first.files["data/d.csv"]


@pytest.mark.parametrize("target", ["nowhere", "loop"])
def test_a_link_to_nothing_or_to_itself_is_refused(bundle, target):
    (bundle / "loop").symlink_to(target)
    assert refused(bundle) == "PAPERS/small/loop: is no regular file. Remove it."


def test_a_link_to_a_folder_around_it_ends(bundle):
    (bundle / "code" / "round").symlink_to("../code")
    assert "code/round" in open_bundle(bundle).files


def test_what_is_no_file_is_refused_and_never_opened(bundle):
    os.mkfifo(bundle / "data" / "pipe")
    assert refused(bundle) == "PAPERS/small/data/pipe: is no regular file. Remove it."


def test_a_name_that_is_not_utf8_is_refused(bundle):
    Path(os.fsdecode(os.fsencode(bundle) + b"/data/caf\xe9")).write_text("x")
    assert "has a name that is not UTF-8. Rename it." in refused(bundle)


@pytest.mark.parametrize("name", ["a b", "ü", "a\nb", "'\"", "#;&|", "-rf", "日本"])
def test_odd_names_are_names(bundle, name):
    (bundle / "data" / name).write_text("x")
    assert f"data/{name}" in open_bundle(bundle).files


def test_a_file_that_cannot_be_read_is_told(bundle, monkeypatch):
    def refuse(self, *args, **kwargs):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    (bundle / "task.yaml").unlink()
    assert refused(
        bundle
    ) == "PAPERS/small/code/deep/er.py: cannot be read: Permission denied." or (
        "cannot be read: Permission denied." in refused(bundle)
    )


def test_a_bundle_may_itself_be_a_link(bundle):
    linked = bundle.with_name("linked")
    linked.symlink_to("small")
    assert open_bundle(linked).content == open_bundle(bundle).content


def test_what_lies_inside_is_told_from_what_only_looks_so(bundle, tmp_path):
    assert lies_inside(bundle / "code", bundle)
    assert lies_inside(bundle, bundle)
    assert lies_inside(bundle / "not" / "there", bundle)
    assert not lies_inside(bundle / ".." / "small-too", bundle)
    assert not lies_inside(bundle.with_name("small2"), bundle)
    (bundle / "out").symlink_to(tmp_path)
    assert not lies_inside(bundle / "out" / "x", bundle)


# --- ids ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["random-forests-2001", "2001.00001", "a", "a_b.c-d", "a" * 100])
def test_a_good_id_is_kept(name):
    assert paper_id_of(name) == name


@pytest.mark.parametrize(
    "name", ["", "..", ".git", "Random Forests", "a/b", "ü", "-x", "a\n", "a" * 101, "A"]
)
def test_a_bad_id_is_refused_with_one_that_would_do(name):
    with pytest.raises(BundleError, match="cannot be a paper id") as error:
        paper_id_of(name)
    paper_id_of(re.search(r"for example to '([^']*)'", error.value.hint)[1])


@given(st.text(max_size=120))
def test_the_id_that_is_proposed_is_always_a_good_one(name):
    try:
        paper_id_of(name)
    except BundleError as error:
        paper_id_of(re.search(r"for example to '([^']*)'", error.hint)[1])


def test_a_folder_with_an_odd_name_can_be_given_an_id(bundle):
    odd = bundle.rename(bundle.with_name("Odd Name"))
    assert "cannot be a paper id" in refused(odd)
    assert open_bundle(odd, paper="odd").paper == "odd"
    with pytest.raises(BundleError, match="cannot be a paper id"):
        open_bundle(odd, paper="")


# --- keeping ------------------------------------------------------------------------------------


class Kept:
    def __init__(self):
        self.paths = []

    def put_file(self, path):
        self.paths.append(path)


def test_sources_task_and_references_are_kept_and_neither_code_nor_data(bundle):
    (bundle / "paper").mkdir()
    (bundle / "paper" / "main.tex").write_text("x")
    (bundle / "references" / "same").symlink_to("deep")
    store = Kept()
    keep_bundle(open_bundle(bundle), bundle, store)
    assert {path.relative_to(bundle).as_posix() for path in store.paths} == {
        "paper.md",
        "paper/main.tex",
        "task.yaml",
        "references/a.md",
        "references/deep/b.txt",
    }
