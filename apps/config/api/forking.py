"""Forks from an event, a call or a lemma of a run: what they can change, which calls they take over, and their start."""

import uuid
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from ninja import Query, Schema
from pydantic import Field, model_validator

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.config.api import schemas as shapes
from apps.config.api.once import KEY, once
from apps.config.api.operations import LARGEST, api, run_out
from apps.config.api.sent import LONGEST, Sent
from apps.config.api.writing import WRITING
from apps.explorations.forking.making import Wanted, fork_from
from apps.explorations.forking.offers import CallSum, Offer, offers_of
from apps.explorations.forking.places import Place
from apps.reasoning.domain.control import Change
from apps.runs.access import run_get_for, run_may_start
from apps.runs.models import Run


class ForkPlace(Sent):
    """Where a fork begins: exactly one of the three."""

    event: int = Field(0, ge=0, le=LARGEST, description="number of an event")
    call: str = Field("", max_length=180, description="key of a call, such as s0/r2/reason")
    lemma: str = Field("", max_length=180, description="id of a lemma, such as s0.7")

    @model_validator(mode="after")
    def _is_one(self) -> "ForkPlace":
        if sum(bool(one) for one in (self.event, self.call, self.lemma)) != 1:
            raise ValueError("send exactly one of event, call and lemma")
        return self

    @property
    def place(self) -> Place:
        return Place(seq=self.event, call=self.call, lemma=self.lemma)


class ForkHereIn(ForkPlace):
    """A fork from a place: its change with the texts that the change needs."""

    change: Change = Field(description="`GET` on this address lists those that are possible here")
    text: str = Field("", max_length=LONGEST, description="of a hint")
    statement: str = Field("", max_length=LONGEST, description="corrected statement of the lemma")
    proof: str = Field("", max_length=LONGEST, description="its proof, on which verifiers vote; empty lines separate steps")
    accepted: bool = Field(False, description="the corrected statement counts without votes")

    @model_validator(mode="after")
    def _uses_every_text(self) -> "ForkHereIn":
        used = {"hint": {"text"}, "corrected": {"statement", "proof", "accepted"}}.get(self.change, set())
        if unused := [name for name in ("text", "statement", "proof", "accepted") if getattr(self, name) and name not in used]:
            raise ValueError(f"a fork with the change {self.change} does not use {' and '.join(unused)}")
        return self


class ForkCallsOut(Schema):
    """Calls of one role in one round."""

    round: int = Field(description="0 for the proof")
    role: str
    calls: int
    tokens: int = Field(description="of prompts and answers")


class ForkChangeOut(Schema):
    """A change, and what a fork with it takes over; or why it is impossible."""

    change: str
    title: str
    refusal: str = Field(description="why it is impossible here and what to do; empty if it is possible")
    begins: str = Field(description="where the fork begins, in words")
    taken_over: list[ForkCallsOut] = Field(description="calls that the fork takes over without asking a model")
    made_again: list[ForkCallsOut] = Field(description="later calls of the run, of which the fork makes at most these again")


class ForkOffersOut(Schema):
    """What a fork from a place can change."""

    place: str
    refusal: str = Field(description="why no fork can begin here and what to do; empty if one can")
    statement: str | None = Field(description="of the lemma; null at an event or a call")
    proof: str | None
    changes: list[ForkChangeOut]


@api.get("/runs/{uuid:run_id}/fork/here", response=ForkOffersOut, url_name="fork_offers", summary="What a fork takes over")
def fork_offers(request: HttpRequest, run_id: uuid.UUID, asked: Query[ForkPlace]) -> dict[str, Any]:
    """The changes that a fork from an event, a call or a lemma can make, with the calls that it takes over."""
    user = user_of(request)
    run, place = _forkable(user, run_id), asked.place
    offers = offers_of(run, place, user)
    lemma = offers.lemma
    return {
        "place": place.words,
        "refusal": offers.trouble,
        "statement": lemma.statement if lemma else None,
        "proof": "\n\n".join(lemma.steps) if lemma else None,
        "changes": [_change(one) for one in offers.offers],
    }


@api.post(
    "/runs/{uuid:run_id}/fork/here",
    response={201: shapes.RunOut}, auth=WRITING, url_name="fork_here", summary="Fork from a place",
)  # fmt: skip
def fork_here(request: HttpRequest, run_id: uuid.UUID, body: ForkHereIn, key: str | None = KEY) -> Any:
    """Start a fork from an event, a call or a lemma, unchanged, without the lemma, with it corrected, or with a hint."""
    user = user_of(request)
    run = _forkable(user, run_id)
    offers = offers_of(run, body.place, user)  # It replays the run: not while the transaction locks the database.
    wanted = Wanted(body.change, body.text, body.statement, body.proof, body.accepted)
    return once(request, key, lambda: run_out(fork_from(user=user, run=run, place=body.place, offers=offers, wanted=wanted)))


def _forkable(user: User, run_id: uuid.UUID) -> Run:
    run = run_get_for(user, run_id)
    if not run_may_start(user):
        raise PermissionDenied("Only coaches and researchers may start explorations.")
    if not (run.is_attempt or run.is_imported):
        raise Http404("This run cannot be forked, since no scaffold searched here. Start a run on its problem instead.")
    return run


def _change(offer: Offer) -> dict[str, Any]:
    return {
        "change": offer.change,
        "title": offer.title,
        "refusal": offer.refusal,
        "begins": offer.begins if offer.point else "",
        "taken_over": [_calls(one) for one in offer.taken],
        "made_again": [_calls(one) for one in offer.again],
    }


def _calls(one: CallSum) -> dict[str, Any]:
    return {"round": one.round, "role": one.word, "calls": one.calls, "tokens": one.tokens}
