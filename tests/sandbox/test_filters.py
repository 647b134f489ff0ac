"""The system call filters, interpreted as in the kernel, for both architectures."""

import errno
import struct
from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from workers.sandbox import seccomp
from workers.sandbox.syscalls import EVERY

ALLOWED, KILLED = "allowed", "killed"
PROCESSORS = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
PID = 4711


@pytest.fixture(params=PROCESSORS)
def processor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("workers.sandbox.seccomp.os.uname", lambda: SimpleNamespace(machine=request.param))
    return str(request.param)


def verdict(program: bytes, processor: str, call: str | int, arguments: Sequence[int] = ()) -> str:
    """The kernel's decision on a call: allowed, killed, or the name of the error."""
    architecture, column = PROCESSORS[processor]
    number = call if isinstance(call, int) else EVERY[call][column]
    assert number is not None
    data = struct.pack("=iIQ6Q", number, architecture, 0, *[*arguments, 0, 0, 0, 0, 0, 0][:6])
    return run(program, data)


def run(program: bytes, data: bytes) -> str:
    """Interpret classic BPF as far as our filters use it."""
    place, held = 0, 0
    while True:
        code, if_true, if_false, value = struct.unpack_from("=HBBI", program, 8 * place)
        place += 1
        if code == 0x20:
            held = struct.unpack_from("=I", data, value)[0]
        elif code == 0x54:
            held &= value
        elif code == 0x15:
            place += if_true if held == value else if_false
        elif code == 0x35:
            place += if_true if held >= value else if_false
        else:
            assert code == 0x06
            if value == 0x7FFF0000:
                return ALLOWED
            return KILLED if value == 0x80000000 else errno.errorcode[value & 0xFFFF]


@pytest.mark.parametrize(
    ("call", "arguments", "expected"),
    [
        ("read", (), ALLOWED),
        ("mmap", (), ALLOWED),
        ("mkdirat", (), ALLOWED),
        ("clone", (0x3D0F00,), ALLOWED),
        ("clone", (17,), "EPERM"),
        ("clone", (0x4111,), "EPERM"),
        ("clone", (0x3D0F00 | 0x10000000,), "EPERM"),
        ("clone3", (), "ENOSYS"),
        ("execve", (), "EPERM"),
        ("seccomp", (), "EPERM"),
        ("kill", (PID, 9), ALLOWED),
        ("kill", (1, 9), "EPERM"),
        ("kill", (0xFFFFFFFF, 9), "EPERM"),
        ("tgkill", (PID, PID, 6), ALLOWED),
        ("tgkill", (1, 1, 9), "EPERM"),
        ("prlimit64", (0, 9), ALLOWED),
        ("prlimit64", (1, 9), "EPERM"),
        ("prctl", (15,), ALLOWED),
        ("prctl", (4, 1), "EPERM"),
        ("socketpair", (1, 1 | 0x80000), ALLOWED),
        ("socketpair", (1, 2), "EPERM"),
        ("socketpair", (2, 1), "EPERM"),
        ("ioctl", (0, 0x5401), ALLOWED),
        ("ioctl", (0, 0x5412), "EPERM"),
        ("fcntl", (0, 3), ALLOWED),
        ("fcntl", (0, 8), "EPERM"),
        (425, (), "ENOSYS"),
        (4095, (), "ENOSYS"),
    ],
)
def test_the_filter_allows_only_calls_that_mathematics_needs(
    processor: str, call: str | int, arguments: tuple[int, ...], expected: str
) -> None:
    program = seccomp.locked_filter(PID, files_may_change=True)
    assert verdict(program, processor, call, arguments) == expected


@pytest.mark.parametrize("call", ["fchmodat", "unlinkat", "utimensat", "symlinkat", "truncate"])
def test_without_a_private_tmp_no_file_can_be_changed_by_name(processor: str, call: str) -> None:
    assert verdict(seccomp.locked_filter(PID, files_may_change=True), processor, call) == ALLOWED
    assert verdict(seccomp.locked_filter(PID, files_may_change=False), processor, call) == "EPERM"


def test_the_start_filter_allows_the_interpreter_but_no_new_process(processor: str) -> None:
    program = seccomp.start_filter()
    assert verdict(program, processor, "execve") == ALLOWED
    assert verdict(program, processor, "seccomp") == ALLOWED
    assert verdict(program, processor, "clone", (17,)) == "EPERM"
    assert verdict(program, processor, {"x86_64": 41, "aarch64": 198}[processor], (2, 1, 0)) == "EPERM"


def test_a_system_call_of_another_architecture_ends_the_process(processor: str) -> None:
    program = seccomp.locked_filter(PID, files_may_change=True)
    other = next(name for name in PROCESSORS if name != processor)
    assert run(program, struct.pack("=iIQ6Q", 0, PROCESSORS[other][0], 0, 0, 0, 0, 0, 0, 0)) == KILLED


def test_there_is_no_filter_for_an_unknown_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.sandbox.seccomp.os.uname", lambda: SimpleNamespace(machine="riscv64"))
    with pytest.raises(seccomp.UnknownProcessor, match="riscv64"):
        seccomp.start_filter()
