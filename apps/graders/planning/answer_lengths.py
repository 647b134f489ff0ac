"""Mean answer lengths in recorded gradings, for estimates of the next ones."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Avg, Count

from apps.reasoning.scaffolds.spec import RoleSpec
from apps.runs.models import Run, Step

#: How prompt lengths are estimated, for display.
LENGTHS = "Prompt lengths: estimated from the texts, four characters per token."
#: With fewer calls than this, estimates use the values of the papers.
CALLS_AT_LEAST = 5
#: Number of newest runs of a grader to average over.
RUNS_LOOKED_AT = 500


@dataclass(frozen=True)
class Answers:
    """Mean tokens per answer of one role with one alias, over a number of recorded calls."""

    tokens: int
    calls: int


def answers_of(workflow: str, roles: Mapping[str, RoleSpec]) -> dict[str, Answers]:
    """By role: answers of its alias in this workflow, if enough calls are recorded. Failed calls do not count."""
    runs = Run.objects.filter(scaffold=workflow).order_by("-pk").values_list("pk", flat=True)[:RUNS_LOOKED_AT]
    rows = (
        Step.objects.filter(run__in=list(runs), kind="call", attempt__gt=0, failure="", role__in=roles)
        .order_by()
        .values("role", "alias")
        .annotate(calls=Count("pk"), mean=Avg("completion_tokens"))
    )
    return {
        row["role"]: Answers(round(row["mean"]), row["calls"])
        for row in rows
        if row["alias"] == roles[row["role"]].alias and row["calls"] >= CALLS_AT_LEAST
    }


def answers_note(asked: Iterable[str], known: Mapping[str, Answers], roles: Mapping[str, RoleSpec]) -> str:
    """A sentence on the assumed answer lengths of the roles `asked`, and on how many calls they are based."""
    asked = tuple(asked)
    measured = [
        f"{role} {known[role].tokens:,} tokens (mean of {known[role].calls:,} recorded calls of {roles[role].alias})"
        for role in asked
        if role in known
    ]
    papers = [f"{role} ({roles[role].alias})" for role in asked if role not in known]
    words = [f"Answer lengths, as measured: {', '.join(measured)}."] if measured else []
    if papers:
        few = f"fewer than {CALLS_AT_LEAST} calls are recorded"
        words.append(f"Answer lengths, as in the papers because {few}: {', '.join(papers)}.")
    return " ".join(words)
