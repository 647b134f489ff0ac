"""Warnings at the top of a run's page: unread answers, and prompts too long for a model.

A run with many of these is weak evidence about its models.
"""

from collections import Counter
from typing import NamedTuple

from django.db.models import Count, Q

from apps.explorations.words import role_word
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.domain.prompt_events import PromptFitted
from apps.reasoning.scaffolds.running.hearing import AGAIN, IN_WORDS
from apps.reasoning.story.calls import Calls
from apps.runs.models import Run
from apps.runs.selectors import run_story

#: Least share of unread answers of a role that is shown.
LEAST_SHARE = 0.1


class Unheard(NamedTuple):
    """Number of unread answers of a role, after a repeated request if there was one, of all its answers."""

    role: str
    word: str
    unread: int
    answers: int


def unheard_roles(run: Run) -> list[Unheard]:
    """The roles with many unread answers, worst first."""
    lost = Counter(one.role for _, one in run_story(run, {Kind.OUTPUT_UNREAD}).calls.lost)
    if not lost:
        return []
    second = Q(key__endswith=f"/{AGAIN}") | Q(key__endswith=f"/{IN_WORDS}")
    first = run.steps.filter(kind="call", failure="", role__in=lost).exclude(second)
    answers = dict(first.order_by().values_list("role").annotate(Count("pk")))
    found = [Unheard(role, role_word(role), count, max(count, answers.get(role, 0))) for role, count in lost.items()]
    shown = [one for one in found if one.unread >= LEAST_SHARE * one.answers]
    return sorted(shown, key=lambda one: (-one.unread / one.answers, one.role))


class TooLong(NamedTuple):
    """Number of a role's prompts that were fitted to the model's context, and of its calls that were not made.

    `left_out` and `shortened` count texts; `why` is the reason of the first refusal.
    """

    role: str
    word: str
    fitted: int
    left_out: int
    shortened: int
    refused: int
    why: str


def long_prompts(run: Run) -> list[TooLong]:
    """The roles with prompts that did not fit, by name."""
    calls = run_story(run, Calls.PROMPTS).calls
    found = []
    for role in sorted({one.role for one in calls.fitted} | {one.role for one in calls.refused}):
        fitted = [one for one in calls.fitted if one.role == role]
        refused = [one.reason for one in calls.refused if one.role == role]
        left_out, shortened = sum(len(one.left_out) for one in fitted), sum(len(one.shortened) for one in fitted)
        why = next(filter(None, refused), "")
        found.append(TooLong(role, role_word(role), len(fitted), left_out, shortened, len(refused), why))
    return found


def fitted_words(fitted: PromptFitted) -> str:
    """Texts missing from a prompt: `left out: Lemma 3; shortened: the thinking (12,400 characters)`."""
    left_out = f"left out: {', '.join(fitted.left_out)}" if fitted.left_out else ""
    cut = ", ".join(f"{name} ({length:,} character{'s' * (length > 1)})" for name, length in fitted.shortened.items())
    return "; ".join(part for part in (left_out, f"shortened: {cut}" if cut else "") if part)
