"""`python -m workers.library FOLDER`: the index of the documentation of an environment, made where it is missing or old."""

import subprocess
import sys
from pathlib import Path

from workers.library.index import build, is_fresh


def main(arguments: list[str]) -> int:
    """0 where there is an index now, 1 with a sentence where it could not be made, 2 for a wrong command line."""
    if len(arguments) != 1:
        print("usage: python -m workers.library FOLDER", file=sys.stderr)  # noqa: T201
        return 2
    folder = Path(arguments[0])
    try:
        if not is_fresh(folder):
            print(f"{build(folder):,} passages of documentation can be searched.")  # noqa: T201
    except (OSError, subprocess.SubprocessError) as error:
        print(f"The documentation could not be indexed ({error}).", file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
