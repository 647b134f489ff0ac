"""The system call filters, written here as classic BPF, so that neither a compiler nor a library is needed.

All other calls fail: with ENOSYS if the call came with Linux 5.1 or later (libraries then use the older call), otherwise with
EPERM. A process with such a filter can create threads but no process. It opens no socket to any address and signals no other
process. It cannot use the calls through which kernels are attacked (bpf, io_uring, keys, namespaces, mounts, tracing, …). See
seccomp(2) and linux/filter.h.
"""

import ctypes
import errno
import os
import struct
import sys

from workers.sandbox import syscalls

_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_ALLOW, _KILL_PROCESS, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
_AT_NUMBER, _AT_ARCHITECTURE, _AT_ARGUMENTS = 0, 4, 16
#: Calls from this number on have the same number on every processor and came with Linux 5.1 or later.
_YOUNG = 424

_CLONE_THREAD, _CLONE_NEW_ANYTHING = 0x00010000, 0x7E020000
_WHOLE = 0xFFFFFFFF
_AF_UNIX, _SOCK_STREAM, _SOCK_TYPE = 1, 1, 0xF
_PR_SET_NAME, _PR_GET_NAME, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _PR_SET_VMA = 15, 16, 38, 22, 0x53564D41
_SECCOMP_MODE_FILTER = 2
#: Duplicate, flags, locks, size of a pipe. Never the receiver of a descriptor's signals.
_FCNTLS = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1031, 1032)
#: isatty, window size, bytes waiting, (non-)blocking, close on exec: the requests of Python's files. Never TIOCSTI.
_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)

#: Number of an argument, mask, the values allowed after masking.
_Condition = tuple[int, int, tuple[int, ...]]


class UnknownProcessor(Exception):
    """No filter is written for this processor."""


def start_filter() -> bytes:
    """The filter that bubblewrap sets: `locked_filter` and the calls that the interpreter still needs to lock itself."""
    program = _Program()
    program.allow(syscalls.FILES_CHANGED, *("execve", "prctl", "prlimit64", "setrlimit", "seccomp", "kill", "tgkill"))
    return program.finish()


def locked_filter(pid: int, *, files_may_change: bool) -> bytes:
    """The filter that the interpreter sets on itself before it reads any code. `pid` is its own id in its namespace."""
    program = _Program()
    if files_may_change:
        program.allow(syscalls.FILES_CHANGED)
    program.allow_where("kill", (0, _WHOLE, (pid,)))
    program.allow_where("tgkill", (0, _WHOLE, (pid,)))
    program.allow_where("prlimit64", (0, _WHOLE, (0,)))
    program.allow_where("prctl", (0, _WHOLE, (_PR_SET_NAME, _PR_GET_NAME, _PR_SET_VMA)))
    return program.finish()


def lock(program: bytes) -> None:
    """Set a filter on this process permanently. Raises `OSError`."""
    libc = ctypes.CDLL(None, use_errno=True)
    held = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(held))
    for option, first, second in ((_PR_SET_NO_NEW_PRIVS, 1, None), (_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, described)):
        if libc.prctl(option, ctypes.c_ulong(first), ctypes.c_char_p(second) if second else 0, 0, 0) != 0:
            code = ctypes.get_errno()
            raise OSError(code, f"could not set the system call filter: {os.strerror(code)}")


class _Program:
    """Instructions in order. Every rule ends with a return, so that later rules still see the call's number."""

    def __init__(self) -> None:
        machine = os.uname().machine
        if machine not in _ARCHITECTURES or sys.platform != "linux":
            raise UnknownProcessor(f"no system call filter is written for {machine}")
        architecture, self._column = _ARCHITECTURES[machine]
        self._code: list[bytes] = []
        self._add(_LOAD, _AT_ARCHITECTURE)
        self._add(_JUMP_IF_EQUAL, architecture, 1, 0)
        self._add(_RETURN, _KILL_PROCESS)
        self._add(_LOAD, _AT_NUMBER)
        groups = (syscalls.FILES_READ, syscalls.MEMORY, syscalls.THREADS, syscalls.SIGNALS, syscalls.CLOCKS)
        for group in (*groups, syscalls.WAITING, syscalls.INFORMATION):
            self.allow(group)
        self.allow_where("clone", (0, _CLONE_THREAD | _CLONE_NEW_ANYTHING, (_CLONE_THREAD,)))
        self.allow_where("fcntl", (1, _WHOLE, _FCNTLS))
        self.allow_where("ioctl", (1, _WHOLE, _IOCTLS))
        # A datagram socket could send to any address; one end of a stream pair reaches the other end only.
        self.allow_where("socketpair", (0, _WHOLE, (_AF_UNIX,)), (1, _SOCK_TYPE, (_SOCK_STREAM,)))
        # Its flags are in memory, where a filter cannot read them. On ENOSYS the C library uses clone.
        self._rule("clone3", [(_RETURN, _REFUSE | errno.ENOSYS, 0, 0)])

    def allow(self, *calls: str | syscalls.Numbers) -> None:
        for call in calls:
            for name in [call] if isinstance(call, str) else call:
                self._rule(name, [(_RETURN, _ALLOW, 0, 0)])

    def allow_where(self, name: str, *conditions: _Condition) -> None:
        """Allow `name` if the lower half of each argument, masked, is one of the values.

        The kernel itself reads only the lower half of these arguments.
        """
        refuse = (_RETURN, _REFUSE | errno.EPERM, 0, 0)
        rule = []
        for argument, mask, values in conditions:
            rule += [(_LOAD, _AT_ARGUMENTS + 8 * argument, 0, 0), (_AND, mask, 0, 0)]
            rule += [(_JUMP_IF_EQUAL, value, len(values) - index, 0) for index, value in enumerate(values)]
            rule.append(refuse)
        self._rule(name, [*rule, (_RETURN, _ALLOW, 0, 0)])

    def finish(self) -> bytes:
        self._add(_JUMP_IF_AT_LEAST, _YOUNG, 0, 1)
        self._add(_RETURN, _REFUSE | errno.ENOSYS)
        self._add(_RETURN, _REFUSE | errno.EPERM)
        return b"".join(self._code)

    def _rule(self, name: str, rule: list[tuple[int, int, int, int]]) -> None:
        number = syscalls.EVERY[name][self._column]
        if number is not None:
            self._add(_JUMP_IF_EQUAL, number, 0, len(rule))
            for instruction in rule:
                self._add(*instruction)

    def _add(self, code: int, value: int, if_true: int = 0, if_false: int = 0) -> None:
        self._code.append(struct.pack("HBBI", code, if_true, if_false, value))
