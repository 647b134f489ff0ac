"""The curve of one run: what counts as use, runs that stopped, answers that change back, and runs without a curve."""

import time
from collections.abc import Callable, Iterator

import pytest

from apps.reasoning.domain.candidate_events import CandidateDrafted, CandidateScored, GroupsFormed
from apps.reasoning.domain.control import Command, ControlRequested
from apps.reasoning.domain.errors import BackendRefused, EngineLost, ParamsError, RequestRejected, RunCancelled, RunHalted
from apps.reasoning.domain.event_base import Event, Kind
from apps.reasoning.domain.events import CallBegan, CallEnded
from apps.reasoning.domain.generation import Usage
from apps.reasoning.domain.import_events import ImportSource
from apps.reasoning.domain.values import Value
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.programs.anytime import Handed, NoAnytimeAnswer, answer_at, answers_over
from apps.reasoning.scaffolds import majority_vote, self_check
from apps.reasoning.scaffolds.alpha_apollo.params import Params as ApolloParams
from apps.reasoning.scaffolds.intern_s1_mo.params import Params as InternParams
from apps.reasoning.scaffolds.running.controls import ScriptedControls
from apps.reasoning.scaffolds.spec import Budget
from apps.reasoning.story.parts import Numbered
from tests.reasoning import agents
from tests.reasoning.candidates import FAIL, PASS, named
from tests.reasoning.play import FOLLOWS, Answer, Played, lemma, play, proof, verdict
from tests.reasoning.plays import Table
from tests.reasoning.plays.test_majority_vote import answering

CHECK = self_check.Params(accept=2, give_up=3, iterations=6)
REJECT = Command(id="c1", name="reject_lemma", by="alice", args={"lemma": "s0.1"})
ASKED = ControlRequested(command=REJECT.id, name=REJECT.name, by=REJECT.by, args=REJECT.args)
CHECKED: Table = {"check/1": FAIL, "check/*": PASS, "*": named}


def numbered(journal: InMemoryJournal) -> list[Numbered[Event]]:
    return [(seq, event) for seq, _, event in journal.events]


def curve(run: Played, scaffold: str, params: Value) -> list[Handed]:
    return answers_over(scaffold, params.model_dump(), numbered(run.journal))


async def checked(table: Table, **more: object) -> Played:
    return await play(table, CHECK, scaffold="self_check", **more)  # type: ignore[arg-type]


# --- use -------------------------------------------------------------------------------------------------------------


async def test_each_change_has_the_use_of_the_run_by_then() -> None:
    run = await checked(CHECKED)
    assert run.dispatcher.keys == ["solve", "improve", "check/1", "correct/1", "check/2", "check/3"]
    found = curve(run, "self_check", CHECK)
    each = [(1, 5, 15, 0.5, "c1.1"), (2, 10, 30, 1.0, "c1.2"), (4, 20, 60, 2.0, "c2.1")]
    assert [(*one[1:5], one.answer) for one in found] == each
    assert [one.by_alias for one in found] == [{"scripted": (calls, 10 * calls, 5 * calls)} for calls in (1, 2, 4)]
    kinds = {seq: event.kind for seq, event in numbered(run.journal)}
    assert {kinds[one.seq] for one in found} == {Kind.CANDIDATE_DRAFTED}
    assert [answer_at(found, calls, "calls") for calls in range(6)] == ["", "c1.1", "c1.2", "c1.2", "c2.1", "c2.1"]
    assert [answer_at(found, tokens, "tokens") for tokens in (14, 15, 59, 10**9)] == ["", "c1.1", "c1.2", "c2.1"]
    assert answer_at(found, 9.9, "completion_tokens") == answer_at(found, 0.99, "seconds") == "c1.1"


async def test_a_failed_call_counts_as_a_call_and_an_attempt_that_is_repeated_does_not() -> None:
    attempts: Iterator[Answer] = iter((EngineLost("lost"), proof("A proof.")))
    table: Table = {"solve": lambda _: next(attempts), "improve": RequestRejected("too long"), "check/*": PASS}
    run = await checked(table)
    assert Kind.CALL_RETRIED in {event.kind for _, event in numbered(run.journal)}
    assert [(*one[1:5], one.answer) for one in curve(run, "self_check", CHECK)] == [(1, 5, 15, 0.5, "c1.1")]
    failed = await checked({"check/1": FAIL, "improve": RequestRejected("too long"), "check/*": PASS, "*": named})
    assert [one[1:4] for one in curve(failed, "self_check", CHECK)] == [(1, 5, 15), (4, 15, 45)]


async def test_calls_that_a_fork_took_over_are_no_use_as_in_its_budget() -> None:
    parent = await checked(CHECKED)
    fork = await checked(CHECKED, inherited=parent.journal.recorded)
    assert fork.journal.spent.calls == 0
    found = curve(fork, "self_check", CHECK)
    assert [one.answer for one in found] == ["c1.1", "c1.2", "c2.1"]
    assert {one[1:5] for one in found} == {(0, 0, 0, 0.0)}
    assert answer_at(found, 0, "calls") == "c2.1"


async def test_calls_of_tools_are_no_use() -> None:
    params = ApolloParams(mode="reasoning")
    run = await play(agents.follows({"*/turn/1": agents.python("1")}), params, scaffold="alpha_apollo")
    assert [one[1:4] for one in curve(run, "alpha_apollo", params)] == [(2, 10, 30)]


# --- runs that stopped -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("point", range(1, 6))
async def test_a_cancelled_run_has_the_answer_that_its_end_would_have_had(point: int) -> None:
    journal = InMemoryJournal()
    with pytest.raises(RunCancelled):
        await checked(CHECKED, journal=journal, controls=ScriptedControls({point: RunCancelled()}))
    answers = answers_over("self_check", CHECK.model_dump(), numbered(journal))
    run = await checked(CHECKED, journal=journal, budget=Budget(calls=journal.spent.calls))
    call = {"c1.1": "solve", "c1.2": "improve", "c2.1": "correct/1"}[answers[-1].answer]
    assert run.events["proof/1"].model_dump()["call"] == call


async def test_a_failed_run_has_an_answer_and_so_has_one_without_a_readable_solution() -> None:
    journal = InMemoryJournal()
    with pytest.raises(RunHalted):
        await checked({"check/2": BackendRefused(), **CHECKED}, journal=journal)
    assert answers_over("self_check", CHECK.model_dump(), numbered(journal))[-1].answer == "c2.1"
    run = await checked({"*": "I like turtles."})
    assert run.outcome.proof == ""
    assert curve(run, "self_check", CHECK) == []


# --- rules -----------------------------------------------------------------------------------------------------------


async def test_a_reserve_for_the_write_up_hands_in_earlier_than_the_whole_run() -> None:
    """The curve of Intern-S1-MO is what its recorded course had; a smaller budget would have begun the write-up earlier."""
    params = InternParams(rounds=3, lemma_votes=1, proof_votes=1)
    table = {"s0/r*/reason": "<claim>partial</claim>", "s0/r[23]/summarise": lemma(3, "Three.", "It is plain.")} | FOLLOWS
    whole = await play(table, params)
    first = curve(whole, "intern_s1_mo", params)[0]
    run = await play(table, params, budget=Budget(calls=first.calls - 1))
    assert (run.outcome.accepted, run.outcome.proof) == (True, "proof/1")
    assert answer_at(curve(whole, "intern_s1_mo", params), first.calls - 1, "calls") == ""


@pytest.mark.parametrize("point", ["final/check/1", "final/votes/1"])
async def test_a_proof_whose_lemma_a_person_rejects_gives_way_to_one_that_is_accepted(point: str) -> None:
    params = InternParams(rounds=1, lemma_votes=1, proof_votes=1, candidates=2)
    table = {"final/write/1": proof("By Lemma 2."), "final/write/2": proof("Plain.")}
    plain = await play(table | FOLLOWS, params)
    assert [one.answer for one in curve(plain, "intern_s1_mo", params)] == ["proof/1.1"]
    points = ["r1/reason", "r1/summarise", "r1/verify", "r1/votes", "r1/end", "final/write", "final/check/1", "final/votes/1"]
    journal = InMemoryJournal()
    journal.emit("control/c1/requested", ASKED)
    run = await play(table | FOLLOWS, params, controls=ScriptedControls({points.index(point): [REJECT]}), journal=journal)
    assert run.events["control/c1/applied"].model_dump()["point"] == point
    assert (run.outcome.accepted, run.outcome.proof) == (True, "proof/1.2")
    found = curve(run, "intern_s1_mo", params)
    assert [one.answer for one in found] == ["proof/1.1", "proof/1.2"]


async def test_a_lemma_rejected_before_the_proof_is_drafted_does_not_count_against_it() -> None:
    params = InternParams(rounds=1, lemma_votes=1, proof_votes=1, revisions=1)
    table = {"final/check/1/*": verdict(1), "final/revise/*": proof("By Lemma 1.")} | FOLLOWS
    journal = InMemoryJournal()
    journal.emit("control/c1/requested", ASKED)
    run = await play(table, params, controls=ScriptedControls({7: [REJECT]}), journal=journal)
    assert (run.outcome.accepted, run.outcome.proof) == (True, "proof/2")
    assert curve(run, "intern_s1_mo", params)[-1].answer == "proof/2"


async def test_of_equal_judgements_the_shorter_memory_counts_once_it_is_stored() -> None:
    params = ApolloParams(rounds=2, evaluators=2, turns=1, stop_early=False)
    table = agents.follows({"condense/c2.1": "<checkpoints>Short.</checkpoints>"})
    run = await play(table, params, scaffold="alpha_apollo")
    found = curve(run, "alpha_apollo", params)
    assert [one.answer for one in found] == ["c1.1", "c2.1"]
    stored = next(seq for seq, event in numbered(run.journal) if event.kind == Kind.MEMORY_STORED and event.candidate == "c2.1")  # type: ignore[attr-defined]
    assert found[-1].seq == stored, "no earlier event has its length"


async def test_a_recorded_vote_counts_even_if_answers_are_compared_otherwise_today() -> None:
    run = await play(answering("$1$", "$2$", "$2$"), majority_vote.Params(solutions=3), scaffold="majority_vote")
    events = [
        (seq, event.model_copy(update={"groups": (("c1.1", "c1.2"), ("c1.3",)), "chosen": 0}))
        if isinstance(event, GroupsFormed)
        else (seq, event)
        for seq, event in numbered(run.journal)
    ]
    assert [one.answer for one in answers_over("majority_vote", {"solutions": 3}, events)] == ["c1.1", "c1.2", "c1.1"]


# --- runs without a curve --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["proof_ledger", "missing", ""])
def test_an_unknown_scaffold_is_rejected_with_the_list_of_known_ones(name: str) -> None:
    with pytest.raises(NoAnytimeAnswer, match=f"There is no scaffold {name}, so its rule is unknown.*intern_s1_mo"):
        answers_over(name, {}, [])


@pytest.mark.parametrize("name", ["proof_ledger", "proof_graph", "self_check"])
def test_an_imported_run_is_rejected_also_under_the_name_of_a_scaffold(name: str) -> None:
    source = ImportSource(format="proof ledger", file="ledger.jsonl", sha256="0", times="order only")
    with pytest.raises(NoAnytimeAnswer, match=r"imported from ledger\.jsonl \(proof ledger\)"):
        answers_over(name, {}, [(1, source)])


@pytest.mark.parametrize("name", sorted(GRADERS))
def test_a_grading_hands_in_nothing(name: str) -> None:
    with pytest.raises(NoAnytimeAnswer, match="writes no solution"):
        answers_over(name, {}, [])


def test_parameters_that_the_scaffold_does_not_have_are_refused() -> None:
    with pytest.raises(ParamsError, match="populations"):
        answers_over("rsa", {"populations": 4}, [])


# --- speed -----------------------------------------------------------------------------------------------------------


def calls(name: str, *after: Event) -> Iterator[Event]:
    yield CallBegan(call=name, role="solver", alias="a", rollout=0, round=1)
    usage = Usage(prompt=10, completion=5)
    yield CallEnded(call=name, attempt=1, finish_reason="stop", usage=usage, ttft_s=0, duration_s=1, text_sha="")
    yield from after


def pool(candidates: int, reports: int, rounds: int) -> list[Event]:
    events: list[Event] = []
    for place in range(candidates):
        name = f"c{1 + place * rounds // candidates}.{place + 1}"
        steps = (f"Answer: {place % 20}",)
        drafted = CandidateDrafted(candidate=name, made_as="solution", text="", steps=steps, call=name, round=1)
        events += calls(name, drafted)
        for index in range(1, reports + 1):
            marked = CandidateScored(
                candidate=name, index=index, of=reports, call=f"{name}/{index}", scale=1, score=((place + index) % 3) / 2
            )
            events += calls(f"{name}/{index}", marked)
    return events


def processor_seconds(work: Callable[[], object]) -> float:
    """The least of three attempts."""
    took = []
    for _ in range(3):
        began = time.process_time()
        assert work()
        took.append(time.process_time() - began)
    return min(took)


@pytest.mark.parametrize(
    ("name", "params", "events"),
    [
        ("deepseek_math", {"proofs": 64, "rounds": 10}, pool(600, 4, 10)),
        ("deepseek_math", {"proofs": 16, "examinations": 64}, pool(46, 64, 3)),
        ("rsa", {"population": 256, "steps": 11}, pool(3_000, 0, 12)),
        ("nomos", {"solutions": 256}, pool(256, 1, 1)),
        ("majority_vote", {"solutions": 256}, pool(256, 0, 1)),
        ("grouped_agents", {"group": 128}, pool(640, 0, 3)),
        ("reasoning_cache", {"turns": 2, "states": 3}, pool(3_000, 0, 2)),
    ],
)
def test_a_curve_takes_less_than_forty_times_the_reading_of_nine_thousand_events(
    name: str, params: dict[str, int], events: list[Event]
) -> None:
    stored = [(type(event), event.model_dump_json()) for event in pool(3_000, 0, 12)]
    reading = processor_seconds(lambda: [kind.model_validate_json(text) for kind, text in stored])
    rows = list(enumerate(events, 1))
    assert processor_seconds(lambda: answers_over(name, params, rows)) < 40 * reading
