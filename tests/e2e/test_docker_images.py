"""Environments as images of a real engine, from an index on loopback, and a paper's runs in them."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import shutil
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from repro_pipeline.cli import main
from repro_pipeline.config import Docker
from repro_pipeline.environment import interpreter
from repro_pipeline.environment.model import BuiltEnvironment
from repro_pipeline.errors import BuildError
from repro_pipeline.ledger.events import PROJECT_CHAIN
from repro_pipeline.ledger.projections import attempts
from repro_pipeline.stages import latest, output_of
from resources.docker_engine import connect
from resources.docker_images import DockerImages
from resources.docker_runner import DockerRunner
from resources.opening import open_project
from resources.runners import make_images, make_runner
from tests.bench_suites import make_suite, truth
from tests.bundles import make_bundle, task
from tests.docker_engine import Engine

NAME, VERSION = "tinydist", "1.2"


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        return


def wheel() -> bytes:
    """A wheel with one module, made by hand."""
    info = f"{NAME}-{VERSION}.dist-info"
    files = {
        f"{NAME}.py": "VALUE = 12\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n\nText\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(t.encode()).digest()).decode().rstrip('=')},"
        f"{len(t)}\n"
        for name, t in files.items()
    )
    files[f"{info}/RECORD"] = record + f"{info}/RECORD,,\n"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


@pytest.fixture(scope="module")
def lock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A lock of the package that an index on loopback holds."""
    folder = tmp_path_factory.mktemp("index")
    place = folder / "simple" / NAME
    place.mkdir(parents=True)
    content = wheel()
    (place / f"{NAME}-{VERSION}-py3-none-any.whl").write_bytes(content)
    (folder / "simple" / "sdistonly").mkdir()
    (folder / "simple" / "sdistonly" / "sdistonly-1.0.tar.gz").write_bytes(b"no archive")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_address[1]}/simple")
        for name in ("PIP_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX"):
            patch.delenv(name, raising=False)
        yield f"{NAME}=={VERSION} \\\n    --hash=sha256:{hashlib.sha256(content).hexdigest()}\n"
    server.shutdown()


@pytest.fixture(scope="module")
def images(docker_engine: Engine) -> DockerImages:
    docker = Docker(host=docker_engine.host, base=docker_engine.image)
    return make_images(make_runner("docker", docker), docker)


@pytest.fixture(scope="module")
def python(docker_engine: Engine) -> str:
    """The version of the base image's Python."""
    client = connect(docker_engine.host)
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    said = client.containers.run(docker_engine.image, ["python3", "-c", code], remove=True)
    client.close()
    return said.decode().strip()


def test_an_image_holds_the_lock_and_nothing_else(images, lock, python):
    image = images.build(lock, python=python)
    assert image.id.startswith("sha256:") and image.base_id.startswith("sha256:")
    code = f"import {NAME}, sys, os; print({NAME}.VALUE, sys.prefix, os.listdir('/out'))"
    assert images.ask(image, ["/env/bin/python", "-c", code]).strip() == "12 /env []"
    packages = (
        "import importlib.metadata as m; print([d.metadata['Name'] for d in m.distributions()])"
    )
    said = images.ask(image, ["/env/bin/python", "-c", packages])
    assert said.strip() == f"['{NAME}']"


def test_an_image_is_built_once_and_has_no_settings_of_the_build(
    images, lock, python, docker_engine
):
    first = images.build(lock, python=python)
    made = connect(docker_engine.host).images.get(first.id)
    assert images.build(lock, python=python) == first
    told = str(made.attrs) + str(made.history())
    assert "127.0.0.1" not in told
    everything = connect(docker_engine.host).images.list(all=True)
    stages = [i for i in everything if "repro_pipeline.stage" in (i.labels or {})]
    assert stages == []


def other_hash(lock: str) -> str:
    return lock.partition("sha256:")[0] + "sha256:" + "0" * 64 + "\n"


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        pytest.param(other_hash, "DO NOT MATCH", id="other bytes"),
        pytest.param(
            lambda lock: lock.replace(NAME, "sdistonly").replace(VERSION, "1.0"),
            "No matching distribution",
            id="no wheel",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            lambda lock: lock.replace(VERSION, "9.9"),
            "No matching distribution",
            id="no such version",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_an_image_that_cannot_be_built_is_a_sentence(images, lock, python, changed, sentence):
    with pytest.raises(BuildError, match=sentence) as caught:
        images.build(changed(lock), python=python)
    assert "\n" not in str(caught.value) and "127.0.0.1" not in str(caught.value)


def test_another_python_than_the_base_images_is_refused(images, lock):
    with pytest.raises(BuildError, match=r"the base image has Python 3\.\d+, not 3\.4"):
        images.build(lock, python="3.4")


def test_an_absent_base_image_is_a_sentence(docker_engine, lock):
    docker = Docker(host=docker_engine.host, base="absent:{python}")
    runner = DockerRunner(host=docker_engine.host, image=docker_engine.image)
    with pytest.raises(BuildError, match=r"lacks the image.*absent:3\.11.*docker pull"):
        DockerImages(runner, docker).build(lock, python="3.11")


@pytest.fixture
def contained(project: Path, docker_engine: Engine) -> Path:
    """A project whose runs happen in containers."""
    docker = {"host": docker_engine.host, "base": docker_engine.image}
    settings = {"schema": 1, "runner": "docker", "docker": docker}
    (project / "repro.yaml").write_text(yaml.safe_dump(settings))
    return project


def test_a_paper_is_reproduced_in_its_image(
    contained: Path, docker_engine: Engine, python: str, monkeypatch: pytest.MonkeyPatch
):
    """On a host without any Python that an environment could be built on."""
    monkeypatch.setattr(interpreter, "_installed", lambda cache: [])
    bundle = make_bundle(contained / "papers" / "tiny", code={"path": "code", "python": python})
    assert bundle.is_dir()
    assert main(["run", "tiny"]) == 0
    opened = open_project(contained)
    built = output_of(opened, latest(opened, "tiny", "environment"), BuiltEnvironment)
    [event] = opened.ledger.events("tiny", kinds=["environment_built"])
    assert event.payload["image"] == built.image.id
    assert built.fingerprint.python.startswith(python)
    made = [a for a in attempts(opened.ledger.events("tiny")) if a.purpose == "eval"]
    assert [(a.runner, str(a.status)) for a in made] == [("docker", "ok")] * 3
    report = (contained / "reports" / "tiny" / "report.html").read_text()
    assert built.image.id in report
    assert docker_engine.containers() == set()


@pytest.fixture
def engine_config(docker_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repro.yaml that names the engine alone, and a cache of environments of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    docker = {"host": docker_engine.host, "base": docker_engine.image}
    (tmp_path / "repro.yaml").write_text(yaml.safe_dump({"schema": 1, "docker": docker}))
    return tmp_path / "repro.yaml"


def test_a_submission_is_scored_in_containers(engine_config, python, tmp_path, capsys):
    bundle = make_bundle(tmp_path / "tiny")
    code = tmp_path / "submission"
    (bundle / "code").rename(code)
    (code / ".python-version").write_text(python)
    where = ["--bundle", str(bundle), "--submission", str(code), "--keep", str(tmp_path / "kept")]
    how = ["--runner", "docker", "--config", str(engine_config), "--seeds", "2", "--json"]
    assert main(["score", *where, *how]) == 0
    assert json.loads(capsys.readouterr().out)["runner"] == "docker"
    kept = open_project(tmp_path / "kept")
    [paper] = [one for one in kept.ledger.chains() if one != PROJECT_CHAIN]
    assert {one.runner for one in attempts(kept.ledger.events(paper))} == {"docker"}


@pytest.mark.slow
def test_a_suite_is_proved_and_agents_compared_in_containers(engine_config, tmp_path, capsys):
    make_suite(tmp_path / "suite", {"right": truth()})
    how = ["--runner", "docker", "--config", str(engine_config), "--seeds", "4"]
    assert main(["bench", "validate", str(tmp_path / "suite"), *how, "--json"]) == 0
    [proof] = json.loads(capsys.readouterr().out)
    assert (proof["runner"], proof["faults"]) == ("docker", [])
    out = tmp_path / "out"
    shutil.copytree(tmp_path / "suite/tasks/right/reference", tmp_path / "answer")
    files = " ".join(map(str, sorted((tmp_path / "answer").iterdir())))
    agents = ["--agent", f"copies=command:cp {files} {{out}}", "--agent", "trivial"]
    assert main(["bench", "run", str(tmp_path / "suite"), "--out", str(out), *agents, *how]) == 0
    grading = open_project(out / "trials" / "right--copies--1" / "grading")
    assert {one.runner for one in attempts(grading.ledger.events("right"))} == {"docker"}


@pytest.mark.slow
def test_an_image_that_the_engine_lost_is_built_again(contained: Path, docker_engine, python: str):
    make_bundle(contained / "papers" / "tiny", code={"path": "code", "python": python})
    assert main(["run", "tiny"]) == 0
    opened = open_project(contained)
    built = output_of(opened, latest(opened, "tiny", "environment"), BuiltEnvironment)
    connect(docker_engine.host).images.remove(built.image.id, force=True)
    (contained / "papers" / "tiny" / "task.yaml").write_text(
        yaml.safe_dump(task(code={"path": "code", "python": python}, seeds=[1, 2, 3, 4]))
    )
    assert main(["run", "tiny"]) == 0
    events = list(opened.ledger.events("tiny", kinds=["environment_built"]))
    assert [one.payload["lock"] for one in events] == [built.lock.sha256] * 2
    assert events[1].payload["image"] != built.image.id


@pytest.mark.slow
def test_what_was_run_in_an_image_is_exported_with_its_dockerfile(contained: Path, python: str):
    make_bundle(contained / "papers" / "tiny", code={"path": "code", "python": python})
    assert main(["run", "tiny"]) == 0
    assert main(["export", "tiny", "--out", str(contained / "capsule"), "--format", "capsule"]) == 0
    text = (contained / "capsule" / "environment" / "Dockerfile").read_text()
    assert text.startswith("FROM ") and f'have == "{python}"' in text
    opened = open_project(contained)
    built = output_of(opened, latest(opened, "tiny", "environment"), BuiltEnvironment)
    assert built.image.id in (contained / "capsule" / "reproduce.sh").read_text()
