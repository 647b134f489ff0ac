"""The leak test of authored hints: what they reveal of a problem's solutions, marking scheme and answer."""

from collections.abc import Sequence

from apps.problems.drafts import ProblemDraft
from apps.reasoning.feedback.leaks import Leak, leaks_of
from apps.reasoning.marking.importing import scheme_import
from apps.reasoning.marking.schemes.faults import FormWrong


def hint_leaks(draft: ProblemDraft) -> list[tuple[int, Leak]]:
    """What each hint reveals too early, with its level. Readers are assumed to know only the statement."""
    secrets = [*(solution.text for solution in draft.solutions), *_items(draft.scheme_text)]
    return [
        (level, leak)
        for level, text in enumerate(draft.hints)
        for leak in leaks_of(text, level=level, secrets=secrets, answer=draft.answer, known=[draft.statement])
    ]


def _items(scheme_text: str) -> Sequence[str]:
    """The texts of the items of a scheme; the whole text if its form is unknown."""
    try:
        return [item.text for item in scheme_import(scheme_text).scheme.items if item.text]
    except FormWrong:
        return [scheme_text]
