"""Warnings at the top of a run's page: unread answers, and prompts too long for a model.

A run with many of these is weak evidence about its models.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db.models import Count, Q

from apps.explorations.words import role_word
from apps.reasoning.scaffolds.running.hearing import AGAIN, IN_WORDS
from apps.runs.models import Run, RunEvent

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
    bodies = RunEvent.objects.filter(run=run, kind="output.unread").values_list("body", flat=True)
    lost = Counter(body["role"] for body in bodies if not (body.get("again") or body.get("part")))
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
    found: dict[str, dict[str, Any]] = {}
    for kind, body in (
        RunEvent.objects.filter(run=run, kind__in=("prompt.fitted", "prompt.refused"))
        .order_by("seq")
        .values_list("kind", "body")
    ):
        counts = found.setdefault(body["role"], {"fitted": 0, "left_out": 0, "shortened": 0, "refused": 0, "why": ""})
        if kind == "prompt.refused":
            counts["refused"] += 1
            counts["why"] = counts["why"] or body["reason"]
        else:
            counts["fitted"] += 1
            counts["left_out"] += len(body["left_out"])
            counts["shortened"] += len(body["shortened"])
    return [TooLong(role, role_word(role), **counts) for role, counts in sorted(found.items())]


def fitted_words(body: Mapping[str, Any]) -> str:
    """Texts missing from a prompt, from its event: `left out: Lemma 3; shortened: the thinking (12,400 characters)`."""
    left_out = f"left out: {', '.join(body['left_out'])}" if body["left_out"] else ""
    cut = ", ".join(f"{name} ({length:,} character{'s' * (length > 1)})" for name, length in body["shortened"].items())
    return "; ".join(part for part in (left_out, f"shortened: {cut}" if cut else "") if part)


def fitted_calls(run: Run) -> dict[str, str]:
    """Texts missing from prompts that were fitted to the context, by call."""
    bodies = RunEvent.objects.filter(run=run, kind="prompt.fitted").values_list("body", flat=True)
    return {body["call"]: fitted_words(body) for body in bodies}
