"""Which files of the code are public: not those that are private or sealed inputs, by bytes or place."""

from __future__ import annotations

from repro_pipeline.bundle.folder import Bundle
from repro_pipeline.bundle.task import Task
from repro_pipeline.environment.model import DataManifest, ManifestEntry
from repro_pipeline.frozen import digest
from repro_pipeline.report.export.material import _public, input_name
from repro_pipeline.tree import Tree, TreeFile, TreeLink


def entry(name: str, file: str, **more: object) -> ManifestEntry:
    return ManifestEntry(name=name, file=file, sha256=digest(file), size=1, **more)


def tree(*files: str, links: dict[str, str] | None = None) -> Tree:
    return Tree(
        files=tuple(TreeFile(path=p, sha256=digest(p), executable=False) for p in files),
        links=tuple(TreeLink(path=p, target=t) for p, t in (links or {}).items()),
    )


def bundle(code: str = "code", **files: str) -> Bundle:
    task = Task.model_validate({"code": {"path": code}})
    return Bundle(paper="p", sources=("paper.md",), task=task, files=files, has_code=True)


def test_private_and_sealed_inputs_are_left_out_of_code_that_holds_the_data():
    data = DataManifest(
        entries=(
            entry("open", "data/open.csv"),
            entry("people", "data/people.csv", private=True, role_files={"test": "data/test.idx"}),
            entry("open", "data/labels.csv", sealed=True),
        )
    )
    inside = ("main.py", "data/open.csv", "data/people.csv", "data/test.idx", "data/labels.csv")
    kept, lost = _public(tree(*inside), bundle("."), data)
    assert [file.path for file in kept.files] == ["main.py", "data/open.csv"]
    assert lost == ("data/labels.csv", "data/people.csv", "data/test.idx")


def test_a_copy_under_another_name_and_links_to_it_are_left_out():
    data = DataManifest(entries=(entry("people", "data/people.csv", private=True),))
    copied = Tree(
        files=(
            TreeFile(path="a/copy.bin", sha256=digest("data/people.csv"), executable=False),
            TreeFile(path="a/main.py", sha256=digest("main"), executable=False),
        ),
        links=(
            TreeLink(path="b/link", target="../a/copy.bin"),
            TreeLink(path="b/main", target="../a/./main.py"),
        ),
    )
    kept, lost = _public(copied, bundle(), data)
    assert lost == ("a/copy.bin", "b/link")
    assert [link.path for link in kept.links] == ["b/main"]


def test_the_name_of_a_private_file_is_not_told():
    assert input_name(entry("people", "data/smith.csv", private=True)) == "people"
    assert input_name(entry("open", "data/digits.csv.gz")) == "open.gz"
