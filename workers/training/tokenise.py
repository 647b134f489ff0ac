"""`python -m workers.training.tokenise --dataset DIR --base MODEL --rows DIR`: make rows from a dataset of texts.

A job whose source is `texts` does this automatically. This command is for inspecting the rows, and for other trainers.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from workers.training.models import load_tokenizer, template_hash, tokenizer_hash
from workers.training.problems import JobProblem
from workers.training.rows.texts import TEXTS, write_texts


def tokenise(dataset: Path, base: Path, rows: Path) -> dict[str, Any]:
    """Write `rows/00000.parquet`; return the number of rows and the hashes of tokenizer and template.

    Raises like `write_texts`.
    """
    tokenizer = load_tokenizer(base)
    count = write_texts(dataset / TEXTS, rows, tokenizer)
    return {"rows": count, "tokenizer": tokenizer_hash(tokenizer), "chat_template": template_hash(tokenizer)}


def main() -> int:
    """Make rows and print one JSON object; exit status 1 with the reason on failure."""
    parser = argparse.ArgumentParser(prog="python -m workers.training.tokenise", description=main.__doc__)
    parser.add_argument("--dataset", type=Path, required=True, help="folder of a version, with texts.jsonl")
    parser.add_argument("--base", type=Path, required=True, help="folder of the base model")
    parser.add_argument("--rows", type=Path, required=True, help="output folder: the job's rows/")
    given = parser.parse_args()
    try:
        print(json.dumps(tokenise(given.dataset, given.base, given.rows)))  # noqa: T201
    except JobProblem as problem:
        print(problem, file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
