"""`python -m apps.geometry "STATEMENT"`: the outcome of every goal; with `--svg`, the figure instead."""

import sys
from pathlib import Path

from apps.geometry.engine import prove, with_proof
from apps.geometry.showing import shown, shown_goals

PYTHON = Path(__file__).resolve().parents[2] / ".venv-geometry" / "bin" / "python"


def main(arguments: list[str]) -> int:
    """Print the answer. Exit status 2 for a statement that cannot be read, 1 for a refuted goal."""
    texts = [argument for argument in arguments if argument != "--svg"]
    found = shown(texts[0] if texts else sys.stdin.read())
    if found.check is None:
        sys.stderr.write(f"{found.error}\n")
        return 2
    if "--svg" in arguments:
        sys.stdout.write(f"{found.drawing}\n")
        return 0
    proof = prove(found.check, PYTHON)
    goals = shown_goals(with_proof(found.check, proof))
    for goal in goals:
        sys.stdout.write(f"{goal.word}: {goal.words}. {goal.detail}\n")
    sys.stdout.write(
        "\n".join([proof.reason, *(line for one in proof.found for line in (*one.checks, *one.steps))]).strip() + "\n"
    )
    return int(any(goal.outcome == "refuted" for goal in goals))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
