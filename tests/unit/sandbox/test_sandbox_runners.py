"""What every runner promises: outcomes, output, limits, cancelling, concurrency, clean folders."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sandbox_bench import Bench

from repro_pipeline.errors import SandboxUnavailable, UserError
from repro_pipeline.sandbox.bubblewrap import BubblewrapRunner
from repro_pipeline.sandbox.policy import (
    LIMIT_NAMES,
    Enforcement,
    Limits,
    Mount,
    SandboxPolicy,
    default_environment,
)
from repro_pipeline.status import Status

MiB = 1 << 20


def short(seconds: float = 30.0, **limits: float) -> SandboxPolicy:
    return SandboxPolicy(limits=Limits(wall_clock=seconds, **limits))


def test_a_command_works_in_its_folders(bench: Bench):
    (bench.folder / "work" / "in.txt").write_text("hello")
    target = bench.inside(bench.out / "result.txt")
    outcome = bench.run("/bin/sh", "-c", f"cat in.txt > {target}; echo done; echo bad >&2")
    assert (outcome.status, outcome.exit_code) == (Status.OK, 0)
    assert (bench.out / "result.txt").read_text() == "hello"
    assert bench.said == "done\nbad\n"


@pytest.mark.parametrize(
    ("command", "code"), [("exit 3", 3), ("kill -SEGV $$", 139), ("nonesuch", 127)]
)
def test_a_failing_command_is_an_outcome(bench: Bench, command: str, code: int):
    outcome = bench.run("/bin/sh", "-c", command)
    assert (outcome.status, outcome.exit_code) == (Status.FAILED, code)
    assert str(code) in outcome.reason


def test_a_missing_program_is_an_outcome(bench: Bench):
    outcome = bench.run("nonesuch")
    assert (outcome.status, outcome.exit_code) == (Status.FAILED, 127)
    assert "nonesuch" in bench.said


def test_the_wall_clock_ends_a_run_with_all_its_children(bench: Bench):
    outcome = bench.run(
        "/bin/sh", "-c", "sleep 61.5 & setsid sleep 61.5 & sleep 61.5", policy=short(0.4)
    )
    assert (outcome.status, outcome.exit_code) == (Status.TIMED_OUT, None)
    assert "0.4 s" in outcome.reason
    assert running("61.5") == []


def test_memory_and_output_beyond_the_limit_end_a_run(bench: Bench):
    hoard = "x = bytearray(b'x') * (256 << 20); import time; time.sleep(60)"
    outcome = bench.python(hoard, short(memory=128 * MiB))
    assert outcome.status is Status.BUDGET_EXHAUSTED and "memory" in outcome.reason
    outcome = bench.run(
        "/bin/sh", "-c", "while :; do echo flood flood flood; done", policy=short(output=MiB)
    )
    assert outcome.status is Status.BUDGET_EXHAUSTED and "wrote" in outcome.reason
    assert (bench.folder / "log").stat().st_size <= MiB


def test_use_is_measured(bench: Bench):
    program = (
        "import time; x = bytearray(b'x') * (100 << 20); end = time.process_time() + 0.3\n"
        "while time.process_time() < end: pass"
    )
    outcome = bench.python(program)
    assert outcome.status is Status.OK, bench.said
    assert 0.3 <= outcome.cpu_seconds <= outcome.seconds + 1.0
    assert 100 * MiB <= outcome.peak_memory_bytes <= 200 * MiB
    assert outcome.output_bytes < MiB


def test_cpu_time_and_memory_of_children_count(bench: Bench):
    program = (
        "import os, time\n"
        "children = []\n"
        "for _ in range(3):\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n"
        "        x = bytearray(b'x') * (60 << 20); end = time.process_time() + 0.4\n"
        "        while time.process_time() < end: pass\n"
        "        time.sleep(1.5); os._exit(0)  # long enough to be looked at\n"
        "    children.append(pid)\n"
        "for pid in children: os.waitpid(pid, 0)"
    )
    outcome = bench.python(program)
    assert outcome.status is Status.OK, bench.said
    assert outcome.cpu_seconds >= 1.2
    assert 150 * MiB <= outcome.peak_memory_bytes <= 400 * MiB


def test_output_is_streamed_as_it_comes_and_whole(bench: Bench):
    pieces: list[tuple[float, bytes]] = []
    command = "echo first; sleep 1; echo second"
    outcome = bench.run(
        "/bin/sh", "-c", command, on_output=lambda piece: pieces.append((time.monotonic(), piece))
    )
    assert outcome.status is Status.OK
    assert b"".join(piece for _, piece in pieces) == b"first\nsecond\n" == bench.said.encode()
    assert pieces[-1][0] - pieces[0][0] > 0.5


def test_a_large_output_is_streamed_whole(bench: Bench):
    pieces: list[bytes] = []
    outcome = bench.run(
        "/bin/sh", "-c", "seq 400000", policy=short(output=64 * MiB), on_output=pieces.append
    )
    assert outcome.status is Status.OK
    assert b"".join(pieces).decode() == "".join(f"{n}\n" for n in range(1, 400001)) == bench.said


def test_an_error_of_the_listener_ends_the_run(bench: Bench):
    def listener(piece: bytes) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        bench.run("/bin/sh", "-c", "echo x; sleep 62.5", on_output=listener)
    assert running("62.5") == []


def test_the_environment_is_the_policys_alone(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOST_SECRET", "x")
    policy = SandboxPolicy(environment={"MINE": "a b=c", "OMP_NUM_THREADS": "2"})
    bench.run("/usr/bin/env", "-0", policy=policy)
    seen = dict(entry.split("=", 1) for entry in bench.said.split("\0") if entry)
    home = seen["HOME"]
    expected = {**default_environment(home, seen["TMPDIR"]), **policy.environment}
    assert {name: value for name, value in seen.items() if name != "PWD"} == expected


def test_home_and_temporary_folder_are_scratch_that_goes(bench: Bench):
    bench.run("/bin/sh", "-c", "touch $HOME/x $TMPDIR/y && echo $HOME $TMPDIR")
    home, temporary = bench.said.split()
    assert not Path(home).exists()
    assert not Path(temporary, "y").exists()


def test_every_limit_has_a_word(bench: Bench):
    held = bench.runner.enforcement()
    assert set(held) == set(LIMIT_NAMES)
    outcome = bench.run("/bin/true")
    assert outcome.enforcement == held


def test_what_the_local_runner_does_not_enforce_it_says(runners):
    held = runners["unsafe_local"].enforcement()
    for name in ("network", "filesystem", "system_calls", "scratch"):
        assert held[name] is Enforcement.UNAVAILABLE


def test_the_sandbox_holds_the_network_and_the_files_hard(sandbox: Bench):
    held = sandbox.runner.enforcement()
    for name in ("network", "filesystem", "scratch", "open_files"):
        assert held[name] is Enforcement.HARD


def test_a_minimum_that_does_not_hold_is_refused(bench: Bench):
    policy = SandboxPolicy(minimum={"wall_clock": Enforcement.HARD})
    with pytest.raises(SandboxUnavailable, match="wall_clock hard, and here it is watched"):
        bench.run("/bin/sh", "-c", "echo ran", policy=policy)
    assert not (bench.folder / "log").exists()


def test_the_local_runner_refuses_a_policy_that_wants_a_sandbox(runners, tmp_path: Path):
    policy = SandboxPolicy(minimum={"network": Enforcement.HARD})
    (tmp_path / "work").mkdir()
    (tmp_path / "out").mkdir()
    places = {"workdir": tmp_path / "work", "out": tmp_path / "out", "log": tmp_path / "log"}
    with pytest.raises(SandboxUnavailable, match="network"):
        runners["unsafe_local"].run(["/bin/true"], policy, **places)


def test_a_sandbox_without_bubblewrap_is_an_error(tmp_path: Path):
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho 'no such option' >&2; exit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    tmp_path.chmod(0o755)
    with pytest.raises(SandboxUnavailable, match="the sandbox could not be made: no such option"):
        BubblewrapRunner(tmp_path / "bwrap").enforcement()


def test_a_refusal_to_make_namespaces_is_explained(tmp_path: Path):
    refusing = "#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2; exit 1\n"
    (tmp_path / "bwrap").write_text(refusing)
    (tmp_path / "bwrap").chmod(0o755)
    with pytest.raises(SandboxUnavailable) as caught:
        BubblewrapRunner(tmp_path / "bwrap").enforcement()
    assert caught.value.what.endswith("setting up uid map: Permission denied.")
    assert caught.value.hint


def test_missing_inputs_are_named(sandbox: Bench, tmp_path: Path):
    policy = SandboxPolicy(mounts=(Mount(source=tmp_path / "nowhere", target=Path("/data")),))
    with pytest.raises(UserError, match="nowhere"):
        sandbox.run("/bin/true", policy=policy)


def test_mounts_are_seen_read_only_also_below_each_other(sandbox: Bench, tmp_path: Path):
    for name in ("data", "labels"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
        (tmp_path / name / "file").chmod(0o666)  # so that only the mount forbids to write
    policy = SandboxPolicy(
        mounts=(
            Mount(source=tmp_path / "labels", target=Path("/inputs/deep/labels")),
            Mount(source=tmp_path / "data", target=Path("/inputs/data")),
            Mount(source=tmp_path / "data" / "file", target=Path("/single.txt")),
        )
    )
    command = (
        "cat /inputs/deep/labels/file /inputs/data/file /single.txt;"
        "for f in /inputs/deep/labels/file /inputs/data/file /single.txt; do echo x >> $f; done"
    )
    sandbox.run("/bin/sh", "-c", command, policy=policy)
    assert sandbox.said.startswith("labelsdatadata")
    assert sandbox.said.count("Read-only file system") == 3


def test_files_belong_to_the_caller_afterwards(bench: Bench):
    script = bench.folder / "work" / "script.sh"
    script.write_text(
        "echo x > made.txt; chmod 600 made.txt; mkdir sub; touch sub/y; chmod 700 sub"
    )
    bench.run("/bin/sh", "script.sh")
    for path in (bench.folder / "work").rglob("*"):
        info = path.stat()
        assert (info.st_uid, info.st_gid) == (os.geteuid(), os.getegid())
    assert (bench.folder / "work" / "made.txt").read_text() == "x\n"


def test_inputs_in_a_folder_closed_to_others_are_reached(sandbox: Bench, tmp_path: Path):
    """As root's home is: the project, its environments and its data may lie there."""
    closed = tmp_path / "closed"
    (closed / "data").mkdir(parents=True)
    (closed / "data" / "x").write_text("found")
    for name in ("work", "out"):
        (closed / name).mkdir()
    closed.chmod(0o700)
    policy = SandboxPolicy(mounts=(Mount(source=closed / "data", target=Path("/data")),))
    outcome = sandbox.runner.run(
        ["/bin/sh", "-c", "cat /data/x > /out/copy"],
        policy,
        workdir=closed / "work",
        out=closed / "out",
        log=tmp_path / "log2",
    )
    assert outcome.status is Status.OK, (tmp_path / "log2").read_text()
    assert (closed / "out" / "copy").read_text() == "found"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs code as another user")
def test_inputs_that_only_root_can_read_are_named(sandbox: Bench, tmp_path: Path):
    (tmp_path / "private.csv").write_text("x")
    (tmp_path / "private.csv").chmod(0o600)
    mount = Mount(source=tmp_path / "private.csv", target=Path("/data.csv"))
    with pytest.raises(UserError, match=r"chmod -R o\+rX"):
        sandbox.run("/bin/true", policy=SandboxPolicy(mounts=(mount,)))


def test_runs_from_several_threads_do_not_mix(bench: Bench):
    def one(number: int) -> tuple[Status, str, str]:
        folder = bench.folder / str(number)
        for name in ("work", "out"):
            (folder / name).mkdir(parents=True)
        places = {"workdir": folder / "work", "out": folder / "out", "log": folder / "log"}
        target = bench.runner.inside(
            folder / "out" / "x", SandboxPolicy(), workdir=folder / "work", out=folder / "out"
        )
        command = ["/bin/sh", "-c", f"echo {number}; echo {number} > {target}; sleep 0.2"]
        outcome = bench.runner.run(command, short(), **places)
        return outcome.status, (folder / "log").read_text(), (folder / "out" / "x").read_text()

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(one, range(16)))
    assert results == [(Status.OK, f"{n}\n", f"{n}\n") for n in range(16)]


def test_cancelling_ends_what_runs_and_nothing_later(bench: Bench):
    outcomes = []
    thread = threading.Thread(target=lambda: outcomes.append(bench.run("/bin/sleep", "63.5")))
    thread.start()
    wait_until(lambda: running("63.5"))
    bench.runner.cancel_all()
    thread.join(20)
    assert outcomes[0].status is Status.CANCELLED
    assert running("63.5") == []
    bench.runner.cancel_all()
    assert bench.run("/bin/true").status is Status.OK


def running(argument: str) -> list[int]:
    """The `sleep` processes of this host with that argument."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"sleep") and argument.encode() in words:
            found.append(int(path.parent.name))
    return found


def wait_until(condition, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.01)
