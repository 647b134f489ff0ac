"""How long a model's answers were in recorded gradings: what an estimate of the next ones rests on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Avg, Count

from apps.reasoning.scaffolds.spec import RoleSpec
from apps.runs.models import Run, Step

#: How prompts are measured, for people.
LENGTHS = "Prompts by the lengths of the texts, four characters a token."
#: Fewer calls than this say nothing; an estimate then keeps to the papers.
CALLS_AT_LEAST = 5
#: Of so many runs of a grader, the newest.
RUNS_LOOKED_AT = 500


@dataclass(frozen=True)
class Answers:
    """Mean tokens of an answer of one role by one alias, over so many recorded calls."""

    tokens: int
    calls: int


def answers_of(workflow: str, roles: Mapping[str, RoleSpec]) -> dict[str, Answers]:
    """By role, where there are enough calls of it by its alias in this workflow. Calls without an answer do not count."""
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


def answers_words(asked: Iterable[str], known: Mapping[str, Answers], roles: Mapping[str, RoleSpec]) -> str:
    """For people, of the roles `asked`: how long their answers are taken to be and on how many calls that rests."""
    asked = tuple(asked)
    measured = [
        f"{role} {known[role].tokens:,} tokens (mean of {known[role].calls:,} recorded calls of {roles[role].alias})"
        for role in asked
        if role in known
    ]
    papers = [f"{role} ({roles[role].alias})" for role in asked if role not in known]
    words = [f"Answers as measured: {', '.join(measured)}."] if measured else []
    if papers:
        few = f"fewer than {CALLS_AT_LEAST} calls are recorded"
        words.append(f"Answers as in the papers, as {few}: {', '.join(papers)}.")
    return " ".join(words)
