"""Lemmas in Markdown are read where it is clear what is a number, a statement and a proof; else nothing of them is."""

import pytest

from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.summaries import Summary, read_results, read_summary
from tests.reasoning.play import final

HEADINGS = """## Lemma 3
For every real $x$ we have $x^2\\ge0$.

### Proof
A product of two numbers of one sign is not negative.

So it holds.

## Lemma 2-fixed: The sum
The sum of two squares is not negative.

**Proof.** By Lemma 3 both are not negative.

## Conclusion
This is all that was proved.
"""
BOLD = """**Lemma 1.** Let $a>0$. Then $a+1>1$.

*Proof.* We add $1$ on both sides.

**Lemma 2 (Bound):** We have $b>0$.
Proof:
1. By Lemma 1 it is enough to look at $a$.
2. This was done.
"""
LIST = """## Status
All is proved.

### Results
1. **Claim**: The number $n^3-n$ is divisible by $6$.
   - **Proof**:
     - We factor it as
       $(n-1)n(n+1)$.
     - One of three neighbours is divisible by $3$, one by $2$.
2. The number $n^3+5n$ is divisible by $6$.
   Proof: it is $n^3-n$ and $6n$ together.

## Conclusion
1. This list is none of results.
"""


def lemmas(text: str, **changes: object) -> list[tuple[int, bool, str, tuple[str, ...]]]:
    found = read_summary(final(text, **changes))
    assert isinstance(found, Summary), found
    return [(one.number, one.fixes, one.statement, one.steps) for one in found.lemmas]


def reason(text: str, **changes: object) -> str:
    found = read_summary(final(text, **changes))
    assert isinstance(found, Unscored), found
    return found.reason


def test_lemmas_under_headings_are_read() -> None:
    assert lemmas(HEADINGS) == [
        (
            3,
            False,
            "For every real $x$ we have $x^2\\ge0$.",
            ("A product of two numbers of one sign is not negative.", "So it holds."),
        ),
        (2, True, "The sum\nThe sum of two squares is not negative.", ("By Lemma 3 both are not negative.",)),
    ]


def test_lemmas_in_bold_are_read_and_numbered_steps_are_steps() -> None:
    assert lemmas(BOLD) == [
        (1, False, "Let $a>0$. Then $a+1>1$.", ("We add $1$ on both sides.",)),
        (2, False, "We have $b>0$.", ("By Lemma 1 it is enough to look at $a$.", "This was done.")),
    ]


def test_a_numbered_list_of_results_with_their_proofs_is_read() -> None:
    steps = ("We factor it as\n  $(n-1)n(n+1)$.", "One of three neighbours is divisible by $3$, one by $2$.")
    assert lemmas(f"```\n{LIST}\n```") == [
        (1, False, "The number $n^3-n$ is divisible by $6$.", steps),
        (2, False, "The number $n^3+5n$ is divisible by $6$.", ("it is $n^3-n$ and $6n$ together.",)),
    ]
    assert read_results(LIST) == read_summary(final(LIST))


@pytest.mark.parametrize(
    "text",
    [
        LIST.replace("### Results\n", ""),
        LIST.replace("2. The number", "3. The number"),
        LIST.replace("1. **Claim**", "We found:\n1. **Claim**"),
        LIST.replace("## Conclusion\n", "## Results\n"),
        "## Results\n1. A claim without a proof.\n2. Another one.",
        "<<<CONTENT 12ab>>>\n" + BOLD + "\n<<<END 12ab>>>",
    ],
)
def test_another_structure_is_none(text: str) -> None:
    assert reason(text) == "there is no <lemma>"
    assert read_results(text) is None


@pytest.mark.parametrize(
    "text", [BOLD + "\n**Lemma 1.** Another one.\n\nProof. So.", BOLD.replace("2. This", "Proof: or so.\n2. This")]
)
def test_an_unclear_structure_is_unread(text: str) -> None:
    assert reason(text) == "it is not clear which text belongs to which lemma"
    assert read_results(text) is None


def test_a_lemma_without_statement_or_proof_is_left_out_and_named() -> None:
    found = read_summary(final(BOLD + "\n**Lemma 4.** No proof follows.\n\n**Lemma 5.**\n\nProof. So."))
    assert isinstance(found, Summary)
    assert [one.number for one in found.lemmas] == [1, 2]
    assert found.unread == ("lemma 4 has no proof steps", "lemma 5 does not have one statement")
    assert read_results("## Results\n1. **Claim: complete**\n   - **Proof**\n     It is proved.") is None


def test_of_a_text_that_was_cut_off_the_last_lemma_is_not_read() -> None:
    assert [number for number, *_ in lemmas(BOLD, finish_reason="length")] == [1]
    assert "cut off" in reason(BOLD.partition("**Lemma 2")[0], finish_reason="length")


def test_lemmas_next_to_the_word_that_there_is_none_are_unread() -> None:
    assert reason(BOLD + "\n<no-lemmas/>") == "it gives lemmas and says that there is none"


def test_tags_come_first() -> None:
    tagged = '<lemma number="7"><statement>It holds.</statement><step>So.</step></lemma>'
    assert [number for number, *_ in lemmas(BOLD + tagged)] == [7]


def test_results_without_a_proof_are_noted_together() -> None:
    claims = "\n\n".join(f"**Lemma {number}.** The number ${number}$ is not negative." for number in range(3, 9))
    found = read_results(f"{BOLD}\n\n{claims}")
    assert found is not None
    assert found.unread == ("6 listed results have no statement or no proof",)
