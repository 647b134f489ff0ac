"""The runs of an address: two to four of one problem, all visible to the reader, or a sentence that says what to do."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from django.http import Http404

from apps.accounts.models import User
from apps.runs.access import runs_get_for
from apps.runs.models import Run

LETTERS = "ABCD"
CHOOSE = "Choose two to four runs of one problem in the list of runs, then press Compare."


class CannotCompare(Exception):
    """The runs cannot be compared, for this reason; the message also says what to do on the page.

    `status` of the answer: 400, or 404 for a hidden run.
    """

    def __init__(self, reason: str, status: int = 400, advice: str = CHOOSE) -> None:
        super().__init__(f"{reason} {advice}".strip())
        self.reason, self.status, self.advice = reason, status, advice


@dataclass(frozen=True)
class Side:
    """A compared run with its letter on the page."""

    letter: str
    run: Run


def sides_of(user: User, ids: Sequence[str]) -> list[Side]:
    """The runs with these public ids, in this order and each once. Raises `CannotCompare`.

    A run that does not exist and a hidden one have the same answer.
    """
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        raise CannotCompare("No run is chosen.", status=200)
    if len(wanted) == 1:
        raise CannotCompare("One run alone cannot be compared.")
    if len(wanted) > len(LETTERS):
        raise CannotCompare(f"You chose {len(wanted)} runs, and at most {len(LETTERS)} fit side by side.")
    try:
        runs = runs_get_for(user, [uuid.UUID(one) for one in wanted])
    except (ValueError, Http404):
        raise CannotCompare("One of the runs does not exist, or you may not see it.", status=404) from None
    require_one_problem(runs)
    return [Side(letter, run) for letter, run in zip(LETTERS, runs, strict=False)]


def pair_of(user: User, ids: Sequence[str]) -> tuple[Run, Run]:
    """Two runs for a difference, the earlier one first. Raises `CannotCompare`."""
    sides = sides_of(user, ids)
    if len(sides) != 2:
        raise CannotCompare("A difference is of two runs: name two, the earlier one first.", advice="")
    return sides[0].run, sides[1].run


def require_one_problem(runs: Sequence[Run]) -> None:
    """Raise `CannotCompare` if the runs are on different problems."""
    if len({run.problem_version.problem_id for run in runs}) > 1:
        raise CannotCompare("The runs are on different problems, so their lemmas cannot be compared.")


def drawn_of(sides: Sequence[Side], asked: str) -> tuple[Side, Side] | None:
    """The two runs whose difference is drawn, the earlier one first: those of the letters `asked`, such as "AB".

    Without valid letters, the first run with a fork among the others, else the first two forks of one run, else None.
    """
    by_letter = {side.letter: side for side in sides}
    if len(set(asked)) == len(asked) == 2 and set(asked) <= set(by_letter):
        return by_letter[asked[0]], by_letter[asked[1]]
    lines = {side.letter: _line(side.run) for side in sides}
    for one, other in permutations(sides, 2):
        if one.run.pk in lines[other.letter][1:]:
            return one, other
    return next(
        ((one, other) for one, other in combinations(sides, 2) if set(lines[one.letter]) & set(lines[other.letter])), None
    )


def _line(run: Run) -> list[int]:
    """The run, its parent, the parent of that, and so on, by primary key."""
    line = [run.pk]
    parent = run.forked_from_id
    while parent is not None and parent not in line:
        line.append(parent)
        parent = Run.objects.values_list("forked_from", flat=True).get(pk=parent)
    return line
