"""Mention of residues, bases or fields excuses only claims that may refer to them."""

import pytest

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import REFUTED

ARITHMETIC = r"We have $\binom{10}{3}=130$."
EXPANSION = r"We have $(a+b)^3=a^3+3a^2b+2ab^2+b^3$."


def is_refuted(text: str) -> bool:
    """Whether the last claim is."""
    return check_text(text)[-1].outcome == REFUTED


@pytest.mark.parametrize(
    "before",
    [
        r"Then $x^2\equiv 1\pmod 7$.",
        "Working modulo $7$ was enough so far.",
        "The ten points lie on a circle.",
        "The base of the triangle is $AB$.",
        "Base case.",
        "The real numbers are a field.",
        "The last digit is known.",
    ],
)
def test_arithmetic_is_tested_after_an_unrelated_word(before: str) -> None:
    falsely = ARITHMETIC if "last" not in before else r"We have $\binom{10}{3}=131$."
    assert is_refuted(f"{before} {falsely}")


def test_arithmetic_is_tested_after_mention_of_a_circle() -> None:
    assert is_refuted(r"The ten points on the circle form $\binom{10}{3}=130$ triangles.")


@pytest.mark.parametrize(
    "before", [r"Then $x^2\equiv 1\pmod 7$.", r"Then $x\equiv y\pmod p$.", "The points lie on a circle.", "Base case."]
)
def test_a_wrong_expansion_is_refuted_after_an_unrelated_word(before: str) -> None:
    assert is_refuted(f"{before} {EXPANSION}")


@pytest.mark.parametrize(
    "text",
    [
        "Working modulo $7$ is enough. Then $10^2=9$.",
        r"Then $10\equiv 3\pmod 7$. So $10^2=9=2$.",
        r"We work modulo $7$. Then $(a+b)^7=a^7+b^7$.",
        r"Modulo $p$ we see $(a+b)^3=a^3+b^3$.",
        r"Work modulo $p$ from here on. Clearly $(a+b)^3=a^3+b^3$.",
        r"Since $a\equiv c\pmod p$ is given. Clearly $(a+b)^3=a^3+b^3$.",
        "Let $K$ have characteristic $2$. Then $1+1=0+0$ and $(a+b)^2=a^2+b^2$.",
        "We write in base $7$. Then $3+4=2\\cdot 5$.",
        "Let $K$ be a field. Clearly $(a+b)^2=a^2+b^2$.",
        "This is a finite field, so $3+5=2\\cdot 4-7$.",
        "On a clock, $10+5=2+1$.",
        "Look at the last digit. Then $7\\cdot 7=10-1$.",
        "The residues are few. Then $3+2=2\\cdot 2$.",
    ],
)
def test_a_claim_that_may_be_modular_is_not_refuted(text: str) -> None:
    assert not is_refuted(text)


@pytest.mark.parametrize("text", ["We work modulo $7$. Then $10^2=8$.", "Look at the last digit. Then $7\\cdot 7=10-2$."])
def test_a_claim_that_is_also_false_modularly_is_refuted(text: str) -> None:
    assert is_refuted(text)
