"""`python -m workers.library FOLDER`: index the documentation of an environment if the index is missing or outdated."""

import subprocess
import sys
from pathlib import Path

from workers.library.index import build, is_fresh


def main(arguments: list[str]) -> int:
    """Build the index. Exit status: 0 if there is an index now, 1 if it could not be built, 2 for a wrong command line."""
    if len(arguments) != 1:
        print("usage: python -m workers.library FOLDER", file=sys.stderr)  # noqa: T201
        return 2
    folder = Path(arguments[0])
    try:
        if not is_fresh(folder):
            print(f"Indexed {build(folder):,} passages of documentation.")  # noqa: T201
    except (OSError, subprocess.SubprocessError) as error:
        print(f"Could not index the documentation, so models cannot search it ({error}).", file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
