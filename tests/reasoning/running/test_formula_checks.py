"""The computational verifier of a run: it sees every lemma, proof and candidate, and changes nothing."""

import json
from typing import Any

import pytest

from apps.reasoning.domain.check_events import FormulasChecked
from apps.reasoning.domain.errors import BackendError, BackendRefused, DeadlineExceeded, EngineLost, RequestRejected
from apps.reasoning.domain.events import LemmaProposed, ProofDrafted, ProofSelected, RoundBegan
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.domain.tools import Execution
from apps.reasoning.domain.values import Value
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.running.check_answers import TOOK_TOO_LONG
from apps.reasoning.scaffolds.running.formula_checks import ENDED_BEFORE, FormulaChecks, subject_of
from tests.reasoning.checked import CheckingDispatcher, Reply, finding, play_checked, verifier
from tests.reasoning.play import FOLLOWS, lemma, play, proof

PARAMS: Value = SCAFFOLDS["intern_s1_mo"].presets["quick"].params
SLIP = {
    "s*/r1/summarise": lemma(1, "For all real $x$ we have $(x+1)^2=x^2+2x+1$.", "Expand: $(x+1)^2=x^2+x+1$ for all real $x$."),
    "final/write/*": proof("By Lemma 1 we have $2+2=5$.", "Divide by $2$."),
} | FOLLOWS


def printing(*findings: dict[str, Any]) -> Execution:
    return Execution(stdout=json.dumps({"findings": list(findings)}))


async def test_lemmas_and_proofs_are_checked_at_their_steps() -> None:
    run = await play_checked(SLIP, PARAMS)
    checks: dict[str, FormulasChecked] = {event.subject: event for event in run.of("formulas.checked")}
    assert set(checks) == {"s0.1", "proof/1"}
    assert checks["s0.1"].outcome == checks["proof/1"].outcome == "refuted"
    first, second = checks["s0.1"].findings
    assert (first.text_id, first.outcome, second.text_id, second.outcome) == ("statement", "proved", "step 1", "refuted")
    (slip,) = (one for one in checks["proof/1"].findings if one.outcome == "refuted")
    assert (slip.text_id, slip.anchor.quote) == ("step 1", "2+2=5")
    assert checks["proof/1"].call == "check/proof/1"


async def test_the_problem_goes_along_and_time_is_a_last_guard() -> None:
    run = await play_checked(FOLLOWS, PARAMS)
    job = json.loads(run.dispatcher.checks[0].messages[0].content)
    assert "Prove that" in job["context"]
    assert job["time_s"] >= 60
    texts = [(text["group"], text["id"]) for text in job["texts"]]
    assert texts[:3] == [("s0.1", "statement"), ("s0.1", "step 1"), ("s0.1", "step 2")]


async def test_lemmas_of_one_summary_share_a_job_and_know_nothing_of_each_other() -> None:
    """Were they one text, what the first declares would make the second one false for all positive reals."""
    summary = lemma(1, "Let $a,b$ be positive real numbers.") + lemma(2, "Then $a+b\\ge 3\\sqrt{ab}$.")
    run = await play_checked(SLIP | {"s*/r1/summarise": summary}, PARAMS)
    checks = {event.subject: event for event in run.of("formulas.checked")}
    assert len(run.dispatcher.checks) == 2
    assert (checks["s0.1"].outcome, checks["s0.2"].outcome) == ("not_understood", "not_understood")
    assert checks["s0.2"].not_understood == 1
    assert {record.key for record in run.journal.records if record.kind == "tool"} == {event.call for event in checks.values()}


async def test_a_text_that_ends_its_job_takes_no_other_with_it() -> None:
    def dies_of_the_first(request: GenerationRequest) -> Execution:
        return Execution(error="killed", exit_code=-9) if '"s0.1"' in request.messages[0].content else verifier(request)

    run = await play_checked(FOLLOWS, PARAMS, dies_of_the_first)
    checks = {event.subject: event for event in run.of("formulas.checked")}
    assert (checks["s0.1"].outcome, checks["s0.2"].outcome) == ("unchecked", "not_understood")


async def test_a_refutation_changes_neither_the_course_nor_what_is_spent() -> None:
    plain = await play(SLIP, PARAMS)
    run = await play_checked(SLIP, PARAMS)
    assert run.outcome == plain.outcome
    assert run.outcome.accepted
    assert run.course == [(key, event) for _, key, event in plain.journal.events]
    assert run.journal.spent == plain.journal.spent
    assert {record.kind for record in run.journal.records if record.key.startswith("check/")} == {"tool"}


async def test_checks_that_never_end_hold_nothing_up() -> None:
    """The window has one place, so a check that took it would stop the run."""
    run = await play_checked(SLIP, PARAMS, hangs=True, settle_s=0.05)
    assert run.outcome.accepted
    assert {event.unchecked for event in run.of("formulas.checked")} == {ENDED_BEFORE}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Execution(error="killed", exit_code=-9), "signal"),
        (Execution(error="memory", exit_code=None), "memory"),
        (Execution(stdout="verified!"), "cannot be read"),
        (EngineLost("The engine died."), "died"),
        (RequestRejected("The job is too long."), "too long"),
    ],
    ids=["crash", "memory", "no JSON", "worker lost", "rejected"],
)
async def test_a_check_without_an_answer_says_why_and_is_kept(reply: Execution | BackendError, reason: str) -> None:
    run = await play_checked(SLIP, PARAMS, lambda _: reply)
    assert run.outcome.accepted
    checks = run.of("formulas.checked")
    assert {event.outcome for event in checks} == {"unchecked"}
    assert all(reason in event.unchecked and not event.findings for event in checks)
    again = await play_checked(SLIP, PARAMS, journal=run.journal.cut(len(run.journal.records)))
    assert again.dispatcher.checks == []


def stopped_in_part(request: GenerationRequest) -> Execution:
    found = json.loads(verifier(request).stdout)["findings"]
    last = {**found[-1], "outcome": "stopped", "reason": "the guard", "tests": 0, "counterexample": None}
    return printing(*found[:-1], last)


@pytest.mark.parametrize(
    "reply",
    [lambda _: Execution(error="timeout", exit_code=None), lambda _: DeadlineExceeded("Too long."), stopped_in_part],
    ids=["the sandbox's limit", "the call's deadline", "one formula"],
)
async def test_what_a_limit_on_time_ends_is_stopped_not_kept_and_asked_again_by_the_next_owner(reply: Reply) -> None:
    run = await play_checked(SLIP, PARAMS, reply)
    assert run.outcome.accepted
    checks = {event.subject: event for event in run.of("formulas.checked")}
    assert checks["s0.1"].stopped or checks["s0.1"].outcome == "stopped"
    assert {(event.unchecked, event.call) for event in checks.values()} == {(TOOK_TOO_LONG, "")}
    assert [record for record in run.journal.records if record.key.startswith("check/")] == []
    again = await play_checked(SLIP, PARAMS, journal=run.journal.cut(len(run.journal.records)))
    assert {event.subject: event.outcome for event in again.of("formulas.checked") if event.call} == {
        "s0.1": "refuted",
        "proof/1": "refuted",
    }


async def test_findings_next_to_a_stopped_one_are_reported() -> None:
    run = await play_checked(SLIP, PARAMS, stopped_in_part)
    (check,) = (event for event in run.of("formulas.checked") if event.subject == "s0.1")
    assert (check.outcome, check.proved, check.stopped) == ("survived", 1, 1)


async def test_a_sandbox_that_is_off_is_reported_once_and_asked_again_by_the_next_owner() -> None:
    run = await play_checked(SLIP, PARAMS, lambda _: BackendRefused("No fence holds here."))
    assert run.outcome.accepted
    assert [event.reason for event in run.of("formulas.off")] == ["No fence holds here."]
    assert run.of("formulas.checked") == []
    again = await play_checked(SLIP, PARAMS, journal=run.journal.cut(len(run.journal.records)))
    assert {event.subject for event in again.of("formulas.checked")} == {"s0.1", "proof/1"}


async def test_a_run_that_dies_anywhere_asks_nothing_twice() -> None:
    whole = await play_checked(SLIP, PARAMS)
    for kept in range(len(whole.journal.records) + 1):
        cut = whole.journal.cut(kept)
        recorded = {record.key for record in cut.records}
        again = await play_checked(SLIP, PARAMS, journal=cut)
        assert again.outcome == whole.outcome
        assert recorded.isdisjoint(again.dispatcher.checked)
        assert again.journal.unread == 0
        assert _events_of(again.journal) == _events_of(whole.journal)


async def test_a_sandbox_that_goes_off_between_two_owners_leaves_no_record_unread() -> None:
    whole = await play_checked(SLIP, PARAMS)
    cut = whole.journal.cut(len(whole.journal.records))
    again = await play_checked(SLIP, PARAMS, lambda _: BackendRefused("off"), journal=cut)
    assert again.journal.unread == 0
    assert again.of("formulas.off") == []


async def test_the_winning_candidate_is_not_checked_again_as_the_proof() -> None:
    text = proof("Then $1+1=3$.")
    table = {"*/solve*": text, "solve*": text, "*": "<decision>pass</decision>"}
    run = await play_checked(table, SCAFFOLDS["self_check"].presets["quick"].params, scaffold="self_check")
    checks = {event.subject: event for event in run.of("formulas.checked")}
    assert "proof/1" in checks
    assert len(run.dispatcher.checks) == len(checks) - 1
    assert all(event.outcome == "refuted" for event in checks.values())
    assert checks["proof/1"].call == "check/proof/1"


async def test_findings_about_other_texts_and_places_are_left_out() -> None:
    def lies(request: GenerationRequest) -> Execution:
        return printing(
            finding("step 9", "x"), finding("step 1", "not there"), *json.loads(verifier(request).stdout)["findings"]
        )

    run = await play_checked(SLIP, PARAMS, lies)
    honest = await play_checked(SLIP, PARAMS)
    assert run.of("formulas.checked") == honest.of("formulas.checked")


def test_bare_words_and_other_events_are_not_checked() -> None:
    words = LemmaProposed(lemma="s0.1", number=1, rollout=0, round=1, statement="It is so.", steps=("Plainly.",))
    assert subject_of(words) is None
    assert subject_of(RoundBegan(rollout=0, round=1)) is None
    assert subject_of(words.model_copy(update={"steps": ("There are 25 primes below 100.",)})) is not None


def _events_of(journal: InMemoryJournal) -> set[tuple[str, str]]:
    return {(key, event.model_dump_json()) for _, key, event in journal.events}


class Strict(InMemoryJournal):
    """Refuses a second record under one key, as a table does."""

    async def append(self, record: StepRecord, *rest: Any, **more: Any) -> None:
        assert record.key not in self._records, "written twice"
        await super().append(record, *rest, **more)


DRAFT = ProofDrafted(proof="proof/1", text="We have $2+2=4$.", steps=("We have $2+2=4$.",), call="c", rollout=0)
SELECTED = ProofSelected(proof="proof/1", accepted=True, reason="")


async def test_a_proof_that_is_selected_after_its_check_is_not_recorded_twice() -> None:
    journal, dispatcher = Strict(), CheckingDispatcher({})
    checks = FormulaChecks("", journal, dispatcher)
    checks.observe(DRAFT)
    await checks.settle(5, 5)
    checks.observe(SELECTED)
    await checks.settle(5, 5)
    assert dispatcher.checked == ["check/proof/1"]
    resumed = Strict.holding(journal.records)
    again = FormulaChecks("", resumed, dispatcher)
    again.observe(DRAFT)
    again.observe(SELECTED)
    await again.settle(5, 5)
    assert dispatcher.checked == ["check/proof/1"]
    assert resumed.unread == 0
