"""An anchor includes a sized bracket, and text after a claim is read before the claim is refuted."""

import pytest

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import NOT_UNDERSTOOD, PROVED, REFUTED, SURVIVED, Finding

FILL = "The argument continues in small steps, each of which is easy to follow with a pencil. " * 10


def claims(text: str) -> list[Finding]:
    return check_text(text)


@pytest.mark.parametrize("size", [r"\left", r"\Bigl", r"\bigl"])
def test_an_anchor_begins_at_the_sized_bracket(size: str) -> None:
    (finding,) = claims(rf"We have ${size}(\frac12+\frac13)^2=\frac{{25}}{{37}}$.")
    assert finding.outcome == REFUTED
    assert finding.anchor.quote == rf"{size}(\frac12+\frac13)^2=\frac{{25}}{{37}}"


@pytest.mark.parametrize(
    ("frame", "claim"),
    [
        ("From now on all equalities are to be read modulo $10$.", r"Then $7\cdot 8=46$."),
        (r"We work in the ring $\mathbb{Z}/10\mathbb{Z}$ throughout.", r"Then $7\cdot 8=6$ and $9+3=2$."),
        ("All numbers are written in base $8$.", "Then $7+11=20$."),
        ("All vectors lie in a plane, and $a$ is perpendicular to $b$.", "Hence $(a+b)^2=a^2+b^2$."),
        ("Permutations are written as cycles.", "Hence $(12)(23)=(123)$."),
    ],
)
def test_a_setting_declared_once_applies_to_the_rest_of_the_text(frame: str, claim: str) -> None:
    assert all(finding.outcome != REFUTED for finding in claims(f"{frame} {FILL}{claim}"))


@pytest.mark.parametrize(
    ("before", "claim"),
    [
        (r"Then $x^2\equiv1\pmod7$.", r"Then $7\cdot 8=46$."),
        ("From now on all equalities are to be read modulo $10$.", r"Then $7\cdot 8=47$."),
        ("The lines are concurrent.", "Hence $(a+b)^2=a^2+b^2$."),
    ],
)
def test_nothing_else_is_excused_by_it(before: str, claim: str) -> None:
    assert claims(f"{before} {FILL}{claim}")[-1].outcome == REFUTED


@pytest.mark.parametrize("behind", ["because $ab=0$.", ". Recall that $ab=0$.", ", since $ab=0$ here."])
def test_a_condition_after_the_claim_counts(behind: str) -> None:
    first = claims(f"We get $(a+b)^2=a^2+b^2$ {behind}")[0]
    assert first.outcome == NOT_UNDERSTOOD


@pytest.mark.parametrize("behind", [". Recall that $a>b$.", ". Hence $ab+1=1$.", "."])
def test_text_that_is_no_condition_of_the_claim_does_not_count(behind: str) -> None:
    assert claims(f"We get $(a+b)^2=a^2+b^2$ {behind}")[0].outcome == REFUTED


@pytest.mark.parametrize(
    ("written", "outcome"),
    [
        (r"1\cdot2+2\cdot3+\dots+9\cdot10=330", PROVED),
        (r"1\cdot2+2\cdot3+\dots+9\cdot10=331", REFUTED),
        (r"1!+2!+\dots+5!=153", PROVED),
        (r"\frac1{1\cdot2}+\frac1{2\cdot3}+\dots+\frac1{9\cdot10}=\frac9{11}", REFUTED),
        (r"1+3+\dots+81=121", NOT_UNDERSTOOD),
        (r"1+2+\dots+64=127", NOT_UNDERSTOOD),
        (r"1+2+\dots+65=2145", PROVED),
        (r"2+3+\dots+97=1060", NOT_UNDERSTOOD),
    ],
)
def test_an_ellipsis_is_read_where_one_rule_fits(written: str, outcome: str) -> None:
    assert [finding.outcome for finding in claims(f"We have ${written}$.")] == [outcome]


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (r"The sequence $4n^2-11n$ is increasing for $n\ge1$.", SURVIVED),
        (r"The sequence $4n^2-13n$ is increasing for $n\ge1$.", REFUTED),
        (r"The function $4x^2-11x$ is increasing for $x\ge1$.", REFUTED),
        (r"The sequence $n^2$ is convex for $n\ge1$.", SURVIVED),
        (r"The sequence $\sqrt n$ is convex for $n\ge1$.", REFUTED),
    ],
)
def test_a_sequence_is_tested_at_whole_numbers(text: str, outcome: str) -> None:
    assert [finding.outcome for finding in claims(text) if finding.kind in ("monotonicity", "convexity")] == [outcome]


@pytest.mark.parametrize(
    ("text", "refuted"),
    [
        (r"This is $(x+1)(x+2)=x^2+2x+5$.", False),
        (r"This is $(x+1)(x+2)=x^2+3x+3$.", True),
        (r"Therefore $\sum_{k=1}^{n}k=36$.", False),
        (r"Therefore $\sum_{k=1}^{n}k=\frac{n(n+2)}2$.", True),
    ],
)
def test_an_equation_with_a_solution_is_not_a_mistake(text: str, refuted: bool) -> None:
    assert (claims(text)[0].outcome == REFUTED) is refuted
