"""The computational verifier in real processes: a sandbox worker checks lemmas and proofs without influence on the run."""

from typing import Any

import pytest

from tests.flows.conftest import assert_sound
from tests.flows.stack import Stack

pytestmark = [pytest.mark.kill]
ALL = ("valkey", "orchestrator", "inference", "sandbox")
Undisturbed = dict[str, tuple[str, Any]]


def checks(dump: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {event["body"]["subject"]: event["body"] for event in dump["events"] if event["kind"] == "formulas.checked"}


def subjects(dump: dict[str, Any]) -> set[str]:
    """Lemmas and proofs that hold a formula, which all of the worked example's do."""
    bodies = {kind: [event["body"] for event in dump["events"] if event["kind"] == kind] for kind in _CHECKED}
    return {body[name] for kind, name in _CHECKED.items() for body in bodies[kind]}


_CHECKED = {"lemma.proposed": "lemma", "proof.drafted": "proof"}


@pytest.fixture
def fenced(stack: Stack) -> Stack:
    """The stack with a sandbox, slow enough that checks keep up on a busy machine."""
    stack.env |= {"SANDBOX": "auto", "WORKED_EXAMPLE_TOKENS_PER_S": "400"}
    return stack


def test_every_lemma_and_proof_is_checked_and_the_run_is_unchanged(fenced: Stack, undisturbed: Undisturbed) -> None:
    fenced.start(*ALL)
    dump = fenced.wait_until_ended(fenced.agent("start"), keep=ALL, within_s=120)
    assert_sound(dump, undisturbed)
    found = checks(dump)
    assert set(found) == subjects(dump)
    if [event["body"] for event in dump["events"] if event["kind"] == "formulas.off"]:
        pytest.skip("no fence holds on this machine")
    assert [subject for subject, body in found.items() if body["outcome"] == "refuted"] == ["s0.4"], "the example's own slip"
    assert found["s0.3"]["outcome"] == "survived"
    assert "4^n\\le 2n\\binom{2n}{n}" in [one["anchor"]["quote"] for one in found["s0.3"]["findings"]]
    kept = {step["key"] for step in dump["steps"] if step["kind"] == "tool"}
    assert kept == {body["call"] for body in found.values() if body["call"]}


def test_kills_change_nothing_and_repeat_no_finished_check(fenced: Stack, undisturbed: Undisturbed) -> None:
    fenced.env["WORKED_EXAMPLE_TOKENS_PER_S"] = "800"  # A slow sandbox must have checked something before the run is over.
    fenced.start(*ALL)
    run = fenced.agent("start")
    fenced.wait_for(run, lambda dump: dump["calls"] >= 10, within_s=60)
    fenced.kill("sandbox")
    fenced.keep_up(ALL)
    before = checks(fenced.wait_for(run, lambda dump: len(checks(dump)) >= 3, within_s=60))
    fenced.kill("orchestrator")
    fenced.kill("sandbox")
    dump = fenced.wait_until_ended(run, keep=ALL, within_s=120)
    assert_sound(dump, undisturbed)
    after = checks(dump)
    assert set(after) == subjects(dump)
    assert {subject: after[subject] for subject in before} == before


def test_without_a_sandbox_nothing_is_checked_and_the_reason_is_recorded(stack: Stack, undisturbed: Undisturbed) -> None:
    stack.start("valkey", "orchestrator", "inference")
    dump = stack.wait_until_ended(stack.agent("start"))
    assert_sound(dump, undisturbed)
    assert checks(dump) == {}
    (off,) = [event["body"]["reason"] for event in dump["events"] if event["kind"] == "formulas.off"]
    assert "off" in off
