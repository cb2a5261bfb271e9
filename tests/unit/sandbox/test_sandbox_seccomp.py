"""The filter, run instruction by instruction, refuses what it says and lets the rest through."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import pytest

from repro_pipeline.sandbox import seccomp

X86_64, ARM64 = 0xC000003E, 0xC00000B7
ALLOW, KILL = 0x7FFF0000, 0x80000000


def verdict(program: bytes, machine: int, number: int, *arguments: int) -> int:
    """What the kernel would answer: a small machine for the part of BPF that seccomp allows."""
    padded = (*arguments, *[0] * (6 - len(arguments)))
    data = struct.pack("=IIQ6Q", number & 0xFFFFFFFF, machine, 0, *padded)
    lines = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    at, accumulator = 0, 0
    while True:
        code, if_true, if_false, value = lines[at]
        at += 1
        if code == 0x06:
            return value
        if code == 0x20:
            accumulator = struct.unpack_from("=I", data, value)[0]
            continue
        test = {
            0x15: accumulator == value,
            0x35: accumulator >= value,
            0x45: bool(accumulator & value),
        }[code]
        at += if_true if test else if_false


def error(number: int) -> int:
    return 0x00050000 | number


@pytest.fixture
def x86() -> bytes:
    return seccomp.program("x86_64")


def test_ordinary_calls_are_let_through(x86: bytes):
    for number in (0, 1, 2, 9, 56, 57, 59, 186, 202, 231, 257, 319):
        assert verdict(x86, X86_64, number) == ALLOW


def test_dangerous_calls_are_refused(x86: bytes):
    for number in (101, 165, 272, 308, 321, 425, 435 + 7):
        assert verdict(x86, X86_64, number) == error(errno.EPERM)


def test_a_thread_can_be_cloned_and_a_namespace_cannot(x86: bytes):
    thread = 0x3D0F00
    assert verdict(x86, X86_64, 56, thread) == ALLOW
    assert verdict(x86, X86_64, 56, 17) == ALLOW
    for flag in (
        0x10000000,
        0x20000000,
        0x40000000,
        0x00020000,
        0x08000000,
        0x04000000,
        0x02000000,
    ):
        assert verdict(x86, X86_64, 56, flag | 17) == error(errno.EPERM)
    assert verdict(x86, X86_64, 435) == error(errno.ENOSYS)


def test_only_four_families_of_sockets(x86: bytes):
    for call in (41, 53):
        allowed = {family for family in range(50) if verdict(x86, X86_64, call, family) == ALLOW}
        assert allowed == {1, 2, 10, 16}
    assert verdict(x86, X86_64, 41, 40) == error(errno.EAFNOSUPPORT)


def test_other_machines_calls_are_no_way_around(x86: bytes):
    assert verdict(x86, 0x40000003, 26) == KILL
    assert verdict(x86, X86_64, 0x40000000 | 39) == error(errno.EPERM)


def test_arm_has_its_own_numbers():
    program = seccomp.program("aarch64")
    assert verdict(program, ARM64, 117) == error(errno.EPERM)
    assert verdict(program, ARM64, 63) == ALLOW
    assert verdict(program, ARM64, 198, 40) == error(errno.EAFNOSUPPORT)
    assert verdict(program, X86_64, 63) == KILL


def test_an_unknown_machine_has_no_filter():
    assert seccomp.program("riscv64") is None


@pytest.mark.parametrize(
    ("calls", "header"),
    [(seccomp._X86_64, "asm/unistd_64.h"), (seccomp._ARM64, "asm-generic/unistd.h")],
)
def test_the_numbers_are_those_of_the_kernels_headers(calls: dict[str, int], header: str):
    places = [*Path("/usr/include").glob(header), *Path("/usr/include").glob(f"*/{header}")]
    if not places:
        pytest.skip("the kernel's headers are not installed")
    text = places[0].read_text()
    known = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text))
    assert len(set(calls) & set(known)) > 40
    assert {name: int(known[name]) for name in calls if name in known} == {
        name: number for name, number in calls.items() if name in known
    }
