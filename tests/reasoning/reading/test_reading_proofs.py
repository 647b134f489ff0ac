"""Reading proofs, refusals and claims."""

import pytest

from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.proofs import NoProof, ReadProof, read_claim, read_proof
from tests.reasoning.play import final, proof


def test_a_proof_is_read_step_by_step() -> None:
    assert read_proof(final("Fixed.\n" + proof("Let $n=1$.", "So."))) == ReadProof(steps=("Let $n=1$.", "So."))


def test_a_proof_without_step_tags_is_taken_by_paragraphs() -> None:
    assert read_proof(final("<proof>\nFirst.\n\nThen.\n</proof>")) == ReadProof(steps=("First.", "Then."))


def test_of_two_proofs_the_last_counts() -> None:
    assert read_proof(final(proof("Old.") + proof("New."))) == ReadProof(steps=("New.",))


LONG = "Let $n$ be even, so $n = 2k$. Then $n^2 = 4k^2$ is even as well."


@pytest.mark.parametrize(
    ("text", "steps", "way"),
    [
        (f'<proof><step number="1">{LONG}</step><step number="2">So.</step></proof>', (LONG, "So."), "tags"),
        (f"<proof>\n<step>One.</step>\n<step>{LONG}\n</proof>", ("One.", LONG), "tags"),
        (f"<proof><step>{LONG}", (LONG,), "tags"),
        (f"```xml\n<proof>\n<step>{LONG}</step>\n</proof>\n```", (LONG,), "tags"),
        (f"{proof('Done.')}\n<no-proof>None</no-proof>", ("Done.",), "tags"),
        (
            f"<proof><step>{LONG}</step><no-proof>The proof is complete. The problem is solved.</no-proof></proof>",
            (LONG,),
            "tags",
        ),
        (f"{proof('Done.')}\n<no-proof>None of the given text is missing.</no-proof>", ("Done.",), "tags"),
        (f"{proof('Done.')}\n<proof>...</proof>\n\n<no-proof>...</no-proof>", ("Done.",), "tags"),
        (f"<proof>\n{LONG}\n<proof>\n<no-proof>…</no-proof>", (LONG,), "tags"),
        (f"I see.\n\n## Proof\n\n{LONG}\n\nSo.", (LONG, "So."), "heading"),
        (f"**Solution.** {LONG}", (LONG,), "heading"),
        (f"{LONG}\n\n**Proof of Lemma 1.** {LONG}", (LONG, f"**Proof of Lemma 1.** {LONG}"), "whole"),
        (f"<<<<CONTENT 12ab>>*\n{LONG}\n<<<END 12ab>>", (LONG,), "whole"),
        (f"{LONG}\n\nSo.", (LONG, "So."), "whole"),
        (f"{LONG}\n\n<no-proof>N/A</no-proof>", (LONG,), "whole"),
    ],
)
def test_a_proof_in_another_form_is_read_and_the_way_is_recorded(text: str, steps: tuple[str, ...], way: str) -> None:
    assert read_proof(final(text)) == ReadProof.model_validate({"steps": steps, "way": way})


def test_a_text_that_was_cut_off_is_read_as_far_as_it_goes() -> None:
    assert read_proof(final(f"{LONG}\n\nNext we", finish_reason="length")) == ReadProof(steps=(LONG, "Next we"), way="cut")
    assert read_proof(final(proof("One.") + "again and again", finish_reason="length")) == ReadProof(steps=("One.",))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The proof is clear.", "there is no <proof>, and it is too short to be read as a whole"),
        ("<proof></proof>", "the proof is empty"),
        (
            '{"steps": ["<proof>", "<step>…</step>", "</proof>"]}',
            "the proof is empty",
        ),
        (proof("…", "."), "the proof is empty"),
        (
            "The solution provided is correct. The verifier's report does not contain any objections or errors.",
            "there is no <proof>, and it talks about a solution without handing one in",
        ),
        ("<proof><step>One.", "there is no <proof>, and it is too short to be read as a whole"),
        ("To begin with,\n## Problem\n" + "### Step\n\n" * 40, "there is no <proof>, and it repeats a few words"),
        ("Solve it for all numbers.\n" * 80, "there is no <proof>, and it repeats a few words"),
        ("I'm sorry, but I can't solve this problem for you. Ask me another.", "there is no <proof>, and the answer declines"),
        ("<no-proof>…</no-proof>", "it declines without a reason"),
        ("<think>" + proof("x") + "</think>", "the answer is empty"),
        (f"<think>{LONG}", "the thinking part never ended"),
    ],
)
def test_what_is_no_proof_is_not_judged(text: str, reason: str) -> None:
    assert read_proof(final(text)) == Unscored(reason=reason)


def test_an_answer_that_repeats_its_prompt_is_an_echo_and_what_it_adds_is_read() -> None:
    rule = "Every claim has its reason, every theorem is named, every symbol is defined."
    problem = "<<<CONTENT 12ab>>>\nProve it.\n<<<END 12ab>>>"
    prompt = f"{rule}\n\n## Problem\n{problem}\n\n## First solution\n<<<CONTENT 34cd>>>\n{LONG}\n<<<END 34cd>>>"
    assert read_proof(final(prompt), prompt) == Unscored(reason="it hands in the given solution unchanged")
    asked = prompt.partition("## First")[0]
    assert read_proof(final(asked), asked) == Unscored(reason="there is no <proof>, and the answer repeats what was asked")
    assert read_proof(final(f"{LONG}\n\nSo."), prompt) == ReadProof(steps=(LONG, "So."), way="whole")
    assert read_proof(final(f"{problem}\n\n{LONG}\n\nSo."), prompt) == ReadProof(steps=(LONG, "So."), way="whole")


STATEMENT = "Prove that $n^3-n$ is divisible by 6 for every integer n, whether it is even or odd, positive or negative."
PROMPT = (
    f"Hand in the improved solution.\n\n## Problem\n<<<CONTENT 12ab>>>\n{STATEMENT}\n<<<END 12ab>>>\n\n## Your task\nSolve it."
)


@pytest.mark.parametrize("text", [proof(STATEMENT), f'{{"steps": ["{STATEMENT.replace("$", "")}"]}}'])
def test_the_statement_alone_is_no_proof(text: str) -> None:
    assert read_proof(final(text), PROMPT) == Unscored(reason="it only repeats the problem")


REPEATED = "Let $n=2k$ be even, then $n^2=4k^2$ is even as well.\n\n"


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (f"{LONG}\n\n{STATEMENT}", (LONG, STATEMENT)),
        (f"## Problem\n{STATEMENT}\n\n## Proof\n{LONG}", (LONG,)),
        (f"## Problem\n{STATEMENT}\n\n{LONG}", (LONG,)),
        (f"<<<CONTENT 34cd>>>\n{LONG}", (LONG,)),
        (f"<<<CONTENT 34cd>>>\n{LONG}\n<<<END>>>", (LONG,)),
        (f"<<<CONTENT 34cd>>>\n{LONG}\n<<<END 34cd>>>\n\nSo it holds.", (LONG, "So it holds.")),
        (f"## First solution\nOld.\n\n## Improved solution\n{LONG}", (LONG,)),
        (f"## Solution\n{REPEATED}## Improved solution\n{LONG}", (LONG,)),
        (f"## Solution to the problem\n{LONG}", (LONG,)),
        (
            f"**Lemma 1.** Two.\n\n**Proof.** {LONG}\n\n**Proof.** So.",
            ("**Lemma 1.** Two.", f"**Proof.** {LONG}", "**Proof.** So."),
        ),
        (f"I'm sorry for my first answer.\n\n{LONG}\n\nSo $n=2k$.", ("I'm sorry for my first answer.", LONG, "So $n=2k$.")),
        (REPEATED * 20, (REPEATED.strip(),) * 20),
        ("### Let $n=2k$, then\n### $n^2=4k^2=2(2k^2)$ is even.", ("### Let $n=2k$, then\n### $n^2=4k^2=2(2k^2)$ is even.",)),
        (f"## Problem\r\n{STATEMENT}\r\n\r\n## Proof\r\n{LONG}", (LONG,)),
    ],
)
def test_a_proof_with_the_problem_an_older_text_or_odd_marks_around_it_is_read_whole(text: str, steps: tuple[str, ...]) -> None:
    found = read_proof(final(text), PROMPT)
    assert isinstance(found, ReadProof), found
    assert found.steps == steps


def test_a_refusal_is_read_with_its_reason() -> None:
    assert read_proof(final("<no-proof>The case $n=2$ is open.</no-proof>")) == NoProof(reason="The case $n=2$ is open.")
    assert isinstance(read_proof(final("<no-proof>…</no-proof>" + proof("Yes."))), ReadProof)
    assert isinstance(read_proof(final(proof("Yes.") + "<no-proof>It fails.</no-proof>")), NoProof)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("<claim>complete</claim>", "complete"),
        ("<claim> Partial </claim>\nBye.", "partial"),
        ("<claim>complete</claim> no: <claim>partial</claim>", "partial"),
    ],
)
def test_the_last_claim_counts(text: str, claim: str) -> None:
    assert read_claim(final(text)) == claim


@pytest.mark.parametrize(
    "text", ["<claim>incomplete</claim>", "I have a complete solution.", "<claim>complete or partial</claim>", ""]
)
def test_a_claim_is_word_for_word(text: str) -> None:
    assert isinstance(read_claim(final(text)), Unscored)


def test_a_truncated_text_claims_nothing() -> None:
    assert isinstance(read_claim(final("<claim>complete</claim>", finish_reason="length")), Unscored)


@pytest.mark.parametrize("field", ["steps", "proof", "solution"])
def test_steps_are_read_from_any_field_that_names_them(field: str) -> None:
    assert read_proof(final(f'{{"{field}": ["Set up.", "So."]}}')) == ReadProof(steps=("Set up.", "So."))


def test_steps_as_json_are_a_proof() -> None:
    found = read_proof(final('Here it is:\n{"steps": ["We have $\\\\frac{2}{2}=1$.", "So it holds."]}'))
    assert isinstance(found, ReadProof)
    assert found.steps == (r"We have $\frac{2}{2}=1$.", "So it holds.")


def test_of_steps_that_were_cut_off_the_finished_ones_are_kept() -> None:
    text = '{"steps": ["We have $\\\\frac{2}{2}=1$.", "So it holds.", "Moreover, if we'
    found = read_proof(final(text, finish_reason="length"))
    assert isinstance(found, ReadProof)
    assert (found.steps, found.way) == ((r"We have $\frac{2}{2}=1$.", "So it holds."), "cut")


#: As Qwen2.5-Coder (1.5B) wrote them.
ABOUT = "<no-proof>One of the challenging aspects is to recognise the relationship between the given equations.</no-proof>"


def test_a_proof_that_was_opened_after_a_refusal_counts() -> None:
    found = read_proof(final(f"{ABOUT}\n\n<proof>\n{LONG}\n\nAnswer: 29"))
    assert isinstance(found, ReadProof)
    assert found.text == f"{LONG}\n\nAnswer: 29"
    assert isinstance(read_proof(final(f"{ABOUT}\n\n<proof>\n...")), NoProof)
    assert isinstance(read_proof(final(f"<proof>\n{LONG}\n\n{ABOUT}")), NoProof)


@pytest.mark.parametrize("remark", [ABOUT, "<no-proof>There is no missing step or reason.</no-proof>"])
def test_a_whole_proof_is_judged_whatever_is_said_about_it_below(remark: str) -> None:
    """Qwen2.5-Coder wrote both below correct proofs."""
    found = read_proof(final(f"<proof>\n<step>{LONG}</step>\n</proof>\n\n{remark}\n\nAnswer: 420"))
    assert isinstance(found, ReadProof), found
    assert found.steps == (LONG,)
    example = f"Example of the form:\n<proof><step>{LONG}</step></proof>"
    assert isinstance(read_proof(final(f"<proof><step>{LONG}</step></proof>\n{remark}"), example), NoProof)


@pytest.mark.parametrize("opening", ["<proof>\n", "", "<proof><step>"])
def test_an_answer_in_the_tags_of_a_refusal_belongs_to_the_proof(opening: str) -> None:
    found = read_proof(final(f"{opening}{LONG}\n\n<no-proof>\nAnswer: 24\n</no-proof>"))
    assert isinstance(found, ReadProof)
    assert found.text == f"{LONG}\n\nAnswer: 24"
    assert read_proof(final("<no-proof>Answer: the case $n=2$\nis open.</no-proof>")) == NoProof(
        reason="Answer: the case $n=2$\nis open."
    )
