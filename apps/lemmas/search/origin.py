"""A lemma put into another run: who may, what is taken over, and where an added lemma came from."""

import uuid
from dataclasses import dataclass
from typing import Literal

from django.core.exceptions import ValidationError

from apps.accounts.models import User
from apps.lemmas.models import HumanVerdict, Lemma, LemmaEdge, LemmaState
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.runs.access import run_may_steer, run_visible_to
from apps.runs.models import LIVE, Run, RunEvent
from apps.ui.sent import uuid_of

RUN, LEMMA = "from_run", "from_lemma"
_RUNS_AT_MOST = 10


@dataclass(frozen=True)
class Origin:
    """Where a lemma that a person added came from. Without `run` the reader may not see that run."""

    run: Run | None
    lemma: str


def may_be_put(lemma: Lemma) -> bool:
    """Whether it was accepted: by its votes or by a person, and not rejected by one since."""
    return bool(accepted_by(lemma))


def accepted_by(lemma: Lemma) -> Literal["", "votes", "person"]:
    """Who accepted it last; empty if it was not accepted, or a person rejected it since."""
    people = HumanVerdict.objects.filter(run=lemma.run_id, lemma=lemma.lemma, applied_seq__isnull=False)
    newest = people.order_by("applied_seq").last()
    if newest is not None:
        return "person" if newest.accepted else ""
    return "votes" if lemma.judged == LemmaState.VERIFIED else ""


def takes_proof(lemma: Lemma) -> bool:
    """Whether its proof is taken over: only one that cites no other lemma, as numbers mean others in another run."""
    return bool(lemma.steps) and not LemmaEdge.objects.filter(run=lemma.run_id, user=lemma.lemma).exists()


def runs_for(user: User, lemma: Lemma) -> list[Run]:
    """Working runs of the same problem that take lemmas and that the user may steer, the newest first."""
    takers = [name for name, scaffold in SCAFFOLDS.items() if scaffold.takes_lemmas]
    runs = run_visible_to(user).filter(status__in=LIVE, scaffold__in=takers).exclude(pk=lemma.run_id)
    same = runs.filter(problem_version__problem=lemma.run.problem_version.problem_id).select_related("owner")
    return [run for run in same.order_by("-created_at")[:_RUNS_AT_MOST] if run_may_steer(user, run)]


def args_from(user: User, target: Run, run_id: str, name: str) -> dict[str, str]:
    """The arguments of `inject_lemma` for an accepted lemma of another run, with its origin.

    Raises `ValidationError` if the user may not see the lemma, it was not accepted, or its problem is another.
    """
    run = run_visible_to(user).filter(public_id=uuid_of(run_id) or uuid.UUID(int=0)).first()
    lemma = Lemma.objects.filter(run=run, lemma=name).select_related("run__problem_version").first() if run else None
    if run is None or lemma is None:
        raise ValidationError("Nothing was added: there is no such lemma, or you may not see it.")
    if run.problem_version.problem_id != target.problem_version.problem_id:
        raise ValidationError("Nothing was added: the lemma is of another problem. Copy its statement to add it as yours.")
    if not may_be_put(lemma):
        raise ValidationError("Nothing was added: only verified lemmas and those that a person accepted can be put into a run.")
    proof = {"proof": "\n\n".join(lemma.steps)} if takes_proof(lemma) else {}
    return {"statement": lemma.statement, **proof, RUN: str(run.public_id), LEMMA: lemma.lemma}


def origin_of(user: User, lemma: Lemma) -> Origin | None:
    """Where a lemma that a person added came from; None if it was written by hand."""
    if lemma.origin != "human":
        return None
    asked = RunEvent.objects.filter(run=lemma.run_id, kind=Kind.CONTROL_REQUESTED, body__name="inject_lemma")
    for args in asked.order_by("-seq").values_list("body__args", flat=True):
        if RUN in args and str(args.get("statement", "")).strip() == lemma.statement:
            run = run_visible_to(user).filter(public_id=uuid_of(args[RUN]) or uuid.UUID(int=0)).first()
            return Origin(run, str(args.get(LEMMA, "")))
    return None
