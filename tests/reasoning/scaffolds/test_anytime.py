"""Anytime answers of every scaffold: equal to the outcome, and to what a run with less budget hands in."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from apps.reasoning.domain.event_base import Event, Kind
from apps.reasoning.domain.values import Value
from apps.reasoning.programs.anytime import Handed, Unit, answer_at, answers_over
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds import deepseek_math, nomos, self_check
from apps.reasoning.scaffolds.intern_s1_mo.params import Params as InternParams
from apps.reasoning.scaffolds.spec import Budget
from apps.reasoning.story.parts import Numbered
from apps.reasoning.story.run_story import RunStory, fold
from tests.reasoning.candidates import FAIL, PASS, better, named, score
from tests.reasoning.play import FOLLOWS, Played, play
from tests.reasoning.plays import Course, plays_of

#: Cases in which a rule decides that no play needs.
OWN: dict[str, Course] = {
    # The best mark is outside the group held most likely right.
    "nomos": (
        nomos.Params(solutions=3, kept=3),
        {
            "mark/c1.1": score(7),
            "mark/*": score(4),
            "consolidate": '<group number="1">1</group><group number="2">2, 3</group><likeliest>2</likeliest>',
            "final/*": better("A"),
            "*": named,
        },
    ),
    # Both have a mean of 1, and enough reports count for the second one only.
    "deepseek_math": (
        deepseek_math.Params(proofs=2, examinations=3, rounds=1),
        {"round/*": named, "examine/c1.1/[23]": "unread", "examine/*": score(1)},
    ),
    # The accepted solution has fewer passes than an older one.
    "self_check": (
        self_check.Params(accept=2, iterations=9),
        {"check/[24]": "unread", "check/6": FAIL, "check/*": PASS, "*": named},
    ),
    # Both candidates have the largest share, and enough votes count for the second one only.
    "intern_s1_mo": (
        InternParams(rounds=1, lemma_votes=1, proof_votes=3, revisions=1, candidates=2),
        {"final/check/1.1/[23]": "unread"} | FOLLOWS,
    ),
}
CASES = [(name, what) for name in sorted(SCAFFOLDS) for what in ("course", "golden")]
CASES += [(name, "unread_between") for name in sorted(SCAFFOLDS) if plays_of(name).verdicts] + [(name, "own") for name in OWN]


def course_of(name: str, what: str) -> Course:
    """A play of the scaffold. Exploring that reserves a part of the budget makes other calls where the budget is smaller."""
    plays = plays_of(name)
    golden = getattr(plays.verdicts, what, None) or plays.golden
    shown = {"course": plays.course, "own": OWN.get(name, plays.course)}
    params, table = shown.get(what, (golden.params, golden.table))
    return (params.model_copy(update={"kept_back": 0.0}) if "kept_back" in type(params).model_fields else params), table


async def played(name: str, course: Course, **more: Any) -> Played:
    return await play(course[1], course[0], scaffold=name, problem=plays_of(name).problem, **more)


def numbered(run: Played) -> list[Numbered[Event]]:
    return [(seq, event) for seq, _, event in run.journal.events]


def curve(name: str, params: Value, events: Sequence[Numbered[Event]]) -> list[Handed]:
    return answers_over(name, params.model_dump(), events)


def written(story: RunStory, answer: str) -> tuple[str, tuple[str, ...]] | None:
    """The call and the steps of what is handed in: a proof, or the candidate that becomes one."""
    if answer in story.lemmas.proofs:
        drafted = story.lemmas.proofs[answer].drafted
        return drafted.call, drafted.steps
    return (story.candidates.by_id[answer].call, story.candidates.by_id[answer].steps) if answer else None


def outcome(run: Played) -> tuple[str, tuple[str, ...]] | None:
    return written(fold(numbered(run)), run.outcome.proof)


async def compare_stopped_runs(name: str, course: Course) -> None:
    """Compare what runs that stop at each call hand in with the curve of the whole run; its calls come one after the other."""
    whole = await played(name, course, one_by_one=True)
    answers, story = curve(name, course[0], numbered(whole)), fold(numbered(whole))
    for calls in range(1, whole.journal.spent.calls + 1):
        run = await played(name, course, budget=Budget(calls=calls), one_by_one=True)
        assert outcome(run) == written(story, answer_at(answers, calls, "calls")), calls


@pytest.mark.parametrize("name", sorted(SCAFFOLDS))
def test_every_scaffold_declares_its_anytime_answer(name: str) -> None:
    assert SCAFFOLDS[name].hands_in is not None, f"declare hands_in in {SCAFFOLDS[name].solve.__module__} (docs/anytime.md)"


@pytest.mark.parametrize(("name", "what"), CASES)
async def test_at_the_full_budget_it_is_the_outcome(name: str, what: str) -> None:
    course = course_of(name, what)
    run = await played(name, course)
    answers = curve(name, course[0], numbered(run))
    spent = run.journal.spent
    assert outcome(run) is not None or run.outcome.ended_by == "nothing-readable"
    budgets: dict[Unit, float] = {"calls": spent.calls, "tokens": spent.tokens, "seconds": spent.seconds}
    for unit, budget in budgets.items():
        assert written(fold(numbered(run)), answer_at(answers, budget, unit)) == outcome(run)


@pytest.mark.parametrize(("name", "what"), CASES)
async def test_a_run_with_less_budget_hands_in_the_answer_of_the_whole_run_at_that_budget(name: str, what: str) -> None:
    course = course_of(name, what)
    await compare_stopped_runs(name, course)


@pytest.mark.parametrize("name", sorted(SCAFFOLDS))
async def test_a_run_with_fewer_tokens_hands_in_the_answer_at_the_tokens_that_it_used(name: str) -> None:
    course = course_of(name, "golden")
    whole = await played(name, course)
    answers, story = curve(name, course[0], numbered(whole)), fold(numbered(whole))
    for tokens in range(7, whole.journal.spent.tokens + 1, 23):
        run = await played(name, course, budget=Budget(tokens=tokens))
        assert tokens <= run.journal.spent.tokens < tokens + 15, "the call that reaches the limit is the last"
        assert outcome(run) == written(story, answer_at(answers, run.journal.spent.tokens, "tokens")), tokens


@pytest.mark.parametrize("name", sorted(SCAFFOLDS))
async def test_whatever_the_order_of_calls_a_run_that_a_budget_ends_has_its_outcome_as_answer(name: str) -> None:
    course = course_of(name, "course")
    whole = await played(name, course, shuffle=1)
    for calls in range(1, whole.journal.spent.calls + 1):
        run = await played(name, course, shuffle=1, budget=Budget(calls=calls))
        events = numbered(run)
        assert written(fold(events), answer_at(curve(name, course[0], events), calls, "calls")) == outcome(run), calls
        resumed = await played(name, course, budget=Budget(calls=calls), journal=whole.journal.cut(calls))
        events = numbered(resumed)
        assert written(fold(events), answer_at(curve(name, course[0], events), calls, "calls")) == outcome(resumed), calls


@pytest.mark.parametrize(("name", "what"), CASES)
async def test_later_events_change_no_earlier_answer_and_other_kinds_change_none(name: str, what: str) -> None:
    course = course_of(name, what)
    events = numbered(await played(name, course))
    answers = curve(name, course[0], events)
    hands_in, story, before = SCAFFOLDS[name].hands_in, RunStory(), ""
    assert hands_in is not None
    for seq, event in events:
        story.add(seq, event)
        answer = hands_in(story, course[0])
        assert answer == before or event.kind in SCAFFOLDS[name].hands_in_after
        before = answer
        assert answer == next((one.answer for one in reversed(answers) if one.seq <= seq), "")
        assert answer == "" or written(story, answer), "it has been drafted by then"


@pytest.mark.parametrize(("name", "what"), CASES)
async def test_an_accepted_solution_is_kept(name: str, what: str) -> None:
    course = course_of(name, what)
    run = await played(name, course)
    answers = curve(name, course[0], numbered(run))
    accepted = ""
    for one in answers:
        stopped = await played(name, course, budget=Budget(calls=max(1, one.calls)))
        assert not accepted or stopped.outcome.accepted, "it left an accepted solution for one that is not"
        accepted = one.answer if stopped.outcome.accepted else ""
    assert all(one.answer != other.answer for one, other in pairwise(answers))
    assert Kind.PROOF_SELECTED not in SCAFFOLDS[name].hands_in_after, "the rule uses judgements, not the outcome"
