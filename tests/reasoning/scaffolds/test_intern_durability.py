"""A run that is cut anywhere and resumed ends as if nothing had happened; the order in which calls end changes nothing."""

from fnmatch import fnmatchcase

import pytest

from apps.reasoning.domain.errors import BudgetExhausted, NeedsFork, RunHalted
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.scaffolds.intern_s1_mo.params import Params
from apps.reasoning.scaffolds.spec import Budget
from tests.reasoning.play import FOLLOWS, Answer, Fallback, lemma, play, proof, verdict

PARAMS = Params(
    rollouts=2, rounds=2, lemma_votes=2, proof_votes=2, candidates=2, revisions=2, solved_by="lemmas", stop_together=False
)
LONG = Fallback(
    {
        "s*/r*/reason": "<claim>partial</claim>",
        "s0/r1/summarise": lemma(1, "Let $a>0$.", "p") + lemma(2, "Two.", "By Lemma 1.") + lemma(3, "Three.", "By Lemma 7."),
        "s1/r1/summarise": lemma(1, "let $a > 0$", "q") + lemma(2, "Own.", "By Lemma 1."),
        "s0/r2/summarise": lemma("3-fixed", "Three.", "By Lemma 2."),
        "s1/r2/summarise": "nothing readable",
        "s0/r1/verify/s0.3/*": verdict(1),
        "final/write/*": proof("By Lemma s0.2.", "By Lemma s1.2."),
        "final/check/1.1/*": verdict(2),
        "final/check/1.2/2": verdict(1),
        "final/check/2.*/1": verdict(1),
        "final/revise/*": proof("Better by Lemma s0.3-fixed."),
    }
)


async def test_resumed_at_every_call_the_run_ends_as_the_uninterrupted_one() -> None:
    whole = await play(LONG | FOLLOWS, PARAMS)
    assert whole.outcome.accepted
    assert len(whole.journal.records) == 36
    for cut in range(len(whole.journal.records) + 1):
        again = await play(LONG | FOLLOWS, PARAMS, journal=whole.journal.cut(cut))
        assert again.outcome == whole.outcome
        assert again.events == whole.events, cut
        assert {record.key: record for record in again.journal.records} == {r.key: r for r in whole.journal.records}
        assert len(again.dispatcher.requests) == len(whole.journal.records) - cut
        assert [seq for seq, _, _ in again.journal.events] == list(range(1, len(again.journal.events) + 1))


@pytest.mark.parametrize("seed", range(12))
async def test_the_order_in_which_calls_end_changes_nothing(seed: int) -> None:
    whole, shuffled = await play(LONG | FOLLOWS, PARAMS), await play(LONG | FOLLOWS, PARAMS, shuffle=seed)
    assert shuffled.events == whole.events
    assert shuffled.outcome == whole.outcome
    assert {r.key: r.seed for r in shuffled.dispatcher.requests} == {r.key: r.seed for r in whole.dispatcher.requests}


@pytest.mark.parametrize("seed", range(4))
async def test_cut_after_a_shuffled_start_it_still_ends_alike(seed: int) -> None:
    whole = await play(LONG | FOLLOWS, PARAMS)
    started = await play(LONG | FOLLOWS, PARAMS, shuffle=seed)
    for cut in range(0, len(started.journal.records), 5):
        again = await play(LONG | FOLLOWS, PARAMS, journal=started.journal.cut(cut), shuffle=seed + 100)
        assert again.events == whole.events


async def test_other_prompts_are_never_mixed_into_a_recorded_run() -> None:
    whole = await play(LONG | FOLLOWS, PARAMS)
    with pytest.raises(NeedsFork, match=r"s\d/r1/reason"):
        await play(LONG | FOLLOWS, PARAMS.model_copy(update={"rounds": 3}), journal=whole.journal.cut(10))


async def test_a_fork_asks_again_only_what_is_asked_differently() -> None:
    parent = await play(LONG | FOLLOWS, PARAMS)
    fork = await play(LONG | FOLLOWS, PARAMS.model_copy(update={"revisions": 3}), inherited=parent.journal.recorded)
    assert {key.split("/")[1] for key in fork.dispatcher.keys} == {"revise"}
    assert fork.outcome == parent.outcome


async def test_a_halted_backend_stops_the_run_and_it_resumes_to_the_same_end() -> None:
    whole, journal, left = await play(LONG | FOLLOWS, PARAMS), InMemoryJournal(), [9]

    def dies(request: GenerationRequest) -> Answer:
        left[0] -= 1
        if left[0] < 0:
            return RunHalted("The server is gone.")
        return next(answer for pattern, answer in (LONG | FOLLOWS).items() if fnmatchcase(request.key, pattern))

    with pytest.raises(RunHalted):
        await play({"*": dies}, PARAMS, journal=journal)
    again = await play(LONG | FOLLOWS, PARAMS, journal=journal)
    assert again.events == whole.events


@pytest.mark.parametrize("calls", range(1, 34))
async def test_a_budget_of_any_size_ends_with_the_best_there_is(calls: int) -> None:
    played = await play(LONG | FOLLOWS, PARAMS.model_copy(update={"kept_back": 0.0}), budget=Budget(calls=calls))
    assert len(played.dispatcher.requests) == calls
    assert played.outcome.accepted is not True
    assert played.outcome.ended_by == "budget"
    assert bool(played.outcome.proof) == bool(played.of("proof.drafted"))
    assert len(played.of("budget.spent")) == 1
    assert "budget" in played.outcome.reason


async def test_calls_under_way_when_the_budget_ends_are_kept() -> None:
    played = await play(LONG | FOLLOWS, PARAMS, budget=Budget(calls=8), shuffle=1)
    assert len(played.journal.records) == 8


def test_the_exhausted_budget_says_how_much() -> None:
    assert str(BudgetExhausted("calls", 8, 8)) == "The budget of 8 calls is used up (8 spent)."
