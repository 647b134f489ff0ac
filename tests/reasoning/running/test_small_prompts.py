"""A model with small prompts is asked in the plainest form, last of all, with an example that never counts as its answer."""

from typing import Any

import pytest

from apps.reasoning.domain.events import OutputUnread
from apps.reasoning.prompts.loader import load
from apps.reasoning.reading.proofs import read_proof
from apps.reasoning.scaffolds import self_check
from tests.reasoning.candidates import PASS, named
from tests.reasoning.play import WITH_ANSWER, Played, final, play, proof

PROOF = load("shared/forms/proof_tags_small").system
CHECKED = self_check.Params(accept=1, iterations=2)


def example(form: str) -> str:
    return "\n".join(line.strip() for line in form.splitlines() if line.startswith("    "))


async def checked(table: dict[str, Any], **changes: Any) -> Played:
    return await play({**table, "check/*": PASS, "*": named}, CHECKED, scaffold="self_check", **changes)


def messages(run: Played, key: str) -> list[str]:
    return [message.content for message in next(one for one in run.dispatcher.requests if one.key == key).messages]


async def test_the_form_comes_last_in_the_question_and_the_rules_stay_where_they_are() -> None:
    small, full = await checked({}, prompts="small"), await checked({})
    for key in ("solve", "improve"):
        system, user = messages(small, key)
        assert user.endswith(PROOF)
        assert "<proof>" not in system
        assert "How to write it down is said at the very end." in system
        assert "<proof>" in messages(full, key)[0]
        assert "Example of the form" not in "".join(messages(full, key))


async def test_the_answer_line_comes_before_the_form() -> None:
    user = messages(await checked({}, prompts="small", problem=WITH_ANSWER), "solve")[1]
    assert user.index("Answer: ") < user.index("How to write it down")


def test_the_plain_form_has_one_example_and_no_attributes() -> None:
    assert PROOF.count("Example of the form") == 1
    assert '="' not in PROOF


@pytest.mark.parametrize("copy", [example(PROOF), f"## Solution\n{example(PROOF)}", example(PROOF).replace("<step>", "")])
async def test_a_solution_that_copies_the_example_is_asked_for_once_more(copy: str) -> None:
    run = await checked({"solve": copy, "solve/again": proof("By induction.")}, prompts="small")
    assert run.events["candidate/c1.1"].model_dump()["steps"] == ("By induction.",)
    unread = next(event for event in run.of("output.unread") if isinstance(event, OutputUnread))
    assert (unread.call, unread.reason) == ("solve", "it copies the example of what was asked")


async def test_a_solution_that_breaks_off_in_the_example_says_nothing_and_is_not_shown_again() -> None:
    copy = f"We show it by induction on the number.\n{example(PROOF).splitlines()[1][:60]}"
    run = await checked({"solve": copy, "solve/again": proof("By induction.")}, prompts="small")
    assert messages(run, "solve/again")[2] == "(I only repeated what was asked.)"


async def test_decisions_are_asked_for_as_ever() -> None:
    small, full = await checked({}, prompts="small"), await checked({})
    assert messages(small, "check/1")[0] == messages(full, "check/1")[0]


def test_a_proof_that_is_only_the_example_is_none_and_one_that_differs_is_one() -> None:
    assert "copies the example" in str(read_proof(final(example(PROOF)), PROOF))
    own = proof("The bag holds 7 balls.", "Since 7 is more than 4, so is the sum of the numbers.")
    assert "copies" not in str(read_proof(final(own), PROOF))
