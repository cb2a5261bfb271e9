"""The NVIDIA cards of a host, as its driver lists them, and what a run needs to use one.

Read from `/proc/driver/nvidia`, which the driver writes; no tool of the vendor is called. A card has
the number of its device, `/dev/nvidia<number>`. The driver's libraries must lie below `/usr`, which
every run sees. Other makers' cards are not known. Never tried on a machine with a card so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from repro_pipeline.errors import SandboxUnavailable

_DRIVER = "proc/driver/nvidia"
_SHARED = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")
"""Devices that every card is used through; the last one only by some tools."""


class Gpu(NamedTuple):
    """A card."""

    number: int
    model: str
    uuid: str
    """Empty where the driver does not tell it."""


def installed_gpus(root: Path = Path("/")) -> tuple[Gpu, ...]:
    """The cards of this host, by number; none where there is no driver."""
    found = []
    for file in sorted((root / _DRIVER / "gpus").glob("*/information")):
        pairs = [line.partition(":")[::2] for line in file.read_text(errors="replace").splitlines()]
        told = {name.strip(): value.strip() for name, value in pairs}
        if told.get("Device Minor", "").isdigit():
            number = int(told["Device Minor"])
            uuid = told.get("GPU UUID", "")
            known = "" if "?" in uuid else uuid  # GPU-????…: the driver has not woken the card yet
            found.append(Gpu(number, told.get("Model", "unknown"), known))
    return tuple(sorted(found))


def driver_version(root: Path = Path("/")) -> str | None:
    """The driver as it names itself; None where there is none."""
    file = root / _DRIVER / "version"
    if not file.is_file():
        return None
    first = file.read_text(errors="replace").splitlines()[0]
    return " ".join(first.removeprefix("NVRM version:").split())


def chosen_gpus(numbers: Sequence[int], root: Path = Path("/")) -> tuple[Gpu, ...]:
    """The cards of these numbers. Raises SandboxUnavailable where this host lacks one."""
    there = {gpu.number: gpu for gpu in installed_gpus(root)}
    for number in numbers:
        if number not in there:
            listed = ", ".join(f"{one.number} ({one.model})" for one in there.values())
            raise SandboxUnavailable(
                f"the policy asks for graphics card {number}, and this host has "
                f"{f'only {listed}' if listed else 'none with an NVIDIA driver'}.",
                hint="Take it out of `gpus`, or use a host that has it.",
            )
    return tuple(there[number] for number in dict.fromkeys(numbers))


def gpu_devices(gpus: Sequence[Gpu], root: Path = Path("/")) -> tuple[str, ...]:
    """The device files that a run with these cards must have, as paths of the host."""
    if not gpus:
        return ()
    shared = [name for name in _SHARED if (root / "dev" / name).exists()]
    return tuple(f"/dev/{name}" for name in (*(f"nvidia{gpu.number}" for gpu in gpus), *shared))


def gpu_variables(gpus: Sequence[Gpu], *, alone: bool) -> dict[str, str]:
    """What shows these cards, and no other, to CUDA: by uuid, or by number where one is not told.

    `alone` says that a run has the devices of these cards alone: then CUDA's numbers begin anew.
    """
    shown = [gpu.uuid for gpu in gpus]
    if not all(shown):
        shown = [str(place if alone else gpu.number) for place, gpu in enumerate(gpus)]
    return {"CUDA_VISIBLE_DEVICES": ",".join(shown)} if gpus else {}
