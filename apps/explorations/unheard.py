"""Roles of a run whose answers stayed unread, shown at its top: where they are many, its course says little about its model."""

from collections import Counter
from typing import NamedTuple

from django.db.models import Count, Q

from apps.explorations.words import role_word
from apps.reasoning.scaffolds.hearing import AGAIN, IN_WORDS
from apps.runs.models import Run, RunEvent

#: From this share of a role's answers on it is told.
TOLD_FROM = 0.1


class Unheard(NamedTuple):
    """A role with the number of its answers that could not be read, asked again or not, of all of them."""

    role: str
    word: str
    unread: int
    answers: int


def unheard_roles(run: Run) -> list[Unheard]:
    """The roles of which many answers stayed unread, the worst first."""
    bodies = RunEvent.objects.filter(run=run, kind="output.unread").values_list("body", flat=True)
    lost = Counter(body["role"] for body in bodies if not body.get("again"))
    if not lost:
        return []
    second = Q(key__endswith=f"/{AGAIN}") | Q(key__endswith=f"/{IN_WORDS}")
    first = run.steps.filter(kind="call", failure="", role__in=lost).exclude(second)
    answers = dict(first.order_by().values_list("role").annotate(Count("pk")))
    found = [Unheard(role, role_word(role), count, max(count, answers.get(role, 0))) for role, count in lost.items()]
    told = [one for one in found if one.unread >= TOLD_FROM * one.answers]
    return sorted(told, key=lambda one: (-one.unread / one.answers, one.role))
