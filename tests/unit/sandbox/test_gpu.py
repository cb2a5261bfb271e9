"""Graphics cards: none unless asked, refused with a sentence where there is none, bound where there is."""

from __future__ import annotations

from pathlib import Path

import pytest
from sandbox_bench import Bench

from repro_pipeline.errors import SandboxUnavailable
from repro_pipeline.sandbox import bubblewrap
from repro_pipeline.sandbox.gpu import (
    Gpu,
    chosen_gpus,
    driver_version,
    gpu_devices,
    gpu_variables,
    installed_gpus,
)
from repro_pipeline.sandbox.policy import SandboxPolicy
from repro_pipeline.status import Status

CARD = "Model: \t\t NVIDIA A100\nIRQ: 1\nGPU UUID: \t GPU-aa-{0}\nDevice Minor: \t {0}\n"


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """The files of a driver with the cards 0 and 1."""
    for number in (1, 0):
        card = tmp_path / f"proc/driver/nvidia/gpus/0000:0{number}:00.0"
        card.mkdir(parents=True)
        (card / "information").write_text(CARD.format(number))
    version = (
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22\nGCC version: 12\n"
    )
    (tmp_path / "proc/driver/nvidia/version").write_text(version)
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "nvidiactl").touch()
    return tmp_path


def test_the_driver_lists_its_cards(host: Path, tmp_path: Path):
    assert installed_gpus(host) == (
        Gpu(0, "NVIDIA A100", "GPU-aa-0"),
        Gpu(1, "NVIDIA A100", "GPU-aa-1"),
    )
    assert "550.54.14" in driver_version(host)
    assert (
        installed_gpus(tmp_path / "nowhere") == () and driver_version(tmp_path / "nowhere") is None
    )


def test_a_card_whose_uuid_is_not_told_is_shown_by_its_number(host: Path):
    (sleeping,) = host.glob("proc/driver/nvidia/gpus/0000:01*/information")
    unknown = "GPU-????????-????-????-????-????????????"
    sleeping.write_text(sleeping.read_text().replace("GPU-aa-1", unknown))
    one, both = chosen_gpus([1], host), chosen_gpus([0, 1], host)
    assert gpu_variables(one, alone=True) == {"CUDA_VISIBLE_DEVICES": "0"}
    assert gpu_variables(one, alone=False) == {"CUDA_VISIBLE_DEVICES": "1"}
    assert gpu_variables(both, alone=True) == {"CUDA_VISIBLE_DEVICES": "0,1"}
    assert gpu_variables((), alone=True) == {}


def test_a_card_that_is_not_there_is_refused(host: Path, tmp_path: Path):
    with pytest.raises(
        SandboxUnavailable, match=r"card 2, and this host has only 0 \(NVIDIA A100\)"
    ):
        chosen_gpus([0, 2], host)
    with pytest.raises(SandboxUnavailable, match="none with an NVIDIA driver"):
        chosen_gpus([0], tmp_path / "nowhere")


def test_a_run_is_given_its_card_and_no_other(
    host: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(bubblewrap, "chosen_gpus", lambda numbers: chosen_gpus(numbers, host))
    monkeypatch.setattr(bubblewrap, "gpu_devices", lambda gpus: gpu_devices(gpus, host))
    places = {name: tmp_path / name for name in ("workdir", "out", "log")}
    for path in places.values():
        path.mkdir()

    def arguments(*gpus: int) -> list[str]:
        job = bubblewrap.make_job(
            ["true"], SandboxPolicy(gpus=gpus), binary=Path("/bin/true"), expected={}, **places
        )
        return job.data[0].decode().split("\0")

    asked, default = arguments(1), arguments()
    assert [one for one in asked if "nvidia" in one] == ["/dev/nvidia1"] * 2 + [
        "/dev/nvidiactl"
    ] * 2
    assert asked[asked.index("CUDA_VISIBLE_DEVICES") + 1] == "GPU-aa-1"
    assert not [one for one in default if "nvidia" in one]
    assert default[default.index("CUDA_VISIBLE_DEVICES") + 1] == ""


def test_runners_refuse_a_card_that_this_host_lacks(bench: Bench):
    missing = 1 + max((gpu.number for gpu in installed_gpus()), default=-1)
    with pytest.raises(SandboxUnavailable, match=f"graphics card {missing}"):
        bench.run("/bin/true", policy=SandboxPolicy(gpus=(missing,)))


def test_a_card_is_seen_in_the_sandbox(sandbox: Bench):
    cards = installed_gpus()
    if not cards:
        pytest.skip("this machine has no graphics card with an NVIDIA driver")
    number = cards[0].number
    outcome = sandbox.run(
        "/bin/sh", "-c", f"test -w /dev/nvidia{number}", policy=SandboxPolicy(gpus=(number,))
    )
    assert outcome.status is Status.OK
