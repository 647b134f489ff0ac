"""What the lists of runs and lemmas are filtered by."""

from collections.abc import Collection
from datetime import date
from typing import Literal

from ninja import Field, Schema
from pydantic import field_validator

from apps.explorations.run_table.columns import COLUMNS, NEWEST
from apps.explorations.run_table.filters import OUTCOMES

FIRST_DAY, LAST_DAY = date(1970, 1, 1), date(9998, 12, 31)


def without_nul(text: str) -> str:
    """Reject NUL characters: PostgreSQL does not accept them in a query."""
    if "\0" in text:
        raise ValueError("it contains a NUL character")
    return text


def one_of(name: str, names: Collection[str]) -> str:
    """Reject an unknown name with the known ones."""
    if name not in names:
        raise ValueError(f"one of {', '.join(one for one in names if one)}")
    return name


class RunQuery(Schema):
    """Filters and order of the list of runs."""

    q: str = Field("", max_length=200, description="words that must all occur in title or statement")
    status: Literal["", "queued", "running", "paused", "finished", "cancelled", "failed", "needs_fork"] = Field(
        "", description="as in a run's `status`"
    )
    outcome: str = Field("", max_length=40, description="how it ended, as on the page of runs")
    scaffold: str = Field("", max_length=60, description="name of a scaffold")
    topic: Literal["", "A", "C", "G", "N", "O"] = Field("", description="A, C, G, N or O")
    problem: str = Field("", max_length=200, description="slug of the problem, or words of its title")
    model: str = Field("", max_length=80, description="alias that the run uses")
    owner: str = Field("", max_length=150, description="name of the owner; - for runs without one")
    tag: str = Field("", max_length=40, description="a tag on the run")
    since: date | None = Field(None, ge=FIRST_DAY, le=LAST_DAY, description="created on this day or later")
    until: date | None = Field(None, ge=FIRST_DAY, le=LAST_DAY, description="created on this day or earlier")
    sort: str = Field(NEWEST, max_length=20, description="name of a column; with a minus, descending")

    @field_validator("q", "scaffold", "problem", "model", "owner", "tag")
    @classmethod
    def _without_nul(cls, text: str) -> str:
        return without_nul(text)

    @field_validator("topic", mode="before")
    @classmethod
    def _upper(cls, letter: str) -> str:
        return letter.upper()

    @field_validator("outcome")
    @classmethod
    def _is_outcome(cls, name: str) -> str:
        return one_of(name, ("", *OUTCOMES))

    @field_validator("sort")
    @classmethod
    def _is_column(cls, name: str) -> str:
        one_of(name.removeprefix("-"), [column.name for column in COLUMNS])
        return name


class LemmaQuery(Schema):
    """What to search for in the lemmas of all runs."""

    q: str = Field("", max_length=1000, description="words that must all occur; docs/lemma_search.md has the signs")
    formula: str = Field("", max_length=1000, description="TeX that a formula must contain")
    whole: bool = Field(False, description="the formula is all of one; names of variables may differ")
    problem: str = Field("", max_length=200, description="slug of the problem")
    topic: Literal["", "A", "C", "G", "N", "O"] = Field("", description="A, C, G, N or O")
    verdict: Literal["", "verified", "doubtful", "rejected", "proposed", "retired", "refuted"] = Field(
        "", description="a status, or `refuted`: by the formula check"
    )
    confidence: float | None = Field(None, ge=0, le=1, description="least confidence, 0 to 1")
    finding: Literal["", "refuted", "survived", "not_understood", "unchecked"] = Field("", description="formula check")
    model: str = Field("", max_length=80, description="alias that proposed the lemma")
    since: date | None = Field(None, description="runs from this day on")
    until: date | None = Field(None, description="runs until this day")
    all_versions: bool = Field(False, description="with merged lemmas and those that were corrected")

    @field_validator("q", "formula", "problem", "model")
    @classmethod
    def _without_nul(cls, text: str) -> str:
        return without_nul(text)
