"""Promotion and rejection of models, recorded with user, time, reason and the figures shown on the page."""

from contextlib import suppress
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.learning.models import ComparisonState, ModelDecision, ModelState, TrainedModel
from apps.learning.trained.alias_file import aliases_write
from apps.learning.trained.card import card_write
from apps.learning.trained.paired import result_of


class NotDecided(Exception):
    """The decision was refused; the message says why."""


def model_decide(*, model: TrainedModel, state: ModelState, reason: str, user: User) -> ModelDecision:
    """Record the decision and update the registry.

    Raises `NotDecided` without a reason, where the model is already in that state, or for a promotion without figures.
    """
    if not reason.strip():
        raise NotDecided("Give a reason for the decision.")
    model.refresh_from_db(fields=["state"])
    if model.state == state != ModelState.CANDIDATE:
        raise NotDecided(f"{model.name} is already {state.label}; see the record below. Nothing was changed.")
    seen = figures_seen(model)
    if state == ModelState.PROMOTED and not seen:
        raise NotDecided("Compare it with its parent first: there are no results to support a promotion.")
    with transaction.atomic():
        TrainedModel.objects.filter(pk=model.pk).update(state=state)
        made = ModelDecision.objects.create(model=model, state=state, reason=reason.strip(), seen=seen, decided_by=user)
    model.state = state
    with suppress(OSError):  # The decision counts, also on a full disk.
        card_write(model)
    aliases_write()
    return made


def figures_seen(model: TrainedModel) -> list[dict[str, Any]]:
    """Figures of all finished comparisons, as the page shows them."""
    found = []
    for one in model.comparisons.filter(state=ComparisonState.DONE).order_by("pk"):
        result = result_of(one)
        if result is not None:
            what: dict[str, Any] = {"toy": one.toy} if one.toy else {"problems": len(one.items)}
            if one.experiment is not None:
                what["experiment"] = str(one.experiment.public_id)
            found.append(
                {"comparison": str(one.public_id), **what, "plan": one.plan, "measure": one.measure} | result.as_json()
            )
    return found
