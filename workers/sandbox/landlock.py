"""Landlock, the kernel's fence that needs no privileges: the process may read the given folders and change nothing.

Calls use system call numbers (landlock(7)), which are the same on every processor. Landlock does not restrict sockets, changes
of modes and times by the owner, or processes; the system call filter does.
"""

import ctypes
import os
import struct
from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_RULE_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
#: Rights over files by the interface version that added them: bits 0-12, refer, truncate, device ioctl.
_FILE_RIGHTS = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_NET_RIGHTS, _SCOPES = 3, 3
_PR_SET_NO_NEW_PRIVS = 38
#: The first version that restricts truncation: with older ones, code could empty a file of the same user.
OLDEST = 3


def version() -> int:
    """The kernel's Landlock interface version; 0 if it has none."""
    try:
        return max(0, int(ctypes.CDLL(None).syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)))
    except (OSError, AttributeError):
        return 0


def restrict(read: Iterable[str], write: Iterable[str] = ()) -> None:
    """Restrict this process to reading below `read` and writing to the files `write`. Raises `OSError`."""
    known = version()
    if known < OLDEST:
        raise OSError(f"Landlock {known} is too old; {OLDEST} is needed")
    libc = ctypes.CDLL(None, use_errno=True)
    rights = _FILE_RIGHTS[min(known, 5)]
    fields = [rights, *([_NET_RIGHTS] if known >= 4 else []), *([_SCOPES] if known >= 6 else [])]
    attributes = struct.pack(f"{len(fields)}Q", *fields)
    rules = _called(libc, _CREATE_RULESET, ctypes.c_char_p(attributes), ctypes.c_size_t(len(attributes)), 0)
    try:
        for paths, granted in ((read, _READ_FILE | _READ_DIR), (write, _READ_FILE | _WRITE_FILE)):
            for path in paths:
                _grant(libc, rules, path, granted)
        if libc.prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "could not drop privileges")
        _called(libc, _RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def _grant(libc: ctypes.CDLL, rules: int, path: str, granted: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not os.path.isdir(path):  # noqa: PTH112 - runs before anything but the basics is imported
            granted &= ~_READ_DIR
        _called(libc, _ADD_RULE, rules, _RULE_PATH_BENEATH, ctypes.c_char_p(struct.pack("=Qi", granted, opened)), 0)
    finally:
        os.close(opened)


def _called(libc: ctypes.CDLL, number: int, *arguments: object) -> int:
    result = int(libc.syscall(number, *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"Landlock refused: {os.strerror(code)}")
    return result
