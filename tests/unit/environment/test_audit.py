"""Packages against data on this machine: flaws, withdrawn versions, look-alikes, missing licences."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from repro_pipeline.environment.audit import (
    Advisory,
    _known_names,
    _specifiers,
    audit,
    licences_of,
    looks_like,
    osv_advisories,
    our_advisories,
)
from repro_pipeline.environment.fingerprint import named_packages
from repro_pipeline.environment.uv_command import yanked_in
from repro_pipeline.errors import BuildError


def kinds(packages: dict[str, str], **more) -> list[tuple[str, str]]:
    given = {"licences": {}, "yanked": {}, "advisories": our_advisories(), **more}
    return [(one.kind, one.package) for one in audit(packages, **given)]


def test_our_advisories_are_well_formed():
    for one in our_advisories():
        assert one.package == canonicalize_name(one.package) and one.summary
        assert one.affected and all(str(SpecifierSet(text)) for text in one.affected)
        for part in (part for text in one.affected for part in SpecifierSet(text)):
            assert part.operator in {"<", "<=", "==", ">="} and Version(part.version)


def test_a_version_with_a_known_flaw_is_named_and_a_later_one_is_not():
    assert kinds({"pyarrow": "14.0.0"}) == [("vulnerable", "pyarrow")]
    assert kinds({"pyarrow": "14.0.1"}) == []
    assert kinds({"tensorflow": "2.4.2"}) == [("vulnerable", "tensorflow")]
    assert kinds({"tensorflow": "2.4.3"}) == []
    assert kinds({"torch": "2.5.1+cpu"}) == [("vulnerable", "torch")] * 2
    assert kinds({"ultralytics": "8.3.42"}) == [("vulnerable", "ultralytics")]
    assert kinds({"ultralytics": "8.3.43"}) == []
    assert kinds({"joblib": "1.1.0"}) == [("vulnerable", "joblib")]
    assert kinds({"joblib": "1.1.1"}) == [], "the fix was brought to it as well"
    assert kinds({"tensorflow-gpu": "1.15.0"}) == [("vulnerable", "tensorflow-gpu")]


def test_a_version_just_before_the_one_that_is_mended_has_the_flaw():
    for version in ("14.0.1rc1", "14.0.1.dev3", "14.0.0.post1", "14.0.0+local"):
        assert kinds({"pyarrow": version}) == [("vulnerable", "pyarrow")], version
    assert kinds({"pyarrow": "14.0.1+local"}) == []
    assert kinds({"ultralytics": "8.3.41+x"}) == [("vulnerable", "ultralytics")]


def affected(*events: dict[str, str], versions: tuple[str, ...] = ()) -> Callable[[str], bool]:
    return Advisory(
        id="x", package="a", affected=tuple(_specifiers(list(events))), versions=versions
    ).affects


def test_events_of_osv_are_ordered_by_their_versions():
    either = affected(
        {"fixed": "2.1"}, {"introduced": "2.0"}, {"fixed": "1.5"}, {"introduced": "0"}
    )
    assert [v for v in ("1.4", "1.5", "2.0", "2.1") if either(v)] == ["1.4", "2.0"]
    twice = affected({"introduced": "0"}, {"introduced": "2.0"}, {"fixed": "2.1"})
    assert twice("1.0") and not twice("2.1")
    one = affected({"last_affected": "1.2"}, {"introduced": "1.2"})
    assert [v for v in ("1.1", "1.2", "1.3") if one(v)] == ["1.2"]
    endless = affected({"introduced": "1.0"}, {"limit": "*"})
    assert endless("3!1.0") and not endless("0.9")


def test_a_bound_that_is_no_version_hides_no_other_range():
    odd = affected({"introduced": "0"}, {"fixed": "2004d-x"}, versions=("1.0.0-RC1", "0.9.0"))
    assert odd("1.0rc1") and odd("0.9") and not odd("1.0")
    assert Advisory(id="x", package="a", affected=("<2004d-x", "<3")).affects("2.0")


def osv(folder: Path, **change) -> Path:
    folder.mkdir(exist_ok=True)
    events = [
        {"introduced": "0"},
        {"fixed": "1.2"},
        {"introduced": "2.0"},
        {"last_affected": "2.3"},
    ]
    record = {
        "id": "GHSA-test",
        "summary": "bad\nthings",
        "affected": [
            {
                "package": {"ecosystem": "PyPI", "name": "Some.Package"},
                "ranges": [
                    {"type": "ECOSYSTEM", "events": events},
                    {"type": "GIT", "events": [{"introduced": "0"}]},
                ],
                "versions": ["9.9"],
            },
            {"package": {"ecosystem": "npm", "name": "some-package"}, "versions": ["3.0"]},
        ],
        **change,
    }
    (folder / "GHSA-test.json").write_text(json.dumps(record))
    return folder


def test_osv_records_are_read(tmp_path: Path):
    (one,) = osv_advisories(osv(tmp_path / "osv"), ["some_package", "other"])
    assert one == Advisory(
        id="GHSA-test",
        package="some-package",
        affected=("<1.2", ">=2.0,<=2.3"),
        versions=("9.9",),
        summary="bad things",
    )
    held = {v: one.affects(v) for v in ("1.1.9", "1.2", "2.0", "2.3", "2.4", "9.9", "3.0")}
    assert [version for version, has in held.items() if has] == ["1.1.9", "2.0", "2.3", "9.9"]
    assert not list(osv_advisories(tmp_path / "osv", ["other"]))


def test_a_record_without_words_and_a_folder_of_that_name_are_no_fault(tmp_path: Path):
    (osv(tmp_path, summary=None, details=None) / "folder.json").mkdir()
    assert [one.summary for one in osv_advisories(tmp_path, ["some-package"])] == [""]


def test_an_open_range_has_no_end(tmp_path: Path):
    affected = [
        {
            "package": {"ecosystem": "PyPI", "name": "a"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}]}],
        }
    ]
    (one,) = osv_advisories(osv(tmp_path, affected=affected), ["a"])
    assert one.affects("0.1") and one.affects("99")


def test_withdrawn_records_do_not_count_and_broken_ones_are_named(tmp_path: Path):
    assert not list(
        osv_advisories(osv(tmp_path, withdrawn="2020-01-01T00:00:00Z"), ["some-package"])
    )
    with pytest.raises(BuildError, match="holds no advisories"):
        list(osv_advisories(tmp_path / "nowhere", ["a"]))
    deep = '{"PyPI": ' + "[" * 100_000 + "]" * 100_000 + "}"
    for text in ('{"PyPI"', '["PyPI"]', '{"affected": ["PyPI"]}', deep):
        (tmp_path / "x.json").write_text(text)
        with pytest.raises(BuildError, match=r"x\.json: is no OSV record"):
            list(osv_advisories(tmp_path, ["a"]))


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("numpi", "numpy"),
        ("nunpy", "numpy"),
        ("nupmy", "numpy"),
        ("numpyy", "numpy"),
        ("umpy", "numpy"),
        ("panda", "pandas"),
        ("requestss", "requests"),
        ("pytorch", "torch"),
        ("skimage", "scikit-image"),
        ("scikit-learns", "scikit-learn"),
    ],
)
def test_names_that_look_like_others_are_named(name: str, other: str):
    assert looks_like(name) == other


def test_well_known_names_and_projects_of_their_own_are_not():
    known = _known_names()
    for name in (
        *known["popular"],
        *known["own"],
        "numpy-financial",
        "torch-geometric-temporal",
        "jax",
        "albumentationsx",
    ):
        assert looks_like(name) is None, name
        assert name == canonicalize_name(name)


def test_every_project_of_its_own_would_be_taken_for_another():
    """The list holds nothing that it need not hold."""
    from repro_pipeline.environment.audit import _one_slip

    known = _known_names()
    for name in known["own"]:
        assert any(_one_slip(name, one) for one in known["popular"]), name


def test_withdrawn_versions_are_read_of_what_uv_says():
    said = (
        'Resolved 2 packages\nwarning: `Attrs==21.1.0` is yanked (reason: "Not on Python 3.4.")\n'
        "warning: `other==1` is yanked\n"
    )
    assert yanked_in(said) == {"attrs": "Not on Python 3.4.", "other": ""}
    found = audit({"attrs": "21.1.0"}, licences={}, yanked=yanked_in(said), advisories=())
    assert [one.sentence for one in found] == [
        "attrs 21.1.0 was withdrawn by its authors ('Not on Python 3.4.')."
    ]


@pytest.mark.parametrize(
    ("lines", "files", "licence"),
    [
        ("License-Expression: MIT", (), "MIT"),
        ("License: Apache 2.0", (), "Apache 2.0"),
        ("License: UNKNOWN\nClassifier: License :: OSI Approved :: MIT License", (), "MIT License"),
        ("License: UNKNOWN", ("LICENSE.txt",), "in a file"),
        ("License: UNKNOWN", ("licenses/COPYING",), "in a file"),
        ("License: UNKNOWN", (), None),
        ("Classifier: Programming Language :: Python", ("licence_of_nothing/x.py",), None),
    ],
)
def test_licences_are_read_of_metadata(tmp_path: Path, lines: str, files: tuple[str, ...], licence):
    info = tmp_path / "some-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: some\nVersion: 1.0\n{lines}\n\n")
    (info / "RECORD").write_text("".join(f"some-1.0.dist-info/{name},,\n" for name in files))
    for name in files:
        (info / name).parent.mkdir(exist_ok=True)
        (info / name).touch()
    assert licences_of(named_packages([tmp_path])) == {"some": licence}
    expected = [("unlicensed", "some")] if licence is None else []
    assert kinds({"some": "1.0"}, licences=licences_of(named_packages([tmp_path]))) == expected
