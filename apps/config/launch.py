"""`python launch.py COMMAND…`: replace this process by COMMAND, which ends when its parent ends.

A supervisor killed with -9 cannot stop its children. On Linux the kernel stops them (PR_SET_PDEATHSIG survives exec). On other
systems the next `up` detects remaining processes by their socket and reports them.
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
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606  (the command is in our own supervisor file)


if __name__ == "__main__":
    main()
