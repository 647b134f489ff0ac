"""Anytime answers where verdicts disagree at random: a stopped run hands in the answer of the whole run at that call."""

import random
from collections.abc import Callable

import pytest

from apps.reasoning.domain.control import Command, ControlRequested
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.programs import best_of
from apps.reasoning.programs.anytime import answers_over
from apps.reasoning.scaffolds import (
    deepseek_math,
    grouped_agents,
    majority_vote,
    nomos,
    reasoning_cache,
    rsa,
    self_check,
    solver_verifier_corrector,
)
from apps.reasoning.scaffolds.alpha_apollo.params import Params as ApolloParams
from apps.reasoning.scaffolds.intern_s1_mo.params import Params as InternParams
from apps.reasoning.scaffolds.running.controls import ScriptedControls
from tests.graders.grade import grading
from tests.reasoning import agents
from tests.reasoning.candidates import FAIL, PASS, better, named, score
from tests.reasoning.play import FOLLOWS, Answer, lemma, play, proof, verdict
from tests.reasoning.plays import UNREAD, Course
from tests.reasoning.scaffolds.test_anytime import compare_stopped_runs, numbered

Written = Answer | Callable[[GenerationRequest], Answer]
PASSES = verdict(-1)
GROUPS = (
    '<group number="1">1, 2</group><group number="2">3</group><likeliest>1</likeliest>',
    '<group number="1">1, 2, 3, 4</group><likeliest>1</likeliest>',
    UNREAD,
)


def any_of(seed: int, *options: Written) -> Callable[[GenerationRequest], Answer]:
    """One of the answers, drawn by seed and call."""

    def drawn(request: GenerationRequest) -> Answer:
        found = random.Random(f"{seed}/{request.key}").choice(options)
        return found(request) if callable(found) else found

    return drawn


def courses_of_checks(seed: int) -> dict[str, Course]:
    solved, checks = any_of(seed, named, named, named, UNREAD), any_of(seed, PASS, PASS, FAIL, UNREAD)
    loop = {"check/*": checks, "solve": named, "*": solved}
    table: dict[str, Written] = {
        "final/check/*": any_of(seed, PASSES, PASSES, verdict(1), UNREAD),
        "final/*/*": any_of(seed, proof("By Lemma 2."), proof("Plain."), UNREAD),
        **FOLLOWS,
    }
    return {
        "self_check": (self_check.Params(accept=2, give_up=3, iterations=9), loop),
        "solver_verifier_corrector": (solver_verifier_corrector.Params(accept=2, give_up=4, corrections=6), loop),
        "grouped_agents": (grouped_agents.Params(group=3), {"step/[24]/*": checks, "*": solved}),
        "reasoning_cache": (
            reasoning_cache.Params(states=2, attempts=2, marks=True),
            {"turn/*/summarise": "<state>So far.</state>", "mark/*": score(3), "*": solved},
        ),
        # With equal memories no tie waits for a length that is not recorded yet.
        "alpha_apollo": (
            ApolloParams(rounds=3, evaluators=2 + seed % 2, turns=2),
            agents.follows({"judge/*": any_of(seed, agents.report(1), agents.report(1), agents.report(0), UNREAD)}),
        ),
        "intern_s1_mo": (
            InternParams(rounds=1, lemma_votes=1, proof_votes=3, revisions=2, candidates=2, kept_back=0.0),
            table,
        ),
    }


def courses_of_pools(seed: int) -> dict[str, Course]:
    solved, judge = any_of(seed, named, named, named, UNREAD), any_of(seed, better("A"), better("B"), UNREAD)
    answers = (proof("So it is.", f"Answer: {answer}") for answer in ("1", "2", "$1$"))
    marks = {"mark/*": any_of(seed, score(1), score(4), score(4), UNREAD), "consolidate": any_of(seed, *GROUPS)}
    examined = {
        "examine/*": any_of(seed, score(1), score(1), score(0.5), UNREAD),
        "meta/*": any_of(seed, score(1), score(1), score(0), UNREAD),
    }
    grades = {"grade/*": any_of(seed, grading(5), grading(5), grading(2), UNREAD)}
    return {
        "nomos": (nomos.Params(solutions=5, kept=4), {"solve/*": solved, **marks, "final/*": judge}),
        "rsa": (rsa.Params(population=4, subset=2, steps=2), {"step/*": solved, "final/*": judge}),
        "deepseek_math": (
            deepseek_math.Params(proofs=2, examinations=3, meta=bool(seed % 2)),
            {"round/*": solved, **examined},
        ),
        "best_of": (best_of.Params(solutions=4), {"solve/*": solved, **grades, "duel/*": judge}),
        "majority_vote": (majority_vote.Params(solutions=5), {"solve/*": any_of(seed, *answers, proof("Plain."))}),
    }


def courses(seed: int) -> dict[str, Course]:
    """A course of each scaffold that compares or repeats."""
    return courses_of_checks(seed) | courses_of_pools(seed)


@pytest.mark.parametrize("name", sorted(courses(0)))
@pytest.mark.parametrize("seed", range(3))
async def test_a_run_that_stops_at_any_call_hands_in_the_answer_of_the_whole_run_there(name: str, seed: int) -> None:
    await compare_stopped_runs(name, courses(seed)[name])


#: Two rollouts with equal lemmas that rest on different ones, and two of three proofs that rest on them.
MERGED = {
    "s*/r*/reason": "<claim>partial</claim>",
    "s0/r1/summarise": lemma(1, "Base.", "p") + lemma(2, "Mid.", "p") + lemma(3, "Top.", "By Lemma 2."),
    "s1/r1/summarise": lemma(1, "Other.", "p") + lemma(2, "Mid.", "By Lemma 1.") + lemma(3, "High.", "By Lemma 2."),
    "final/write/1": proof("By Lemma s0.3."),
    "final/write/2": proof("By Lemma s1.3."),
    "final/write/3": proof("It is plain."),
    "final/revise/*": proof("Plain."),
}


@pytest.mark.parametrize("rejected", ["s0.2", "s1.2", "s1.1", "s1.3"])
@pytest.mark.parametrize("point", ["r1/end", "final/write", "final/check/1", "final/votes/1"])
async def test_whenever_a_person_rejects_a_lemma_the_curve_ends_with_the_outcome(rejected: str, point: str) -> None:
    params = InternParams(rounds=1, rollouts=2, lemma_votes=1, proof_votes=1, candidates=3, revisions=1)
    points = ["r1/reason", "r1/summarise", "r1/verify", "r1/votes", "r1/end", "final/write", "final/check/1", "final/votes/1"]
    reject = Command(id="c1", name="reject_lemma", by="alice", args={"lemma": rejected})
    for fails in ("1.3", "1.1", "1.[12]"):
        journal = InMemoryJournal()
        journal.emit("c1", ControlRequested(command="c1", name="reject_lemma", by="alice", args=reject.args))
        table = {f"final/check/{fails}/*": verdict(1)} | MERGED | FOLLOWS
        run = await play(table, params, journal=journal, controls=ScriptedControls({points.index(point): [reject]}))
        assert run.events["control/c1/applied"].model_dump()["point"] == point
        assert answers_over("intern_s1_mo", params.model_dump(), numbered(run))[-1].answer == run.outcome.proof
