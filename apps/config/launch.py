"""`python launch.py COMMAND…`: become COMMAND, tied to the life of the parent.

A supervisor that is killed with -9 cannot stop its children; on Linux the kernel does it for us (PR_SET_PDEATHSIG survives
exec). Elsewhere the next `up` finds what is left by its socket and says so.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Replace this process by the command on the command line."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606  (the command comes from our own supervisor file)


if __name__ == "__main__":
    main()
