"""The shapes of writing requests and of their answers. Unknown fields are refused, so that a misspelt one is not lost."""

import json
import uuid
from datetime import datetime
from typing import Any, Literal

from ninja import Schema
from pydantic import BaseModel, ConfigDict, Field, model_validator

from apps.explorations.starting.plans import MOST_SEED
from apps.runs.services import LARGEST_AMOUNT

LONGEST = 20_000
Command = Literal[
    "pause", "resume", "cancel", "hint", "accept_lemma", "reject_lemma", "inject_lemma", "write_up", "extend_budget"
]  # fmt: skip
ExperimentVerb = Literal["start", "pause", "resume", "cancel", "retry", "curves"]


class Sent(BaseModel):
    """The body of a writing request, which both databases can hold."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _can_be_stored(cls, values: Any) -> Any:
        if "\\u0000" in json.dumps(values, allow_nan=False, default=str):
            raise ValueError("it contains a NUL character. Remove it")
        return values


class BudgetIn(Sent):
    """Limits of a run; null means no limit."""

    tokens: int | None = Field(None, ge=1, le=LARGEST_AMOUNT, description="prompt and completion tokens together")
    calls: int | None = Field(None, ge=1, le=LARGEST_AMOUNT)
    seconds: float | None = Field(None, ge=1, le=LARGEST_AMOUNT, description="counted only while the run is active")


class PlanIn(Sent):
    """What a start and a fork share: models, limits and sampling."""

    model: str = Field("", max_length=80, description="alias of the model for all roles that `roles` does not name")
    roles: dict[str, str] = Field({}, description="aliases by role")
    params: dict[str, Any] = Field({}, description="parameters of the scaffold that differ from the preset")
    budget: BudgetIn | None = None
    seed: int | None = Field(None, ge=0, lt=MOST_SEED, description="null: one is drawn and recorded")
    max_new_tokens: int | None = Field(None, ge=16, le=LARGEST_AMOUNT, description="limit per call; null: as the scaffold says")
    temperature: float | None = Field(None, ge=0, le=2, description="for all roles; null: as the scaffold says")
    capture: bool | None = Field(None, description="record sampled tokens for learning")
    confirm: bool = Field(False, description="start the run even if it may make more than 5,000 calls")


class StartIn(PlanIn):
    """A run to start."""

    problem: str = Field(max_length=200, description="slug of the problem; its newest statement is used")
    scaffold: str = Field(max_length=60)
    preset: str = Field("", max_length=60, description="empty: the scaffold's first one")


class CommandIn(Sent):
    """A command to a live run. Which other fields it needs is in docs/api.md."""

    name: Command
    text: str = Field("", max_length=LONGEST, description="of a hint")
    lemma: str = Field("", max_length=80, description="id of the lemma to accept or reject")
    statement: str = Field("", max_length=LONGEST, description="of a lemma to inject")
    proof: str = Field("", max_length=LONGEST, description="of a lemma to inject; verifiers then vote on it")
    reason: str = Field("", max_length=LONGEST, description="of a verdict")
    tokens: int | None = Field(None, ge=1, le=LARGEST_AMOUNT, description="to add to the budget")
    calls: int | None = Field(None, ge=1, le=LARGEST_AMOUNT)
    seconds: float | None = Field(None, gt=0, le=LARGEST_AMOUNT)


class VerdictIn(Sent):
    """A person's verdict on a lemma."""

    accepted: bool
    reason: str = Field("", max_length=LONGEST)


class CommandOut(Schema):
    """A recorded command. It takes effect at the run's next control point; events say where, or why it was refused."""

    id: uuid.UUID = Field(description="`command` in the events control.requested, control.applied and control.refused")
    name: str
    args: dict[str, Any]
    state: str = Field(description="pending, applied or refused")
    reason: str
    requested_at: datetime


class ExperimentIn(Sent):
    """An experiment on solving to start. A manifest in TOML, read into JSON, is what `manifest` holds."""

    manifest: dict[str, Any] = Field(description="docs/solving_experiments.md explains its fields")
    planned: bool = Field(False, description="create it without asking a model; the command start begins it")


class ExperimentCommandIn(Sent):
    """A command to an experiment."""

    name: ExperimentVerb
