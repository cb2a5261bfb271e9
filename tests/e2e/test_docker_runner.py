"""Runs in containers of a real engine: what they see, how they end, and what is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from repro_pipeline.errors import SandboxUnavailable, UserError
from repro_pipeline.sandbox.policy import LIMIT_NAMES, Enforcement, Limits, Mount, SandboxPolicy
from repro_pipeline.status import Status
from resources.docker_engine import OWNER, connect
from resources.docker_runner import DockerRunner
from tests.docker_engine import Engine

MiB = 1 << 20


@pytest.fixture(scope="module")
def runner(docker_engine: Engine) -> DockerRunner:
    return DockerRunner(host=docker_engine.host, image=docker_engine.image)


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    (tmp_path / "work").mkdir()
    (tmp_path / "out").mkdir()
    return {"workdir": tmp_path / "work", "out": tmp_path / "out", "log": tmp_path / "log"}


def limited(**limits: float) -> SandboxPolicy:
    return SandboxPolicy(limits=Limits(**{"wall_clock": 60, **limits}))


def python(program: str) -> list[str]:
    return ["python3", "-c", program]


def test_every_limit_holds_or_is_watched(runner: DockerRunner):
    held = runner.enforcement()
    watched = {name for name, level in held.items() if level is Enforcement.WATCHED}
    assert set(held) == set(LIMIT_NAMES)
    assert watched == {"wall_clock", "output"}
    assert Enforcement.UNAVAILABLE not in held.values()


def test_a_run_reads_its_inputs_and_leaves_its_results(runner, places, tmp_path: Path):
    data = tmp_path / "numbers.csv"
    data.write_text("1,2,3\n")
    (places["workdir"] / "code.py").write_text(
        "import os, sys\nprint(open(sys.argv[1]).read(), os.getcwd(), os.environ['LANG'])\n"
        "open('/out/result', 'w').write('42')\n"
    )
    policy = SandboxPolicy(mounts=(Mount(source=data, target=Path("/data/numbers.csv")),))
    seen = [
        runner.inside(path, policy, workdir=places["workdir"], out=places["out"])
        for path in (places["workdir"] / "code.py", data)
    ]
    assert seen == ["/work/code.py", "/data/numbers.csv"]
    pieces: list[bytes] = []
    outcome = runner.run(["python3", *seen], policy, **places, on_output=pieces.append)
    assert outcome.status is Status.OK, places["log"].read_text()
    assert places["log"].read_text() == "1,2,3\n /work C.UTF-8\n"
    assert b"".join(pieces) == places["log"].read_bytes()
    result = places["out"] / "result"
    assert result.read_text() == "42"
    assert result.stat().st_uid == os.geteuid()
    assert outcome.enforcement == runner.enforcement()


def test_what_a_run_does_not_see_is_an_error(runner, places, tmp_path: Path):
    with pytest.raises(UserError, match="does not see"):
        runner.inside(
            tmp_path / "elsewhere", SandboxPolicy(), workdir=places["workdir"], out=places["out"]
        )
    absent = SandboxPolicy(mounts=(Mount(source=tmp_path / "absent", target=Path("/absent")),))
    with pytest.raises(UserError, match="no such file"):
        runner.run(["true"], absent, **places)


def test_a_failure_is_an_outcome_with_its_exit_status(runner, places):
    outcome = runner.run(["/bin/sh", "-c", "exit 7"], limited(), **places)
    assert (outcome.status, outcome.exit_code) == (Status.FAILED, 7)
    outcome = runner.run(["/bin/sh", "-c", "kill -9 $$"], limited(), **places)
    assert (outcome.status, outcome.exit_code) == (Status.FAILED, 128 + signal.SIGKILL)
    outcome = runner.run(["no-such-command"], limited(), **places)
    assert outcome.exit_code == 127 and "not found" in outcome.reason


@pytest.mark.parametrize(
    ("program", "limits", "status", "word"),
    [
        ("import time; time.sleep(60)", {"wall_clock": 1}, Status.TIMED_OUT, "longer"),
        ("bytearray(200 << 20)", {"memory": 64 * MiB}, Status.BUDGET_EXHAUSTED, "memory"),
        ("while True: print('x' * 1000)", {"output": MiB}, Status.BUDGET_EXHAUSTED, "wrote more"),
        (
            "import time\nfor n in 'ab': open('/out/' + n, 'wb').write(bytes(900 << 10))\n"
            "time.sleep(60)",
            {"output": MiB},
            Status.BUDGET_EXHAUSTED,
            "wrote more",
        ),
    ],
)  # fmt: skip
def test_a_limit_ends_a_run(runner, docker_engine, places, program, limits, status, word):
    outcome = runner.run(python(program), limited(**limits), **places)
    assert outcome.status is status and word in outcome.reason
    assert outcome.exit_code is None
    assert places["log"].stat().st_size <= limits.get("output", MiB)
    assert docker_engine.containers() == set()


def test_what_a_run_used_is_measured(runner, places):
    program = "import time\nx = bytearray(80 << 20)\nwhile time.process_time() < 1: pass\n"
    program += "time.sleep(3)\n"  # the engine is asked twice a second
    outcome = runner.run(python(program), limited(), **places)
    assert 1 <= outcome.cpu_seconds <= outcome.seconds
    assert 80 * MiB < outcome.peak_memory_bytes < 200 * MiB
    assert outcome.seconds >= 3


def test_a_listener_that_fails_ends_the_run_and_is_heard(runner, docker_engine, places):
    def fails(_: bytes) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        runner.run(python("while True: print(1)"), limited(), **places, on_output=fails)
    assert docker_engine.containers() == set()


def test_cancelled_runs_end_and_leave_nothing(runner, docker_engine, places):
    outcomes = []
    thread = threading.Thread(
        target=lambda: outcomes.append(runner.run(["sleep", "60"], limited(), **places))
    )
    thread.start()
    wait_for(docker_engine.containers)
    while thread.is_alive():
        runner.cancel_all()
        thread.join(0.1)
    assert outcomes[0].status is Status.CANCELLED
    assert docker_engine.containers() == set()


DRIVER = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from pathlib import Path
from repro_pipeline.sandbox.policy import SandboxPolicy
from resources.docker_runner import DockerRunner
host, image, folder = sys.argv[1:]
places = {name: Path(folder, name) for name in ("workdir", "out", "log")}
for name in ("workdir", "out"):
    places[name].mkdir()
DockerRunner(host=host, image=image).run(["sleep", "300"], SandboxPolicy(), **places)
"""


def started_run(engine: Engine, folder: Path) -> subprocess.Popen:
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER, engine.host, engine.image, str(folder)],
        process_group=0,
        stderr=subprocess.DEVNULL,
    )
    wait_for(lambda: running(engine, process.pid))
    return process


def running(engine: Engine, pid: int) -> list:
    """The containers in which a process's runs have started `sleep`."""
    client = connect(engine.host)
    found = client.api.containers(filters={"label": OWNER})
    client.close()
    mine = [one for one in found if one["Labels"][OWNER].split(" ")[3] == str(pid)]
    return [one for one in mine if "sleep" in one["Command"]]


def wait_for(condition, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_container_ends_with_whoever_started_it(docker_engine, tmp_path: Path, number: int):
    process = started_run(docker_engine, tmp_path)
    folder = guards(process)[0][1]
    assert folder.is_dir()
    process.send_signal(number)
    process.wait()
    wait_for(lambda: docker_engine.containers() == set())
    assert not folder.exists()


def guards(process: subprocess.Popen) -> list[tuple[int, Path]]:
    """The guards of a process, each with the folder that it will remove."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    lines = [Path(f"/proc/{pid}/cmdline").read_text().split("\0") for pid in children]
    return [(int(pid), Path(line[-2])) for pid, line in zip(children, lines, strict=True)]


def test_what_a_dead_owner_left_is_removed_by_the_next(docker_engine, tmp_path: Path):
    process = started_run(docker_engine, tmp_path)
    [(guard, folder)] = guards(process)
    os.kill(guard, signal.SIGKILL)
    process.kill()
    process.wait()
    assert docker_engine.containers() != set()
    DockerRunner(host=docker_engine.host, image=docker_engine.image).enforcement()
    assert docker_engine.containers() == set()
    assert not folder.exists()


def test_no_engine_and_no_image_are_sentences(docker_engine, places, tmp_path: Path):
    with pytest.raises(SandboxUnavailable, match="no Docker engine answers at unix:///nowhere"):
        DockerRunner(host="unix:///nowhere", image="x").enforcement()
    with pytest.raises(SandboxUnavailable, match="lacks the image") as caught:
        DockerRunner(host=docker_engine.host, image="absent:1").enforcement()
    assert "docker pull" in str(caught.value)


def test_an_image_with_volumes_is_refused(runner, docker_engine, places):
    client = connect(docker_engine.host)
    made = client.containers.create(docker_engine.image, ["true"])
    image = made.commit(changes="VOLUME /data")
    made.remove()
    try:
        policy = SandboxPolicy(image=image.id)
        with pytest.raises(SandboxUnavailable, match="declares the volumes /data"):
            runner.run(["true"], policy, **places)
    finally:
        client.images.remove(image.id)
