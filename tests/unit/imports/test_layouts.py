"""Folders in the layouts of others: known by shape, and taken without a loss."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from foreign import (
    CONTENT,
    JUDGE_WORDS,
    METADATA,
    PAPER,
    RUBRIC_WORDS,
    paperbench,
    rescience,
    write,
)
from hypothesis import given
from hypothesis import strategies as st

from repro_pipeline.bundle.folder import open_bundle
from repro_pipeline.errors import UserError
from repro_pipeline.imports.foreign_yaml import read_foreign
from repro_pipeline.imports.layouts import id_of, import_folder, layout_of
from repro_pipeline.imports.paperbench import blacklist
from repro_pipeline.imports.record import write_record
from repro_pipeline.paper.read import read_paper
from repro_pipeline.reading.sources import came_together


def imported(source: Path, place: Path):
    """The record, the bundle's folder and the folder of grading material."""
    bundle, grading = place / "bundle", place / "hidden"
    record = import_folder(source, layout_of(source), bundle, grading, asked=str(source))
    write_record(record, bundle)
    return record, bundle, grading


def all_text(folder: Path) -> str:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files)


def test_a_paperbench_folder_is_known_and_becomes_a_bundle(tmp_path):
    source = paperbench(tmp_path / "x")
    assert (layout_of(source), id_of(source, "paperbench")) == ("paperbench", "tiny-study")
    record, folder, grading = imported(source, tmp_path)
    bundle = open_bundle(folder, paper="tiny")
    assert bundle.sources == ("paper.md",) and bundle.references == ("references/addendum.md",)
    assert bundle.task.exclude == ("https://github.com/ada/tiny",)
    assert bundle.task.title == record.title == "A tiny study of two estimators"
    assert (folder / "assets/asset_1.jpg").exists()
    assert record.left_out == ("paper.tex.bak",)
    assert {path.name for path in grading.iterdir()} == {"rubric.json", "judge.addendum.md"}
    for one in record.files:
        assert bundle.files[one.file] == one.sha256


def test_nothing_of_the_grading_is_in_the_bundle(tmp_path):
    _, folder, grading = imported(paperbench(tmp_path / "x"), tmp_path)
    assert RUBRIC_WORDS in all_text(grading) and JUDGE_WORDS in all_text(grading)
    assert RUBRIC_WORDS not in all_text(folder) and JUDGE_WORDS not in all_text(folder)


def test_paper_and_pdf_of_one_folder_are_one_paper(tmp_path):
    source = paperbench(tmp_path / "x", paper__pdf="%PDF-1.4")
    _, folder, _ = imported(source, tmp_path)
    assert came_together(open_bundle(folder, paper="x"), folder)
    (folder / "paper.md").write_text("# Another\n")
    assert not came_together(open_bundle(folder, paper="x"), folder)


def test_a_paperbench_folder_without_its_paper_is_told(tmp_path):
    source = paperbench(tmp_path / "x")
    (source / "paper.md").write_text("version https://git-lfs.github.com/spec/v1\nsize 3\n")
    with pytest.raises(UserError, match="pointer"):
        imported(source, tmp_path / "a")
    (source / "paper.md").unlink()
    with pytest.raises(UserError, match="without its paper"):
        imported(source, tmp_path / "b")


def test_its_users_task_stays_if_it_keeps_the_blacklist(tmp_path):
    task = "schema: 1\ntitle: Mine\nexclude: [github.com/ada]\n"
    record, folder, _ = imported(paperbench(tmp_path / "x", task__yaml=task), tmp_path / "a")
    assert (folder / "task.yaml").read_text() == task and "task.yaml" not in record.left_out
    loose = paperbench(tmp_path / "y", task__yaml="schema: 1\n")
    with pytest.raises(UserError, match="does not exclude"):
        imported(loose, tmp_path / "b")


def test_a_link_in_a_foreign_folder_is_refused(tmp_path):
    source = paperbench(tmp_path / "x")
    (source / "assets/a").symlink_to("/etc/passwd")
    with pytest.raises(UserError, match="no regular file"):
        imported(source, tmp_path)


@pytest.mark.parametrize("name", ["inner", "config.yaml", "blacklist.txt", "code", "task.yaml"])
def test_what_a_link_names_is_never_read(tmp_path, name):
    """Not even to know the folder by, and not where it names nothing: an exclusion would be lost."""
    outside = rescience(tmp_path / "outside")
    source = paperbench(tmp_path / "x")
    for target in (outside, outside / "absent"):
        (source / name).unlink(missing_ok=True)
        (source / name).symlink_to(target)
        with pytest.raises(UserError):
            imported(source, tmp_path / "a")
    article = tmp_path / "y"
    article.mkdir()
    (article / "inner").symlink_to(outside)
    with pytest.raises(UserError, match="link"):
        imported(article, tmp_path / "b")
    assert not list(tmp_path.glob("[ab]/**/*.tex"))


@pytest.mark.parametrize("judges", ["rubric.json", "judge.addendum.md"])
@pytest.mark.parametrize(
    "config", ["id: [x\n", "id: x\n", "id: &a x\ntitle: *a\n", "id:\ntitle: x\n"]
)
def test_what_a_judge_reads_never_becomes_part_of_a_bundle(tmp_path, judges, config):
    """A configuration that cannot be read made a bundle of the folder, rubric and all."""
    files = {"paper.md": PAPER, judges: JUDGE_WORDS, "config.yaml": config}
    source = write(tmp_path / "x", files)
    assert layout_of(source) == "paperbench"
    with pytest.raises(UserError, match=r"says no `(id|title)`.*agents may not see"):
        _ = id_of(source, "paperbench"), imported(source, tmp_path)


@pytest.mark.parametrize("name", ["blacklist.txt", "rubric.json", "addendum.md"])
def test_a_pointer_stands_for_no_file(tmp_path, name):
    source = paperbench(tmp_path / "x")
    (source / name).write_text("version https://git-lfs.github.com/spec/v1\nsize 3\n")
    with pytest.raises(UserError, match="pointer"):
        imported(source, tmp_path)


def test_a_name_that_no_record_can_hold_is_told(tmp_path):
    source = paperbench(tmp_path / "x")
    Path(os.fsdecode(os.fsencode(source) + b"/\xff.txt")).touch()
    with pytest.raises(UserError, match="not UTF-8"):
        imported(source, tmp_path)


def test_hidden_files_are_taken_with_the_code_and_told_elsewhere(tmp_path):
    more = {"code/.hydra/a.yaml": "x", ".secret": "y", "code/.git/HEAD": "z", "code/b ä.py": ""}
    record, folder, _ = imported(write(paperbench(tmp_path / "x"), more), tmp_path)
    assert (folder / "code/.hydra/a.yaml").exists() and (folder / "code/b ä.py").exists()
    assert ".secret" in record.left_out and not (folder / "code/.git").exists()


def test_a_blacklist_in_other_hands(tmp_path):
    path = tmp_path / "blacklist.txt"
    path.write_bytes(
        "\ufeffhttps://a.b/c\r\n- https://a.b/d (the authors')\r\n# https://a.b/e\r\nNone.".encode()
    )
    assert blacklist(path) == ["https://a.b/c", "https://a.b/d"]
    for encoding in ("utf-16", "latin-1"):
        path.write_bytes("https://a.b/é".encode(encoding))
        with pytest.raises(UserError, match="UTF-8"):
            blacklist(path)


@pytest.mark.parametrize(
    "files",
    [
        {"paper.md": PAPER},
        {"paper.md": PAPER, "config.yaml": "id: x\ntitle: y\n"},
        {"paper.md": PAPER, "config.yaml": "- a", "blacklist.txt": "none"},
        {"paper.md": PAPER, "metadata.yaml": "title: x\nauthors: []\njournal: []\n"},
        {"metadata.yaml": "title: x\n"},
        {"metadata.yaml": ": : :", "config.yaml": "- a"},
    ],
)
def test_other_folders_are_bundles(tmp_path, files):
    assert layout_of(write(tmp_path / "x", files)) == "bundle"
    assert layout_of(tmp_path / "absent") == "bundle"


@given(st.lists(st.sampled_from(["https://a.b/c", " none ", "", "# x", "a.b/d\r", "None"])))
def test_a_blacklist_is_its_addresses(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("b") / "blacklist.txt"
    path.write_text("\n".join(lines))
    found = blacklist(path)
    assert set(found) == {x.strip() for x in lines} & {"https://a.b/c", "a.b/d"}
    assert len(set(found)) == len(found)


def test_foreign_yaml_is_text_and_never_unfolds(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("id: 007\ntitle: no\n")
    assert read_foreign(path) == {"id": "007", "title": "no"}
    for bad in ("a: &a [1]\nb: *a\n", "!!python/object/apply:os.system [id]", "[" * 5000, "\x00"):
        path.write_text(bad)
        assert read_foreign(path) is None


def test_a_rescience_article_reads_with_its_title_page(tmp_path):
    source = rescience(tmp_path / "x")
    assert layout_of(source) == "rescience"
    record, folder, _ = imported(source, tmp_path)
    paper = read_paper(folder / "paper")
    assert paper.title == "[Re] A tiny study: again"
    assert paper.authors == ("Ada Author", "Ben Builder")
    assert paper.abstract == "We repeat a tiny study."
    assert paper.tables[0].grid[1][2].text == "10.2" and len(paper.references) == 1
    assert record.code_named == ("https://example.org/ada/again",)
    assert record.original.citation == "A. Author. A tiny study. 1999"
    assert (record.original.url, record.original.doi) == ("https://example.org/tiny.pdf", None)
    assert record.left_out == ("Makefile", "metadata.yaml")
    assert any("no appendix" in note for note in record.notes)
    assert open_bundle(folder, paper="x").sources == ("paper",)


def test_an_articles_own_main_file_keeps_what_it_adds(tmp_path):
    source = rescience(tmp_path / "x")
    main = (
        "\\documentclass{rescience}\n\\begin{document}\n\\input{content.tex}\n"
        "\\section{Appendix}\nMore.\n\\bibliography{bibliography}\n\\end{document}\n"
    )
    write(source, {"article.tex": main})
    record, folder, _ = imported(source, tmp_path)
    paper = read_paper(folder / "paper")
    assert [one.title for one in paper.sections] == ["Introduction", "Appendix"]
    assert paper.title.startswith("[Re]") and len(record.notes) == 1


def test_a_percent_sign_hides_nothing_of_the_title_page(tmp_path):
    """Metadata become one line each, of which a comment would take the rest."""
    metadata = METADATA.replace("study: again", "study: 50% and 5\\\\% again").replace(
        "We repeat", "With 90% of it we repeat"
    )
    source = write(rescience(tmp_path / "x"), {"metadata.yaml": metadata})
    paper = read_paper(imported(source, tmp_path)[1] / "paper")
    assert paper.title == "[Re] A tiny study: 50% and 5% again"
    assert paper.abstract == "With 90% of it we repeat a tiny study." and paper.authors


def test_a_document_begins_in_no_comment(tmp_path):
    main = (
        "\\documentclass{rescience}\n% then \\begin{document} follows\n\\newcommand{\\x}{5\\%}"
        "\\begin{document}\n\\section{One}\nIt is \\x.\n\\end{document}\n"
    )
    source = write(rescience(tmp_path / "x"), {"article.tex": main})
    paper = read_paper(imported(source, tmp_path)[1] / "paper")
    assert paper.title.startswith("[Re]") and [one.title for one in paper.sections] == ["One"]


def test_of_several_articles_none_is_chosen(tmp_path):
    for name in ("a", "b"):
        rescience(tmp_path / "x" / name)
    with pytest.raises(UserError, match="several articles: a, b"):
        layout_of(tmp_path / "x")
    assert layout_of(tmp_path / "x/a") == "rescience"


def test_what_an_article_has_stays(tmp_path):
    """A main file that is made takes no file's name; a pointer is no paper."""
    source = write(rescience(tmp_path / "x"), {"title-page.tex": "theirs"})
    record, folder, _ = imported(source, tmp_path)
    assert (folder / "paper/title-page.tex").read_text() == "theirs"
    assert len({one.file for one in record.files}) == len(record.files)
    assert read_paper(folder / "paper").title.startswith("[Re]")
    write(source, {"article.pdf": "version https://git-lfs.github.com/spec/v1\n"})
    with pytest.raises(UserError, match="pointer"):
        imported(source, tmp_path / "b")


def test_an_article_in_two_folders(tmp_path):
    source = tmp_path / "x"
    rescience(source / "journal")
    (source / "journal/content.tex").write_text("\\input{../openreview/content.tex}")
    write(source / "openreview", {"content.tex": CONTENT})
    _, folder, _ = imported(source, tmp_path)
    paper = read_paper(folder / "paper")
    assert paper.sections[0].title == "Introduction" and len(paper.tables) == 1


def test_an_article_without_a_text_is_told(tmp_path):
    source = rescience(tmp_path / "x")
    (source / "content.tex").unlink()
    with pytest.raises(UserError, match="holds neither"):
        imported(source, tmp_path)
