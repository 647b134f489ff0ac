"""Marking schemes for tests."""

from apps.accounts.models import User
from apps.problems.models import Problem
from apps.reasoning.marking.schemes.scheme import Scheme
from apps.reasoning.marking.schemes.text_form import text_read
from apps.schemes.models import MarkingScheme
from apps.schemes.services import scheme_create
from tests.problems.factory import make_problem

TEXT = """scale 7
step 1

chain A: Descent
chain B: Rings

checkpoint A1, 3 points, chain A: Finds a smaller solution.
  note: Sketches count.

checkpoint A2, 4 points, chain A, needs A1: Shows that it ends.

checkpoint B1, 7 points, chain B: Uses unique factorisation.

cap K5, at most 5: The case of two is missing.

deduction D1, 1 point: A slip.
"""


def content(*replacements: tuple[str, str]) -> Scheme:
    """The scheme of `TEXT` with changes."""
    text = TEXT
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return text_read(text)


def make_scheme(by: User | None = None, problem: Problem | None = None) -> MarkingScheme:
    """A scheme with a draft as its only version."""
    return scheme_create(problem=problem or make_problem(), title="Selection test", content=content(), by=by)
