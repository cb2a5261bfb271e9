"""What is installed and locked: hashes everywhere, no index named, no package that collides."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.conftest import ROOT

LOCKS = ("requirements.lock", "requirements-dev.lock")


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_is_pinned_and_hashed(name):
    entries = re.split(r"\n(?=\S)", (ROOT / name).read_text().strip())
    assert len(entries) > 80
    for entry in entries:
        assert re.match(r"[a-z0-9._-]+(\[[a-z,]+\])?==\S+", entry), entry[:80]
        assert "--hash=sha256:" in entry, entry[:80]


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_index(name):
    assert not re.search(r"https?://|--(extra-)?index-url|--find-links", (ROOT / name).read_text())


def test_the_development_lock_holds_the_same_versions():
    versions = [
        dict(re.findall(r"^(\S+)==(\S+)", (ROOT / name).read_text(), re.M)) for name in LOCKS
    ]
    assert versions[0].items() <= versions[1].items()


@pytest.mark.parametrize("package", ["assets", "resources", "repro_pipeline"])
def test_no_other_distribution_brings_our_package_names(package):
    assert set(packages_distributions().get(package, ["repro-pipeline"])) == {"repro-pipeline"}


def test_help_loads_nothing_heavy():
    heavy = {"dagster", "pandas", "pyarrow", "scipy", "sqlalchemy", "pydantic", "rich", "litellm"}
    code = "import sys\nfrom repro_pipeline.cli import _parser\n_parser().format_help()\nprint(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert heavy & set(loaded) == set()


COMPOSED = {"definitions", "code_location", "code_location_k8s"}


def test_every_module_of_the_domain_can_be_imported_without_the_orchestrator():
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in sorted(Path(ROOT, "repro_pipeline").rglob("*.py"))
        if path.name != "__init__.py" and path.stem not in COMPOSED
    ]
    code = f"import importlib, sys\nfor name in {modules}: importlib.import_module(name)\n"
    code += "bad = {'dagster', 'litellm', 'sqlalchemy', 'fsspec', 'docker'} & set(sys.modules)\n"
    code += "sys.exit(f'loaded: {bad}' if bad else 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
