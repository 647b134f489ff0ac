"""The leak test over the hints of the sample library, and over sentences copied from its solutions.

The test compares texts. It can miss a key idea in other words, so people read the hints as well.
"""

import os
import re
from dataclasses import replace

import django

from benchmarks.figures import Figure

HINTS_AT_LEAST = 60
SENTENCE_AT_LEAST = 40  # Characters.
_END = re.compile(r"\n\s*\n|(?<=[.!?])\s+")


def figures(quick: bool = False) -> list[Figure]:
    """Number of hints, number that reveal something, and the share of copied sentences that the test finds."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
    django.setup()
    from apps.problems.hints import hint_leaks
    from apps.problems.samples import sample_library

    library = sample_library()
    leaking = [(draft.slug, level) for draft in library for level in {level for level, _ in hint_leaks(draft)}]
    copied = [(draft, text) for draft in library for one in draft.solutions for text in _sentences(one.text)]
    found = sum(any(level == 2 for level, _ in hint_leaks(replace(draft, hints=(text,) * 3))) for draft, text in copied)
    return [
        Figure(
            "authored hints tested, rungs 0 to 2", sum(len(draft.hints) for draft in library), "", HINTS_AT_LEAST, "at least"
        ),
        Figure("… with a leak by the rules of the ladder", len(leaking), "", 0),
        Figure(f"{len(copied)} sentences of solutions, each as the last hint: share found", found / len(copied)),
    ]


def _sentences(text: str) -> list[str]:
    return [part for part in _END.split(text) if len(part) >= SENTENCE_AT_LEAST]
