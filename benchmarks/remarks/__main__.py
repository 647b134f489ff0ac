"""`python -m benchmarks.remarks ALIAS`: model remarks on the authored attempts of the easy problems, with a real engine.

The engine runs in this process, without a stack. Each sentence of an attempt is a step. Prints a table in Markdown.
"""

import argparse
import asyncio
import os
from pathlib import Path

import django

from apps.reasoning.inference.aliases import load_usable
from apps.reasoning.inference.local import LocalDispatcher
from benchmarks.remarks.measured import Measured, cases, kept, measured, table
from benchmarks.startup import ROOT


def read_arguments() -> argparse.Namespace:
    """The arguments; ends with a message if the models file has no such model."""
    parser = argparse.ArgumentParser("python -m benchmarks.remarks", description=__doc__)
    parser.add_argument("alias", help="a model of the models file")
    parser.add_argument("--models", type=Path, default=ROOT / "apps" / "config" / "models.toml")
    parser.add_argument("--tokens", type=int, default=300, help="maximum new tokens per answer")
    parser.add_argument("--votes", type=int, default=3)
    parser.add_argument("--structured", action="store_true", help="request JSON under a schema at once, for a small model")
    parser.add_argument("--problems", type=int, default=12)
    parser.add_argument(
        "--answers", type=Path, help="file to write every result to, as JSON lines; its results are not asked for again"
    )
    parser.add_argument("--report", action="store_true", help="print the table of the file of --answers, without a call")
    given = parser.parse_args()
    usable = {} if given.report else load_usable(given.models)
    if not given.report and given.alias not in usable:
        parser.error(f"{given.models} has no usable model {given.alias}; it has {', '.join(usable) or 'none'}")
    return given


def main() -> None:
    """Load the model, ask it for remarks, and print the table."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
    django.setup()
    given = read_arguments()
    if given.report:
        print(table(kept(given.answers)))
        return
    from workers.backends import backend_for

    alias = load_usable(given.models)[given.alias]
    done = kept(given.answers) if given.answers is not None and given.answers.exists() else []
    known = {(one.case.slug, one.case.kind) for one in done}

    async def ask() -> list[Measured]:
        backend = backend_for(alias)
        try:
            return await measured(
                LocalDispatcher({alias.name: backend}),
                alias,
                [case for case in cases()[: 3 * given.problems] if (case.slug, case.kind) not in known],
                tokens=given.tokens,
                votes=given.votes,
                structured=given.structured,
                target=given.answers,
            )
        finally:
            await backend.close()

    print(table([*done, *asyncio.run(ask())]))


if __name__ == "__main__":
    main()
