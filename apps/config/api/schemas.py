"""The shapes of the HTTP API. Field descriptions appear on the page /api/ and in openapi.json."""

import uuid
from datetime import datetime
from typing import Any, Literal

from ninja import Field, Schema


class Page(Schema):
    """One page of a list."""

    page: int = Field(description="page number, from 1")
    pages: int = Field(description="number of pages")
    total: int = Field(description="number of items on all pages")


class ProblemRow(Schema):
    """A problem in a list."""

    slug: str
    title: str
    topic: str = Field(description="A, C, G, N or O")
    subtopic: str
    source: str
    year: int | None
    level: str


class ProblemPage(Page):
    """A page of problems."""

    items: list[ProblemRow]


class ReferenceSolutionOut(Schema):
    """An accepted proof."""

    approach: str
    text: str = Field(description="Markdown with TeX")


class ProblemOut(ProblemRow):
    """A problem with its newest text. Students get null for answer, marking scheme and reference solutions."""

    version: int
    statement: str = Field(description="Markdown with TeX")
    answer: str | None
    scheme_text: str | None
    reference_solutions: list[ReferenceSolutionOut] | None


class SchemeRow(Schema):
    """A marking scheme that computes points, with its versions."""

    id: uuid.UUID
    problem: str = Field(description="slug of the problem")
    title: str
    version: int | None = Field(description="number of the active version, which marks use; null if there is none")
    versions: list["SchemeVersionRow"]


class SchemeVersionRow(Schema):
    """A version of a scheme. Marks under the same `meaning_hash` are comparable."""

    number: int
    status: str = Field(description="draft, active or retired")
    meaning_hash: str
    content_hash: str


class SchemeList(Schema):
    """The marking schemes of a problem."""

    items: list[SchemeRow]


class SchemeOut(Schema):
    """One version of a scheme, as the text that people write and as JSON."""

    id: uuid.UUID
    problem: str = Field(description="slug of the problem")
    title: str
    version: SchemeVersionRow
    text: str = Field(description="docs/marking_schemes.md explains this form")
    body: dict[str, Any] = Field(description="the same as JSON (lemmascope.scheme/1), with each item's lineage")


class RunRow(Schema):
    """A run in a list."""

    id: uuid.UUID
    title: str
    problem: str = Field(description="slug of the problem")
    scaffold: str
    preset: str
    status: str = Field(description="queued, running, paused, finished, cancelled, failed or needs_fork")
    status_reason: str
    owner: str | None
    is_authored: bool = Field(description="played from texts that people wrote; no model was called")
    is_assisted: bool = Field(description="a person intervened in the run")
    calls: int = Field(description="calls that this run made; budgets count these")
    prompt_tokens: int
    completion_tokens: int
    inherited_calls: int = Field(description="calls that a fork took over without calling a model")
    inherited_prompt_tokens: int
    inherited_completion_tokens: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    tags: list[str] = Field(description="tags on the run, not those on its parts")


class RunPage(Page):
    """A page of runs."""

    items: list[RunRow]


class FinalAnswerOut(Schema):
    """The final answer of the selected proof and the problem's answer."""

    given: str = Field(description="empty if the proof states no answer")
    expected: str
    outcome: Literal["equal", "different", "undecided"]
    reason: str


class RunOut(RunRow):
    """A run with its specification and outcome."""

    problem_version: int
    spec: dict[str, Any] = Field(description="the frozen specification: scaffold, aliases, sampling, seed, prompt hashes")
    budget: dict[str, Any]
    outcome: dict[str, Any] | None
    final_answer: FinalAnswerOut | None = Field(description="null without a proof, or if the problem has no answer")
    forked_from: uuid.UUID | None
    last_seq: int = Field(description="number of the newest event")


class EventOut(Schema):
    """One recorded event."""

    seq: int
    key: str
    kind: str
    at: str
    body: dict[str, Any]


class EventPage(Schema):
    """Events after `since`, oldest first."""

    events: list[EventOut]
    next_since: int = Field(description="value of `since` for the next request")
    has_more: bool = Field(description="more events are recorded already")
    last_seq: int = Field(description="number of the newest event of the run")
    is_live: bool = Field(description="more events may come")


class LemmaOut(Schema):
    """One version of a lemma, with the totals of its votes."""

    lemma: str = Field(description="id of the lemma in events")
    label: str
    number: int
    version: int
    rollout: int
    round: int
    statement: str
    steps: list[str] = Field(description="its proof")
    origin: str
    status: str
    confidence: float | None = Field(description="0 to 1; null before verification, or for the reason in `unscored`")
    low: float | None
    high: float | None
    passes: int
    valid: int = Field(description="votes that could be read")
    total: int
    expected: int
    unscored: str
    supersedes: str
    merged_into: str
    retired_reason: str
    found_in: list[int] = Field(description="rollouts that found it")
    first_seq: int
    last_seq: int


class LemmaList(Schema):
    """All lemma versions of a run in the order of proposal."""

    items: list[LemmaOut]
    last_seq: int


class SameLemmaOut(Schema):
    """A lemma that says the same as another one."""

    run: uuid.UUID = Field(description="id of the run")
    lemma: str = Field(description="id of the lemma in its run")
    status: str


class FoundLemmaOut(LemmaOut):
    """A lemma found in any run that the user may see."""

    run: uuid.UUID = Field(description="id of the run")
    run_title: str
    problem: str = Field(description="slug of the problem")
    model: str = Field(description="alias that proposed it; empty without a call")
    finding: str = Field(description="newest formula check: refuted, survived, not_understood, stopped or unchecked")
    is_latest: bool = Field(description="no correction replaced it")
    is_inherited: bool = Field(description="a fork took it over from its parent run")
    held_in: int = Field(description="runs of `judged_in` that verified the statement")
    judged_in: int = Field(description="runs that judged the statement, without copies in forks")
    lemmas: int = Field(description="lemmas on the problem that say the same, with this one")
    others: list[SameLemmaOut] = Field(description="the newest 20 others of them")
    matches: list[tuple[int, int]] = Field(description="code points of the statement where words or formulas matched")


class FoundLemmaPage(Page):
    """A page of lemmas of all runs, best first, with sentences about words that were replaced or left out."""

    items: list[FoundLemmaOut]
    notes: list[str]
