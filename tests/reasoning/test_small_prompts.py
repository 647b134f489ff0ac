"""A model with small prompts is asked in the plainest forms, last of all, with an example that never counts as its answer."""

from typing import Any

import pytest

from apps.reasoning.domain.candidate_events import CandidateJudged
from apps.reasoning.domain.events import OutputUnread
from apps.reasoning.prompts.loader import load
from apps.reasoning.reading.proofs import read_proof
from apps.reasoning.scaffolds import self_check
from tests.reasoning.candidates import PASS, named
from tests.reasoning.play import Played, final, play, proof

PROOF = load("shared/forms/proof_tags_small").system
DECISION = load("shared/forms/decision_tags_small").system
CHECKED = self_check.Params(accept=1, iterations=2)


def example(form: str) -> str:
    return "\n".join(line.strip() for line in form.splitlines() if line.startswith("    "))


async def checked(table: dict[str, Any], **changes: Any) -> Played:
    return await play({**table, "check/*": PASS, "*": named}, CHECKED, scaffold="self_check", **changes)


def messages(run: Played, key: str) -> list[str]:
    return [message.content for message in next(one for one in run.dispatcher.requests if one.key == key).messages]


async def test_the_form_comes_last_in_the_question_and_the_rules_stay_where_they_are() -> None:
    small, full = await checked({}, prompts="small"), await checked({})
    for key, form, tags in (("solve", PROOF, "<proof>"), ("improve", PROOF, "<proof>"), ("check/1", DECISION, "<decision>")):
        system, user = messages(small, key)
        assert user.endswith(form)
        assert tags not in system
        assert "How to write it down is said at the very end." in system
        assert tags in messages(full, key)[0]
        assert "Example of the form" not in "".join(messages(full, key))


async def test_the_answer_line_comes_before_the_form() -> None:
    user = messages(await checked({}, prompts="small"), "solve")[1]
    assert user.index("Answer: ") < user.index("How to write it down")


async def test_the_plain_forms_have_one_example_and_no_attributes() -> None:
    for form in (PROOF, DECISION):
        assert form.count("Example of the form") == 1
        assert '="' not in form


@pytest.mark.parametrize("copy", [example(PROOF), f"## Solution\n{example(PROOF)}", example(PROOF).replace("<step>", "")])
async def test_a_solution_that_copies_the_example_is_asked_for_once_more(copy: str) -> None:
    run = await checked({"solve": copy, "solve/again": proof("By induction.")}, prompts="small")
    assert run.told["candidate/c1.1"].model_dump()["steps"] == ("By induction.",)
    told = next(event for event in run.of("output.unread") if isinstance(event, OutputUnread))
    assert (told.call, told.reason) == ("solve", "it copies the example of what was asked")


async def test_an_examination_that_copies_the_example_decides_nothing() -> None:
    table: dict[str, Any] = {"check/1": example(DECISION), "check/1/again": example(DECISION)}
    run = await play({**table, "check/*": PASS, "*": named}, CHECKED, scaffold="self_check", prompts="small")
    first = next(event for event in run.of("candidate.judged") if isinstance(event, CandidateJudged))
    assert (first.passed, first.unscored) == (None, "it copies the example of what was asked")


async def test_an_answer_that_breaks_off_in_the_example_or_mixes_it_with_its_own_words_says_nothing() -> None:
    copy = f"Step 1 is sound.\n{example(DECISION).splitlines()[1][:50]}"
    table: dict[str, Any] = {"check/1": copy, "check/1/again": '{"decision": "fail"}', "check/*": PASS, "*": named}
    run = await play(table, CHECKED, scaffold="self_check", prompts="small")
    assert messages(run, "check/1/again")[2] == "(I only repeated what was asked.)"


async def test_a_decision_in_the_plain_form_is_read_with_its_faults() -> None:
    said = "Step 1 divides by $x$.\nCritical: $x$ may be 0.\n<decision>pass</decision>"
    run = await play({"check/1": said, "check/*": PASS, "*": named}, CHECKED, scaffold="self_check", prompts="small")
    first = next(event for event in run.of("candidate.judged") if isinstance(event, CandidateJudged))
    assert (first.passed, first.overruled) == (False, True)


def test_a_proof_that_is_only_the_example_is_none_and_one_that_differs_is_one() -> None:
    assert "copies the example" in str(read_proof(final(example(PROOF)), PROOF))
    own = proof("The bag holds 7 balls.", "Since 7 is more than 4, so is the sum of the numbers.")
    assert "copies" not in str(read_proof(final(own), PROOF))
