"""Options of Intern-S1-MO: a refuted formula costs no votes, and verifiers are shown marks."""

import pytest

from apps.reasoning.domain.errors import BackendRefused
from apps.reasoning.domain.events import VerdictReached
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.intern_s1_mo.params import Params
from apps.reasoning.scaffolds.running.checking_first import REFUTED
from tests.reasoning.checked import Checked, play_checked
from tests.reasoning.play import FOLLOWS, lemma, play, proof

FIRST = Params(rounds=2, lemma_votes=2, proof_votes=2, revisions=1, formulas_first=True)
MARKED = Params(rounds=1, lemma_votes=1, proof_votes=1, revisions=0, verifier_marks=True)
SLIP = {
    "s*/r1/reason": "<claim>partial</claim>",
    "s*/r1/summarise": lemma(1, "For all real $x$ we have $(x+1)^2=x^2+x+1$.", "Expand.")
    + lemma(2, "The number is even.", "Since $2+2=4$, it is.")
    + lemma(3, "It is odd.", "We add: $2+2=5$."),
    "s*/r2/summarise": lemma(4, "It is plain.", "See above."),
    "final/write/*": proof("By Lemma 2 we have $2+2=5$.", "Divide by $2$."),
    "final/revise/*": proof("By Lemma 2 we have $2+2=4$."),
} | FOLLOWS


def asked(run: Checked, pattern: str) -> list[str]:
    return [key for key in run.dispatcher.keys if pattern in key]


async def test_a_lemma_with_a_refuted_statement_or_step_gets_no_votes() -> None:
    run = await play_checked(SLIP, FIRST)
    assert asked(run, "s0/r1/verify") == ["s0/r1/verify/s0.2/1", "s0/r1/verify/s0.2/2"]
    verdicts: dict[str, VerdictReached] = {event.subject: event for event in run.of("verdict.reached")}
    for refuted in (verdicts["s0.1"], verdicts["s0.3"]):
        assert (refuted.status, refuted.confidence, refuted.total, refuted.unscored) == ("refuted", None, 0, REFUTED)
    assert (verdicts["s0.2"].status, verdicts["s0.2"].confidence) == ("verified", 1.0)


async def test_the_reasoner_reads_why_and_the_lemma_stays_out_of_the_library() -> None:
    run = await play_checked(SLIP, FIRST)
    prompt = run.dispatcher.prompt("s0/r2/reason")
    assert "Objection: step 1: `2+2=5` is refuted (4 against 5)." in prompt
    assert "Lemma 1 (" not in prompt


async def test_a_proof_with_a_refuted_formula_goes_to_the_reviser_without_votes() -> None:
    run = await play_checked(SLIP, FIRST)
    assert asked(run, "final/check/1/") == []
    assert "`2+2=5` is refuted" in run.dispatcher.prompt("final/revise/1/1")
    assert asked(run, "final/check/2/") == ["final/check/2/1", "final/check/2/2"]
    assert run.outcome.accepted
    assert run.outcome.proof == "proof/2"


async def test_resumed_at_every_record_it_ends_alike_and_checks_nothing_twice() -> None:
    whole = await play_checked(SLIP, FIRST)
    own = {record.key for record in whole.journal.records if record.key.endswith("/formulas")}
    assert own
    for kept in range(0, len(whole.journal.records) + 1, 3):
        journal: InMemoryJournal = whole.journal.cut(kept)
        done = {record.key for record in journal.records}
        again = await play_checked(SLIP, FIRST, journal=journal)
        assert again.outcome == whole.outcome
        assert {key for key in again.dispatcher.checked if key.endswith("/formulas")} == own - done


async def test_without_a_sandbox_all_votes_are_asked_for() -> None:
    run = await play_checked(SLIP, FIRST, lambda _: BackendRefused("No fence."))
    assert len(asked(run, "s0/r1/verify")) == 6
    assert "refuted" not in {event.status for event in run.of("verdict.reached")}


async def test_refuted_lemmas_alone_end_the_run_with_that_and_not_with_unread_votes() -> None:
    only = {"s*/r*/summarise": lemma(1, "It is so.", "We add: $2+2=5$."), "s*/r*/reason": "<claim>partial</claim>"} | FOLLOWS
    run = await play_checked(only, FIRST)
    assert run.outcome.reason == "None of 2 lemmas held, so there was nothing to write up."


async def test_verifiers_read_marks_and_that_a_proved_formula_is_no_verdict_on_the_step() -> None:
    run = await play_checked(SLIP, MARKED)
    prompt = run.dispatcher.prompt("s0/r1/verify/s0.3/1")
    assert "step 1: `2+2=5` is refuted (4 against 5)." in prompt
    assert "says nothing about whether the step follows" in prompt
    assert "`2+2=4` is proved" in run.dispatcher.prompt("s0/r1/verify/s0.2/1")
    assert "`2+2=5` is refuted" in run.dispatcher.prompt("final/check/1/1")


async def test_quotes_of_models_are_inside_a_fence() -> None:
    run = await play_checked(SLIP, MARKED)
    _, _, after = run.dispatcher.prompt("s0/r1/verify/s0.3/1").partition("What a program found")
    assert after.index("<<<CONTENT") < after.index("2+2=5") < after.index("<<<END")


@pytest.mark.parametrize("without", [FIRST, MARKED])
async def test_without_the_options_calls_and_prompts_are_as_before(without: Params) -> None:
    plain = without.model_copy(update={"formulas_first": False, "verifier_marks": False})
    run = await play(SLIP, plain)
    assert not [request for request in run.dispatcher.requests if request.job != "generate"]
    assert "What a program found" not in "".join(run.dispatcher.prompt(key) for key in run.dispatcher.keys)


def test_prompts_of_checks_are_among_the_hashes_of_a_scaffold_that_shows_them() -> None:
    assert "checks/forms/marks" in SCAFFOLDS["intern_s1_mo"].prompts
    assert "checks/forms/marks" not in SCAFFOLDS["single_call"].prompts
