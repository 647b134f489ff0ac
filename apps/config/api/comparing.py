"""Two to four runs of one problem side by side, the difference of two graphs, and decisions of people on pairs of lemmas."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import Http404, HttpRequest
from ninja import Query, Schema
from pydantic import Field

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.config.api.once import KEY, once
from apps.config.api.operations import api
from apps.config.api.sent import Sent
from apps.config.api.writing import WRITING
from apps.explorations.comparing.asking import Side, pair_of, require_one_problem, sides_of
from apps.explorations.comparing.costs import Cost, costs_of
from apps.explorations.comparing.difference import difference_of
from apps.explorations.comparing.lemma_lists import Entry, Row, common_of, decisions_on
from apps.explorations.comparing.outcomes import Outcome, outcomes_of
from apps.lemmas.pairs.models import LemmaPair
from apps.lemmas.pairs.services import AT_MOST, pair_withdraw, pairs_decide
from apps.processes.one_moment import one_moment
from apps.runs.access import run_may_steer, run_visible_to, runs_get_for

RunIds = Annotated[list[uuid.UUID], Query(alias="run", description="id of a run; repeated for each run")]


class CostOut(Schema):
    """What calls cost; null is unknown, never 0."""

    calls: int
    tokens: int | None
    seconds: float | None
    money: float | None


class RoleCostOut(CostOut):
    """What the calls of one role cost."""

    role: str


class ComparedRunOut(Schema):
    """A compared run in short."""

    run: uuid.UUID
    letter: str = Field(description="A to D, in the order of the request")
    title: str
    owner: str | None
    state: str = Field(description="how it ended, or its status")
    reason: str
    scaffold: str
    models: list[str]
    seed: int | None
    rounds: int | None
    proof: str = Field(description="votes on the selected proof in words; empty without one")
    lemmas: dict[str, int] = Field(description="lemmas by state; merged and corrected ones too")
    proposed: int | None = Field(description="null for a method without lemmas, as is `votes`")
    votes: int | None
    cost: CostOut = Field(description="of its own calls")
    costs: list[RoleCostOut]
    taken_over: int = Field(description="calls that a fork took over")


class ComparedLemmaOut(Schema):
    """A lemma of a compared run."""

    run: uuid.UUID
    letter: str
    lemma: str
    statement: str
    state: str = Field(description="in words, with the judgement of people")
    verdict: str = Field(description="verified, doubtful or rejected: of people, else of votes; empty without one")
    confidence: float | None


class ComparedRowOut(Schema):
    """Lemmas that say the same."""

    statement: str
    how: str = Field(description="why they are together; empty for a single lemma")
    lemmas: list[ComparedLemmaOut]


class PairOut(Schema):
    """The decision of a person on two lemmas."""

    id: int
    lemmas: list["LemmaNameOut"]
    is_same: bool
    by: str | None
    decided_at: datetime


class LemmaNameOut(Schema):
    """A lemma of a run."""

    run: uuid.UUID
    lemma: str


class ComparisonOut(Schema):
    """Two to four runs side by side. docs/comparing.md explains when lemmas say the same."""

    problem: str
    runs: list[ComparedRunOut]
    disagree: list[ComparedRowOut] = Field(description="lemmas of several runs with different verdicts")
    same: list[ComparedRowOut] = Field(description="the other lemmas of several runs")
    single: list[ComparedRowOut] = Field(description="lemmas of only one run")
    decisions: list[PairOut] = Field(description="of people on lemmas of these runs, newest first")
    may_decide: bool = Field(description="you may join and part lemmas of these runs")


class LemmaName(Sent):
    """A lemma of a run."""

    run: uuid.UUID
    lemma: str = Field(max_length=80, description="its id, such as s0.7")


class PairsIn(Sent):
    """A decision on each pair of some lemmas."""

    say: Literal["same", "differ"]
    lemmas: list[LemmaName] = Field(max_length=AT_MOST, description=f"two to {AT_MOST} lemmas of runs of one problem")


class PairList(Schema):
    """Decisions of people, newest first."""

    items: list[PairOut]


@api.get("/runs/compare", response=ComparisonOut, url_name="run_compare", summary="Compare runs")
@one_moment()
def run_compare(request: HttpRequest, run: RunIds = []) -> dict[str, Any]:  # noqa: B006
    """Outcomes and costs of two to four runs of one problem, their common lemmas, those of one run, and disagreements."""
    user = _reader(request)
    sides = sides_of(user, [str(one) for one in run])
    common, costs = common_of(sides), costs_of(sides)
    runs = [_run(one) for one in outcomes_of(sides)]
    for place, row in enumerate(runs):
        by_role = [(line.word, cost) for line in costs.rows if (cost := line.costs[place])]
        row["costs"] = [{"role": word, **_cost(cost)} for word, cost in by_role]
        row["cost"], row["taken_over"] = _cost(costs.sums[place]), costs.taken_over[place]
    return {
        "problem": sides[0].run.problem_version.problem.slug,
        "runs": runs,
        **{name: [_row(one, sides) for one in getattr(common, name)] for name in ("disagree", "same", "single")},
        "decisions": [_pair(one) for one in common.decisions],
        "may_decide": all(run_may_steer(user, side.run) for side in sides),
    }


@api.get("/runs/difference", response=dict[str, Any], url_name="run_difference", summary="Difference of two graphs")
@one_moment()
def run_difference(request: HttpRequest, run: RunIds = []) -> Any:  # noqa: B006
    """What the second run has, lacks and judges differently than the first, as one graph. docs/comparing.md has the fields."""
    return difference_of(*pair_of(_reader(request), [str(one) for one in run]))


@api.post("/lemma-pairs", response={201: PairList}, auth=WRITING, url_name="pairs_decide", summary="Join or part lemmas")
def pairs_decide_(request: HttpRequest, body: PairsIn, key: str | None = KEY) -> Any:
    """Decide that lemmas say the same or differ, pair by pair. Only for runs that you may steer; the newest decision counts."""
    user = _reader(request)
    runs = {one.public_id: one for one in runs_get_for(user, list({one.run for one in body.lemmas}))}
    require_one_problem(list(runs.values()))
    lemmas = [(runs[one.run], one.lemma) for one in body.lemmas]

    def work() -> PairList:
        pairs_decide(user=user, lemmas=lemmas, is_same=body.say == "same")
        chosen = {(run.pk, name) for run, name in lemmas}
        decided = [
            pair for pair in decisions_on(list(runs.values()))
            if {(pair.first_run_id, pair.first_lemma), (pair.second_run_id, pair.second_lemma)} <= chosen
        ]  # fmt: skip
        return PairList(items=[_pair(one) for one in decided])

    return once(request, key, work)


@api.delete(
    "/lemma-pairs/{int:pair_id}", response=PairOut, auth=WRITING, url_name="pair_withdraw", summary="Withdraw a decision"
)
def pair_withdraw_(request: HttpRequest, pair_id: int, key: str | None = KEY) -> Any:
    """Delete a decision on two lemmas, which is the answer. The computed comparison counts again."""
    user = _reader(request)
    visible = run_visible_to(user)

    def work() -> PairOut:
        pairs = LemmaPair.objects.filter(pk=pair_id, first_run__in=visible, second_run__in=visible)
        pair = pairs.select_related("by", "first_run", "second_run").first()
        if pair is None:
            raise Http404("The decision does not exist any more. GET /runs/compare lists those that count.")
        withdrawn = _pair(pair)
        pair_withdraw(user=user, pair=pair)
        return withdrawn

    return once(request, key, work)


def _reader(request: HttpRequest) -> User:
    user = user_of(request)
    if not user.may_see_runs:
        raise Http404
    return user


def _run(one: Outcome) -> dict[str, Any]:
    same = ("letter", "reason", "scaffold", "models", "seed", "rounds", "proof", "proposed", "votes")
    return {
        **{name: getattr(one, name) for name in same},
        "run": one.run.public_id,
        "title": one.run.title,
        "owner": one.run.owner.username if one.run.owner else None,
        "state": one.state[1],
        "lemmas": dict(one.lemmas),
    }


def _cost(cost: Cost) -> dict[str, Any]:
    return {name: getattr(cost, name) for name in ("calls", "tokens", "seconds", "money")}


def _row(row: Row, sides: Sequence[Side]) -> dict[str, Any]:
    lemmas = [_lemma(entry, side) for side, cell in zip(sides, row.cells, strict=True) for entry in cell]
    return {"statement": row.statement, "how": row.how, "lemmas": lemmas}


def _lemma(entry: Entry, side: Side) -> dict[str, Any]:
    lemma = entry.lemma
    return {
        "run": side.run.public_id,
        "letter": side.letter,
        **{name: getattr(lemma, name) for name in ("lemma", "statement", "confidence")},
        "state": entry.state,
        "verdict": entry.verdict,
    }


def _pair(pair: LemmaPair) -> PairOut:
    ends = ((pair.first_run, pair.first_lemma), (pair.second_run, pair.second_lemma))
    return PairOut(
        id=pair.pk,
        lemmas=[LemmaNameOut(run=run.public_id, lemma=name) for run, name in ends],
        is_same=pair.is_same,
        by=pair.by.username if pair.by else None,
        decided_at=pair.decided_at,
    )
