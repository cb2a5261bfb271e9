"""Programs that try to get out of the sandbox, to take too much, or to leave traps. None succeeds.

Every attack also shows that it can be seen to succeed: where its effect is harmless it is run
without a sandbox, or with the limit in question lifted, and must then be seen.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from attack_range import (
    HERE,
    SMALL,
    VARIABLE,
    Host,
    MiB,
    Place,
    end_leftovers,
    interpreter,
    let_loose,
    run_plainly,
)

from repro_pipeline.errors import SandboxUnavailable
from repro_pipeline.ports import Runner
from repro_pipeline.sandbox.bubblewrap import BubblewrapRunner, find_binaries
from repro_pipeline.sandbox.folders import DEEPEST, size
from repro_pipeline.sandbox.local import UnsafeLocalRunner
from repro_pipeline.sandbox.outputs import printable, refused_outputs, safe_outputs
from repro_pipeline.sandbox.policy import Enforcement, Limits
from repro_pipeline.status import Status

ROOT = os.geteuid() == 0


@dataclass
class Range:
    """Where attacks run: the sandbox, the host, and fresh places."""

    sandbox: BubblewrapRunner
    host: Host
    folder: Path
    count: int = 0

    def place(self) -> Place:
        """A fresh place."""
        self.count += 1
        return Place(self.folder / f"place-{self.count}")

    def attack(self, name: str, limits: Limits = SMALL, runner: Runner | None = None) -> Place:
        """Let an attack loose in a fresh place."""
        return let_loose(name, runner or self.sandbox, self.place(), self.host, limits)

    def attack_plainly(self, name: str, seconds: float = 20) -> Place:
        """Run an attack in a fresh place without any runner."""
        return run_plainly(name, self.place(), self.host, seconds=seconds)


Check = Callable[[Place], None]
Proof = Callable[[Range, "Attack"], None]


def held(place: Place) -> None:
    """The program tried everything, and nothing worked."""
    assert place.outcome.status is Status.OK, place.said
    assert place.said.splitlines()[-1] == "HELD", place.said
    assert "BREACH" not in place.said


def seen_without_sandbox(scene: Range, attack: Attack) -> None:
    """The same program succeeds as a plain process."""
    place = scene.attack(attack.name, runner=UnsafeLocalRunner())
    assert "BREACH" in place.said, place.said


def seen_by_root(scene: Range, attack: Attack) -> None:
    """The same program succeeds as a plain process of root."""
    if not ROOT:
        pytest.skip("only root can show that this attack works outside the sandbox")
    seen_without_sandbox(scene, attack)


def seen_plainly(scene: Range, attack: Attack) -> None:
    """The same program succeeds as a process whose output is a file."""
    place = scene.attack_plainly(attack.name)
    assert "BREACH" in place.said, place.said


def seen_under(**lifted: float) -> Proof:
    """The same program succeeds in the sandbox when a limit is lifted."""

    def proof(scene: Range, attack: Attack) -> None:
        limits = SMALL.model_copy(update={**attack.limits, **lifted})
        place = scene.attack(attack.name, limits)
        assert "BREACH" in place.said, place.said

    return proof


def fails_check_under(**lifted: float) -> Proof:
    """With a limit lifted the observation of the attack's end no longer holds."""

    def proof(scene: Range, attack: Attack) -> None:
        limits = SMALL.model_copy(update={**attack.limits, **lifted})
        place = scene.attack(attack.name, limits)
        with pytest.raises(AssertionError):
            attack.check(place)

    return proof


def seen_by(naive: Check) -> Proof:
    """What the attack leaves without a sandbox would be taken by a naive observer."""

    def proof(scene: Range, attack: Attack) -> None:
        place = scene.attack_plainly(attack.name, seconds=3)
        try:
            naive(place)
        finally:
            end_leftovers(place)
            subprocess.run(["/bin/chmod", "-R", "u+rwX", place.out], check=False)
            subprocess.run(["/bin/rm", "-rf", place.out], check=True)

    return proof


# What is observed of single attacks --------------------------------------------------------------


def ended_by(word: str, status: Status = Status.BUDGET_EXHAUSTED) -> Check:
    """The run was ended, with that word in the reason."""

    def check(place: Place) -> None:
        assert place.outcome.status is status, place.outcome
        assert word in place.outcome.reason

    return check


def out_filled(place: Place) -> None:
    """The run was ended for its output, before it wrote many times what it may."""
    ended_by("wrote more")(place)
    assert size(place.out) + size(place.work) < 200 * SMALL.output


def inodes_filled(place: Place) -> None:
    ended_by("wrote more")(place)
    assert sum(path.stat().st_size for path in place.out.iterdir()) == 0


def few_forks(place: Place) -> None:
    assert place.outcome.status in {Status.TIMED_OUT, Status.FAILED, Status.BUDGET_EXHAUSTED}
    assert 2 <= len(list(place.out.iterdir())) <= SMALL.processes + 2


def only_sound(place: Place) -> None:
    """Of what lies in the output folder, only `sound.txt` is collected."""
    held(place)
    assert safe_outputs(place.out, SMALL.output) == (place.out / "sound.txt",)
    assert len(refused_outputs(place.out, SMALL.output)) >= 2


def giants_refused(place: Place) -> None:
    held(place)
    safe = safe_outputs(place.out, SMALL.output)
    assert sum(path.stat().st_size for path in safe) <= SMALL.output
    assert len(refused_outputs(place.out, SMALL.output)) >= 39


def removable(place: Place) -> None:
    """Whether it came to its end or was ended first, nothing is left that is nested too deep."""
    if place.outcome.status is not Status.OK:
        ended_by("cannot be measured")(place)
    assert not place.out.joinpath(*["d"] * (DEEPEST + 1)).exists()
    shutil.rmtree(place.out)


def deep(place: Place) -> None:
    assert place.out.joinpath(*["d"] * 4 * DEEPEST).exists()


def names_refused(place: Place) -> None:
    held(place)
    assert safe_outputs(place.out, SMALL.output) == (place.out / "-rf",)
    assert len(refused_outputs(place.out, SMALL.output)) == 4


def names_listed(place: Place) -> None:
    assert len(list(place.out.iterdir())) == 5


def tamed(place: Place) -> None:
    """No set-user bits, and all belongs to us."""
    held(place)
    info = (place.out / "shell").stat()
    assert not info.st_mode & 0o7000
    assert (info.st_uid, info.st_gid) == (os.geteuid(), os.getegid())


def set_user(place: Place) -> None:
    assert (place.out / "shell").stat().st_mode & stat.S_ISUID


def readable(place: Place) -> None:
    held(place)
    assert (place.out / "closed" / "file").stat().st_mode & 0o700 == 0o600
    assert (place.out / "closed").stat().st_mode & 0o700 == 0o700
    shutil.rmtree(place.out)


def closed(place: Place) -> None:
    assert place.out.stat().st_mode & 0o777 == 0


def links_followed(place: Place) -> None:
    assert "metrics.json" in {path.name for path in place.out.rglob("*") if path.is_file()}


def fifo_listed(place: Place) -> None:
    assert (place.out / "predictions.parquet").exists()


def nothing_left(place: Place) -> None:
    held(place)
    before = {path: path.read_text() for path in place.out.iterdir()}
    time.sleep(0.2)
    assert {path: path.read_text() for path in place.out.iterdir()} == before


def something_left(place: Place) -> None:
    assert place.leftovers()


def survived_term(place: Place) -> None:
    assert "HELD" in place.said


def log_capped(place: Place) -> None:
    ended_by("wrote more")(place)
    assert place.log.stat().st_size <= SMALL.output


def log_harmless(place: Place) -> None:
    raw = place.log.read_bytes()
    assert b"\x1b[2J\x1b]0;owned\x07\x1b[31mred" in raw, "the log is the evidence: kept as it was"
    text = printable(raw)
    assert not set(text) & {chr(code) for code in (*range(9), *range(11, 32), 127, 0x9B)}


def escapes_in_log(place: Place) -> None:
    assert "\x1b[2J" in place.said


def no_core(place: Place) -> None:
    assert place.outcome.status is Status.FAILED
    assert place.outcome.exit_code == 128 + signal.SIGABRT
    assert not [*place.work.glob("core*"), *place.out.glob("core*")]


def core_found(place: Place) -> None:
    if Path("/proc/sys/kernel/core_pattern").read_text().strip() != "core":
        pytest.skip("this host sends core dumps elsewhere")
    assert [*place.work.glob("core*")]


def slow(place: Place) -> None:
    """A tenth of a processor was had, start-up included."""
    if place.outcome.enforcement["cpus"] is Enforcement.UNAVAILABLE:
        pytest.skip("no control group for CPU time can be had here")
    held(place)
    assert place.outcome.cpu_seconds / place.outcome.seconds < 0.2


@dataclass(frozen=True)
class Attack:
    """A program, what must be observed, and how it is shown that the observation can fail."""

    name: str
    proof: Proof
    check: Check = held
    limits: tuple[tuple[str, float], ...] = ()


def attack(name: str, proof: Proof, check: Check = held, **limits: float) -> Attack:
    """One row of the table."""
    return Attack(name, proof, check, tuple(limits.items()))


local, root, plain = seen_without_sandbox, seen_by_root, seen_plainly
ATTACKS = [
    # reading what was not given
    attack("read_host_file", local),
    attack("list_host_folders", local),
    attack("read_through_proc", local),
    attack("climb_out_of_out", local),
    attack("read_accounts", local),
    attack("read_other_run", local),
    attack("read_sealed_labels", local),
    attack("read_secrets_in_environ", local),
    attack("read_secrets_in_memory", local),
    attack("see_host_processes", local),
    attack("see_command_line_of_sandbox", local),
    attack("use_inherited_files", plain),
    # writing what is not its own
    attack("write_system", root),
    attack("write_environment", local),
    attack("change_inputs", local),
    attack("change_inputs_by_link", local),
    attack("change_inputs_by_symlink", local),
    attack("write_through_own_memory", local),
    attack("tamper_with_other_run", local),
    # traps among the results
    attack("link_out_to_secret", seen_by(links_followed), only_sound),
    attack("leave_fifo_and_socket", seen_by(fifo_listed), only_sound),
    attack("make_devices", root),
    attack("leave_sparse_giant", seen_plainly, giants_refused),
    attack("nest_deep", seen_by(deep), removable, output=8 * MiB),
    attack("leave_bad_names", seen_by(names_listed), names_refused),
    attack("leave_set_user_file", seen_by(set_user), tamed),
    attack("leave_unreadable", seen_by(closed), readable),
    # taking too much
    attack("fill_disk", fails_check_under(output=1 << 40, wall_clock=0.5), out_filled),
    attack("fill_work", fails_check_under(output=1 << 40, wall_clock=0.5), out_filled),
    attack("fill_inodes", fails_check_under(output=1 << 40, wall_clock=0.5), inodes_filled),
    attack("hold_deleted_files", seen_under(output=1 << 40), ended_by("wrote more"), output=8 * MiB),
    attack("hide_in_depth", seen_plainly, ended_by("cannot be measured"), output=8 * MiB),
    attack("one_large_file", seen_under(output=8 * MiB)),
    attack("fill_memory_file_systems", seen_under(scratch=16 * MiB, output=64 * MiB), output=64 * MiB),
    attack("fork_bomb", fails_check_under(processes=64), few_forks, wall_clock=2.0),
    attack("thread_bomb", seen_under(processes=400)),
    attack(
        "memory_bomb",
        fails_check_under(memory=1 << 40, wall_clock=0.5),
        ended_by("memory"),
        memory=96 * MiB,
    ),
    attack(
        "memory_bomb_of_many",
        fails_check_under(memory=1 << 30, wall_clock=2),
        ended_by("memory"),
        memory=128 * MiB,
    ),
    attack(
        "memory_bomb_in_scratch",
        fails_check_under(scratch=4 * MiB),
        ended_by("memory"),
        memory=96 * MiB,
        scratch=1 << 30,
        output=1 << 30,
    ),
    attack("open_many_files", seen_under(open_files=1024)),
    attack("raise_limits", root),
    attack("take_all_processors", fails_check_under(cpus=2), slow, cpus=0.1),
    # outliving the run
    attack("daemonize", seen_by(something_left), nothing_left),
    attack("hold_output_open", seen_by(something_left), held),
    attack("ignore_signals", seen_by(survived_term), ended_by("longer", Status.TIMED_OUT), wall_clock=2.0),
    # other processes and the kernel
    attack("kill_host", local),
    attack("trace_init", local),
    attack("mount_things", root),
    attack("become_root", root),
    attack("make_namespaces", root),
    attack("set_kernel", root),
    attack("call_kernel", local),
    attack("change_root", root),
    attack("reach_control_groups", local),
    attack("take_terminal", local),
    attack("dump_core", seen_by(core_found), no_core),
    # the network
    attack("connect_to_loopback", local),
    attack("find_routes", local),
    attack("resolve_names", local),
    attack("connect_to_unix_sockets", local),
    attack("open_odd_sockets", root),
    # the log
    attack("flood_log", fails_check_under(output=16 * MiB), log_capped),
    attack("steer_terminal", seen_by(escapes_in_log), log_harmless),
    attack("rewrite_log", plain),
]  # fmt: skip
TABLE = [pytest.param(row, id=row.name) for row in ATTACKS]


@pytest.fixture(scope="session")
def scene(tmp_path_factory: pytest.TempPathFactory):
    try:
        sandbox = BubblewrapRunner()
        sandbox.enforcement()
    except SandboxUnavailable as error:
        if not error.hint:  # this host forbids nothing: the sandbox is broken
            raise
        pytest.skip(f"no sandbox can be made here: {error}")
    host = Host.set_up(tmp_path_factory.mktemp("host"))
    yield Range(sandbox, host, tmp_path_factory.mktemp("places"))
    host.close()


@pytest.mark.parametrize("row", TABLE)
def test_attack_fails(scene: Range, row: Attack):
    place = scene.place()
    before, groups = place.inputs(), empty_groups()
    limits = SMALL.model_copy(update=dict(row.limits))
    let_loose(row.name, scene.sandbox, place, scene.host, limits)
    assert place.leftovers() == []
    assert place.inputs() == before
    assert scene.host.secret.read_text() == "secret"
    assert scene.host.secret.stat().st_uid == os.geteuid()
    assert empty_groups() <= groups
    row.check(place)


@pytest.mark.parametrize("row", TABLE)
def test_attack_can_be_seen(scene: Range, row: Attack):
    row.proof(scene, Attack(row.name, row.proof, row.check, dict(row.limits)))


def test_every_program_is_in_the_table():
    programs = {path.stem for path in HERE.glob("programs/*.py") if "ask_" not in path.stem}
    assert programs == {row.name for row in ATTACKS} | {"send_datagrams"}
    assert len(programs) >= 40


def test_datagrams_do_not_arrive(scene: Range):
    scene.attack("send_datagrams", runner=UnsafeLocalRunner())
    assert scene.host.udp.recv(100) == b"hello"
    place = scene.attack("send_datagrams")
    assert place.outcome.status is Status.OK, place.said
    with pytest.raises(TimeoutError):
        scene.host.udp.recv(100)


def empty_groups() -> set[Path]:
    """The control groups that some sandbox left on this host."""

    def empty() -> set[Path]:
        groups = Path("/sys/fs/cgroup").glob("**/repro-sandbox-*/cgroup.procs")
        return {group for group in groups if group.exists() and not group.read_text()}

    found = empty()
    if found:  # those of other sandboxes, which begin or end at this moment, do not count
        time.sleep(0.5)
        found &= empty()
    return found


def test_launcher_environment_is_not_seen(scene: Range):
    """The environment of whoever starts the run is nowhere to be read, its own init included."""
    place = scene.place()
    driver = (
        "import sys; from pathlib import Path; sys.path[:0] = sys.argv[1:3]\n"
        "from attack_range import *; from repro_pipeline.sandbox.bubblewrap import BubblewrapRunner\n"
        "place = Place(Path(sys.argv[3])); host = Host.set_up(Path(sys.argv[4]))\n"
        "let_loose('read_secrets_in_environ', BubblewrapRunner(), place, host, SMALL); host.close()\n"
    )
    folders = [scene.folder / "driven", scene.folder / "driving-host"]
    folders[1].mkdir()
    subprocess.run(
        [sys.executable, "-c", driver, str(HERE), str(HERE.parents[1]), *map(str, folders)],
        env={**os.environ, VARIABLE: "secret"},
        check=True,
    )
    assert (folders[0] / "log").read_text().splitlines()[-1] == "HELD"

    # The observation can fail: bubblewrap's own `--clearenv` leaves the variable in its init.
    (place.work / "facts.json").write_text(f'{{"variable": "{VARIABLE}"}}')
    options = ["--unshare-all", "--clearenv", "--ro-bind", "/", "/", "--proc", "/proc"]
    program = [interpreter()[0], "-S", "read_secrets_in_environ.py"]
    done = subprocess.run(
        [find_binaries()[0], *options, "--chdir", place.work, "--", *program],
        env={VARIABLE: "secret"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "BREACH: the secret is in /proc/1/environ" in done.stdout, done.stderr
