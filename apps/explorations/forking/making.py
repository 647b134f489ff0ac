"""The fork itself: a new run with the specification of its parent, a branch and a change."""

import secrets
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import PermissionDenied, ValidationError

from apps.accounts.models import User
from apps.explorations.forking.offers import Offers
from apps.explorations.forking.places import Place, seq_of
from apps.explorations.starting.plans import MOST_SEED
from apps.reasoning.domain.control import Branch, Change, Command
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.spec import BATCH, RunSpec
from apps.runs.access import run_may_start
from apps.runs.models import Run
from apps.runs.services import run_create


@dataclass(frozen=True)
class Wanted:
    """The change that a person chose. `text` is the hint; `statement`, `proof` and `accepted` are of a corrected lemma."""

    change: Change
    text: str = ""
    statement: str = ""
    proof: str = ""
    accepted: bool = False


def fork_from(
    *, user: User, run: Run, place: Place, offers: Offers, wanted: Wanted, start_id: uuid.UUID | None = None, start: bool = True
) -> Run:
    """Start the fork of `run` from `place`, one of `offers`. The limits are those of the parent.

    Raises `ValidationError` (keys are the form's fields) and `PermissionDenied`.
    """
    if not run_may_start(user):
        raise PermissionDenied("Only coaches and researchers may start explorations.")
    offer = offers.of(wanted.change)
    if offer is None:
        reason = next((one.refusal for one in offers.offers if one.change == wanted.change), offers.trouble)
        raise ValidationError({"change": reason})
    parent = RunSpec.model_validate(run.spec)
    commands = tuple(Command(id=str(uuid.uuid4()), by=user.username, **one) for one in _commands(place, wanted))
    branch = Branch(run=str(run.public_id), seq=seq_of(run, place), point=offer.point, change=wanted.change, commands=commands)
    scaffold = SCAFFOLDS[run.scaffold]
    spec = parent.model_copy(
        update={
            "branch": branch,
            "redraws": _redraws(parent, offers, offer.point, again=wanted.change == "unchanged"),
            "preset": parent.preset if parent.preset in scaffold.presets else "",
            "priority": scaffold.presets[parent.preset].priority if parent.preset in scaffold.presets else BATCH,
            "code_version": settings.VERSION,
        }
    )
    return run_create(
        owner=user,
        problem_version=run.problem_version,
        title=run.title,
        spec=spec,
        forked_from=run,
        start=start,
        start_id=start_id,
    )


def _commands(place: Place, wanted: Wanted) -> list[dict[str, object]]:
    match wanted.change:
        case "hint":
            if not wanted.text.strip():
                raise ValidationError({"text": "Write the hint."})
            return [{"name": "hint", "args": {"text": wanted.text}}]
        case "without":
            return [{"name": "leave_out_lemma", "args": {"lemma": place.lemma}}]
        case "corrected":
            if not wanted.statement.strip():
                raise ValidationError({"statement": "Write the corrected statement."})
            if not (wanted.proof.strip() or wanted.accepted):
                raise ValidationError({"proof": "Write a proof for the votes, or accept the statement yourself."})
            args = {"statement": wanted.statement, "proof": wanted.proof, "accepted": wanted.accepted}
            return [{"name": "correct_lemma", "args": {"lemma": place.lemma, **args}}]
        case _:
            return []


def _redraws(parent: RunSpec, offers: Offers, point: str, *, again: bool) -> Mapping[str, int]:
    """The parent's redraws up to the point, so that its calls keep their seeds; with `again`, a new seed from there on."""
    kept = offers.points[: offers.points.index(point) + 1]
    redraws = {name: seed for name, seed in parent.redraws.items() if name in kept}
    return redraws | {point: secrets.randbelow(MOST_SEED)} if again else redraws
