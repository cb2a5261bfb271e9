"""The artifact store keeps bytes by their digest, and notices when they are no longer those."""

import gzip
import hashlib
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro_pipeline.errors import IntegrityError, StoreError
from resources.artifact_store import FsspecArtifactStore


@pytest.fixture(params=["folder", "memory"])
def store(request, tmp_path):
    if request.param == "folder":
        return FsspecArtifactStore(str(tmp_path / "store"))
    return FsspecArtifactStore(f"memory://{uuid.uuid4().hex}")


@pytest.fixture
def folder_store(tmp_path):
    return FsspecArtifactStore(str(tmp_path / "store"))


def stored_file(root: Path, digest: str) -> Path:
    (path,) = root.glob(f"{digest[:2]}/{digest}*")
    return path


def rewrite(path: Path, content: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(content)


CONTENTS = [b"", b"x", b"log line\n" * 10_000, random.Random(1).randbytes(3_000_000)]


@pytest.mark.parametrize("content", CONTENTS, ids=["empty", "one", "text", "noise"])
def test_what_is_put_comes_back_under_its_sha256(store, content):
    digest = store.put(content)
    assert digest == hashlib.sha256(content).hexdigest()
    assert digest in store
    assert store.get(digest) == content
    with store.open(digest) as stream:
        assert stream.read(5) == content[:5]
        assert stream.read() == content[5:]


@settings(max_examples=50, deadline=None)
@given(content=st.binary(max_size=2000), repeat=st.integers(1, 50))
def test_any_bytes_come_back(content, repeat):
    store = FsspecArtifactStore("memory://any-bytes")
    assert store.get(store.put(content * repeat)) == content * repeat


def test_text_is_compressed_and_noise_is_not(folder_store, tmp_path):
    text, noise = CONTENTS[2], CONTENTS[3]
    assert stored_file(tmp_path / "store", folder_store.put(text)).stat().st_size < len(text) / 20
    noisy = stored_file(tmp_path / "store", folder_store.put(noise))
    assert noisy.stat().st_size == len(noise)


def test_the_same_bytes_give_the_same_file_whatever_the_time(folder_store, tmp_path):
    packed = stored_file(tmp_path / "store", folder_store.put(CONTENTS[2])).read_bytes()
    assert packed[:2] == b"\x1f\x8b"
    assert packed[4:8] == bytes(4), "the time in the header of gzip"


def test_bytes_that_are_gzip_themselves_come_back_as_gzip(store):
    packed = gzip.compress(b"inner" * 1000)
    assert store.get(store.put(packed)) == packed


def test_the_same_bytes_are_kept_once(folder_store, tmp_path):
    first, second = folder_store.put(CONTENTS[2]), folder_store.put(CONTENTS[2])
    assert first == second
    assert list(folder_store.digests()) == [first]
    assert list((tmp_path / "store" / "incoming").iterdir()) == []


def test_a_large_file_goes_in_and_out_in_little_memory(tmp_path):
    """In a process of its own, whose memory is capped below the file's size."""
    big = tmp_path / "big.log"
    with big.open("wb") as file:
        for number in range(300):
            file.write(random.Random(number).randbytes(1_000_000))
    script = (
        "import resource, sys, pathlib\n"
        "from resources.artifact_store import FsspecArtifactStore\n"
        "store = FsspecArtifactStore(sys.argv[1])\n"
        "used = int(pathlib.Path('/proc/self/statm').read_text().split()[0]) * 4096\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 100_000_000,) * 2)\n"
        "digest = store.put_file(pathlib.Path(sys.argv[2]))\n"
        "with store.open(digest) as stream:\n"
        "    print(sum(len(piece) for piece in iter(lambda: stream.read(1 << 20), b'')))\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "store"), str(big)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == 300_000_000


@pytest.mark.parametrize("content", [CONTENTS[2], CONTENTS[3]], ids=["compressed", "plain"])
@pytest.mark.parametrize("damage", ["flip", "truncate", "empty", "append"])
def test_damage_is_noticed_on_reading_and_named_by_verify(folder_store, tmp_path, content, damage):
    digest, whole = folder_store.put(content), folder_store.put(b"untouched")
    path = stored_file(tmp_path / "store", digest)
    raw = bytearray(path.read_bytes())
    # Behind the gzip header, some of whose bits mean nothing for the content.
    position = random.Random(7).randrange(20, len(raw) - 8)
    damaged = {
        "flip": raw[:position] + bytes([raw[position] ^ 1]) + raw[position + 1 :],
        "truncate": raw[:position],
        "empty": b"",
        "append": raw + b"more",
    }[damage]
    rewrite(path, bytes(damaged))
    with pytest.raises(IntegrityError, match=digest):
        folder_store.get(digest)
    with pytest.raises(IntegrityError), folder_store.open(digest) as stream:
        for _ in stream:
            pass
    assert folder_store.verify() == [digest]
    assert folder_store.get(whole) == b"untouched"


@pytest.mark.parametrize(
    ("put_there", "listed"),
    [
        (lambda path: path.mkdir(), False),
        (os.mkfifo, True),
        (lambda path: path.symlink_to("/nowhere"), True),
        (lambda path: path.symlink_to(path.name), True),
        (lambda path: path.symlink_to("/etc/hostname"), True),
    ],
    ids=["folder", "pipe", "link to nothing", "link to itself", "link elsewhere"],
)
def test_what_is_no_file_is_no_artifact_and_hinders_nothing(
    folder_store, tmp_path, put_there, listed
):
    digest, old = folder_store.put(CONTENTS[3]), folder_store.put(b"unreferenced")
    path = stored_file(tmp_path / "store", digest)
    path.unlink()
    put_there(path)
    assert folder_store.verify() == ([digest] if listed else [])
    assert (digest in folder_store) == path.is_file()
    with pytest.raises(IntegrityError, match=digest):
        folder_store.get(digest)
    removed = folder_store.gc({digest}, older_than_seconds=-1)
    assert [one.digest for one in removed] == [old]
    if listed:  # a folder is left to whoever put it there
        assert folder_store.put(CONTENTS[3]) == digest
        assert folder_store.verify() == []


def test_what_may_not_be_read_is_named_and_the_rest_is_verified():
    """In a process without the rights of root, and in a folder that it can reach."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o777)
    store = FsspecArtifactStore(str(place))
    digests = sorted(store.put(bytes([n]) * 9) for n in range(3))
    stored_file(place, digests[0]).chmod(0)
    child, found = os.fork(), None
    if not child:
        try:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            found = store.verify()
        finally:
            os._exit(0 if found == digests[:1] else 1)
    try:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        shutil.rmtree(place)


@pytest.mark.parametrize("add", ["\n", ".gz"])
def test_only_a_digest_names_an_artifact(folder_store, add):
    digest = folder_store.put(CONTENTS[2])
    assert digest in folder_store
    assert digest + add not in folder_store


def test_every_flipped_bit_of_a_compressed_artifact_is_noticed_or_harmless(folder_store, tmp_path):
    content = b"0123456789" * 40
    digest = folder_store.put(content)
    path = stored_file(tmp_path / "store", digest)
    raw = path.read_bytes()
    noticed = 0
    for bit in range(len(raw) * 8):
        flipped = bytearray(raw)
        flipped[bit // 8] ^= 1 << bit % 8
        rewrite(path, bytes(flipped))
        try:
            assert folder_store.get(digest) == content
        except IntegrityError:
            noticed += 1
    assert noticed > 6 * len(raw)


def test_storing_again_mends_a_damaged_copy(folder_store, tmp_path):
    digest = folder_store.put(CONTENTS[2])
    rewrite(stored_file(tmp_path / "store", digest), b"rubbish")
    assert folder_store.put(CONTENTS[2]) == digest
    assert folder_store.verify() == []


def test_a_missing_artifact_is_an_integrity_error(store):
    missing = hashlib.sha256(b"never stored").hexdigest()
    assert missing not in store
    assert "../../etc/passwd" not in store
    with pytest.raises(IntegrityError, match="missing"):
        store.get(missing)


def make_tree(folder: Path) -> Path:
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "src" / "deep" / "übung.py").write_text("print('ü')\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "link.py").symlink_to("src/deep/übung.py")
    (folder / "src" / "up").symlink_to("../empty")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("secret")
    (folder / "src" / "__pycache__").mkdir()
    (folder / "src" / "__pycache__" / "x.pyc").write_bytes(b"\0")
    return folder


def test_a_tree_comes_back_as_it_was(store, tmp_path):
    digest = store.put_tree(make_tree(tmp_path / "in"))
    target = tmp_path / "deep" / "out"
    store.get_tree(digest, target)
    found = sorted(str(path.relative_to(target)) for path in target.rglob("*"))
    assert found == sorted(
        ["src", "src/deep", "src/deep/übung.py", "src/up", "empty", "run.sh", "link.py"]
    )
    assert (target / "src/deep/übung.py").read_text() == "print('ü')\n"
    assert os.access(target / "run.sh", os.X_OK)
    assert not (target / "src/deep/übung.py").stat().st_mode & 0o111
    assert str((target / "link.py").readlink()) == "src/deep/übung.py"
    assert [path.name for path in target.parent.iterdir()] == ["out"]


def test_a_tree_s_digest_depends_on_content_alone(folder_store, tmp_path):
    one, two = make_tree(tmp_path / "one"), make_tree(tmp_path / "two")
    os.utime(two / "run.sh", (1, 1))
    (two / ".git" / "config").write_text("other")
    same = folder_store.put_tree(one)
    assert folder_store.put_tree(two) == same
    (two / "run.sh").chmod(0o644)
    assert folder_store.put_tree(two) != same


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "src/../../outside", "hop/.."])
def test_a_link_that_leaves_the_tree_is_refused_by_name(folder_store, tmp_path, target):
    tree = make_tree(tmp_path / "in")
    (tmp_path / "outside").mkdir()
    if target.startswith("hop"):
        (tree / "hop").symlink_to(tree)
    (tree / "bad-link").symlink_to(target)
    with pytest.raises(StoreError, match=r"bad-link|hop"):
        folder_store.put_tree(tree)


@pytest.mark.parametrize("kind", ["fifo", "socket"])
def test_special_files_are_refused_by_name(folder_store, tmp_path, kind, monkeypatch):
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")  # a socket's path must be short
    if kind == "fifo":
        os.mkfifo("strange")
    else:
        socket.socket(socket.AF_UNIX).bind("strange")
    with pytest.raises(StoreError, match="strange"):
        folder_store.put_tree(tmp_path / "in")


def test_a_link_to_itself_and_a_name_that_is_no_utf8_are_dealt_with(folder_store, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "loop").symlink_to("loop")
    folder_store.get_tree(folder_store.put_tree(tmp_path / "in"), tmp_path / "out")
    assert (tmp_path / "out" / "loop").is_symlink()
    (tmp_path / "in" / os.fsdecode(b"bad-\xff")).write_text("x")
    with pytest.raises(StoreError, match="UTF-8"):
        folder_store.put_tree(tmp_path / "in")


def test_get_tree_refuses_what_is_there_and_leaves_nothing_half_written(folder_store, tmp_path):
    digest = folder_store.put_tree(make_tree(tmp_path / "in"))
    (tmp_path / "there").mkdir()
    with pytest.raises(StoreError, match="exists"):
        folder_store.get_tree(digest, tmp_path / "there")
    script = hashlib.sha256(b"#!/bin/sh\n").hexdigest()
    rewrite(stored_file(tmp_path / "store", script), b"rm -rf /")
    with pytest.raises(IntegrityError, match=script):
        folder_store.get_tree(digest, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "store", "there"]


@pytest.mark.parametrize(
    "listing",
    [
        b'{"kind":"tree","files":[{"path":"../x","sha256":"%s","executable":false}]}',
        b'{"kind":"tree","files":[{"path":"/x","sha256":"%s","executable":false}]}',
        b'{"kind":"tree","links":[{"path":"x","target":"../y"}]}',
        b'{"kind":"tree","links":[{"path":"d/l","target":"."},{"path":"x","target":"d/l/../.."}]}',
        b'{"kind":"tree","empty_folders":["a/../../b"]}',
        b'{"some":"json"}',
        b"no json",
    ],
)
def test_a_listing_that_leads_outside_is_not_written(folder_store, tmp_path, listing):
    listing = listing.replace(b"%s", folder_store.put(b"x").encode())
    with pytest.raises((IntegrityError, StoreError)):
        folder_store.get_tree(folder_store.put(listing), tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def age(root: Path, digest: str, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(stored_file(root, digest), (then, then))


def test_gc_removes_only_what_is_old_and_unreferenced(folder_store, tmp_path):
    root = tmp_path / "store"
    kept, old, young, again = (folder_store.put(name.encode()) for name in "abcd")
    for digest in (kept, old, again):
        age(root, digest, 1000)
    folder_store.put(b"d")  # stored again: about to be referenced
    would = folder_store.gc({kept}, older_than_seconds=100, dry_run=True)
    size = stored_file(root, old).stat().st_size
    assert folder_store.gc({kept}, older_than_seconds=100) == would == [(old, size)]
    assert sorted(folder_store.digests()) == sorted([kept, young, again])


def test_gc_sweeps_what_a_killed_writer_left(folder_store, tmp_path):
    leftover = tmp_path / "store" / "incoming" / "tmp123"
    leftover.write_bytes(b"half")
    folder_store.gc(set(), older_than_seconds=100)
    assert leftover.exists()
    os.utime(leftover, (1, 1))
    folder_store.gc(set(), older_than_seconds=100)
    assert not leftover.exists()


def test_a_full_disk_is_said_and_leaves_no_half_artifact(tmp_path):
    """In a process of its own, whose files may not grow beyond 100 kB."""
    script = (
        "import resource, sys\n"
        "from resources.artifact_store import FsspecArtifactStore\n"
        "from repro_pipeline.errors import StoreError\n"
        "import random\n"
        "store = FsspecArtifactStore(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "small = store.put(b'small')\n"
        "try:\n"
        "    store.put(random.Random(3).randbytes(200_000))\n"
        "except StoreError as error:\n"
        "    print(error)\n"
        "assert list(store.digests()) == [small]\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "store")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "File too large" in done.stdout
    assert list((tmp_path / "store" / "incoming").iterdir()) == []


@pytest.mark.parametrize(
    ("url", "said"),
    [("nonsense://x", "cannot be opened: Protocol not known"), ("/proc/nope/store", "failed")],
)
def test_a_place_that_cannot_be_used_is_said(url, said):
    with pytest.raises(StoreError, match=f"the artifact store {said}"):
        FsspecArtifactStore(url)


def test_a_stream_used_after_its_end_is_no_store_that_cannot_be_opened(folder_store):
    """Only opening the store is told so; a mistake of whoever reads stays what it is."""
    stream = folder_store.open(folder_store.put(CONTENTS[3]))
    stream.raw._raw.close()
    with pytest.raises(ValueError, match="closed file"):
        stream.read()


def test_a_stream_is_not_seen_as_whole_before_its_end(folder_store, tmp_path):
    """A reader that stops early has checked nothing: this is what `open` promises."""
    content = CONTENTS[3]
    digest = folder_store.put(content)
    path = stored_file(tmp_path / "store", digest)
    rewrite(path, content[:-1] + bytes([content[-1] ^ 1]))
    stream = folder_store.open(digest)
    assert stream.read(100) == content[:100]
    with pytest.raises(IntegrityError):
        stream.read()
    stream.close()
