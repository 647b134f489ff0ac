"""A text has the same findings on every machine: work is limited by operations, and time is only the last guard."""

from collections.abc import Iterator

import pytest

from apps.explorations.worked_example.authored import read_lemmas, read_problem
from apps.mathcheck import checking
from apps.mathcheck.checking import GUARDED, check_text
from apps.mathcheck.findings import NOT_UNDERSTOOD, PROVED, REFUTED, STOPPED, SURVIVED, Finding
from apps.mathcheck.parts import Part, check_parts
from apps.mathcheck.testing import alarm, deciding
from apps.mathcheck.testing.deciding import decide
from apps.mathcheck.testing.work import allowance

TEXT = (
    r"Let $n$ be a positive integer. Then $2^n\ge n+1$. For all real $x$, $(x+1)^2=x^2+1$. We have $2+2=5$ and $6\mid n^3-n$."
)


def lemma(label: str) -> list[Part]:
    """A lemma of the worked example's first round."""
    (found,) = [one for one in read_lemmas(0, 1)[1] if one.label == label]
    return [("statement", found.statement), *((f"step {number}", text) for number, text in enumerate(found.steps, 1))]


def jumping(seconds: float) -> Iterator[float]:
    """A clock that jumps whenever it is read."""
    now = 0.0
    while True:
        now += seconds
        yield now


def test_the_slip_of_the_worked_example_is_refuted_with_its_p_and_n() -> None:
    found = check_parts(lemma("4"), read_problem()[1])
    (slip,) = [one for one in found if one.outcome == REFUTED]
    assert (slip.text_id, slip.anchor.quote) == ("step 4", r"\lfloor 2q/p\rfloor=2\lfloor q/p\rfloor")
    assert slip.counterexample is not None
    assert slip.counterexample.values == {"n": "8", "p": "3", "q": "2", "s": "2"}
    assert (slip.counterexample.left, slip.counterexample.right) == ("1", "0")


def test_a_clock_that_jumps_changes_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, problem = lemma("4"), read_problem()[1]
    quiet = check_parts(steps, problem)
    for seconds in (0.5, 3.0):
        clock = jumping(seconds)
        monkeypatch.setattr(alarm, "process_time", lambda clock=clock: next(clock))
        assert check_parts(steps, problem) == quiet


def test_findings_do_not_depend_on_earlier_checks() -> None:
    first = check_text(TEXT)
    check_parts(lemma("3"))
    assert check_text(TEXT) == first


def test_a_check_stopped_by_the_last_guard_is_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = jumping(50.0)
    monkeypatch.setattr(alarm, "process_time", lambda: next(clock))
    outcomes = [(one.outcome, one.reason) for one in check_text(TEXT, seconds=120)]
    assert [outcome for outcome, _ in outcomes] == [PROVED, REFUTED, STOPPED, STOPPED]
    assert outcomes[-1][1] == GUARDED


def test_the_guard_on_one_claim_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*given: object) -> object:
        if "4" in str(given[0]):
            raise alarm.TookTooLong
        return decide(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(checking, "decide", endless)
    assert [one.outcome for one in check_text("$1+4=5$, $2+2=5$.")] == [STOPPED, REFUTED]


def test_a_claim_beyond_its_limit_on_work_is_not_understood() -> None:
    (finding,) = check_text(r"We have $\sum_{i=1}^{600}\sum_{j=1}^{600}\sum_{k=1}^{600} ijk=1$.")
    assert (finding.outcome, finding.reason) == (NOT_UNDERSTOOD, deciding.TOO_MUCH)


def test_less_work_means_fewer_tests() -> None:
    (whole,) = check_text(r"Let $n$ be a positive integer. Then $2^n\ge n+1$.")
    with allowance(300):
        (part,) = check_text(r"Let $n$ be a positive integer. Then $2^n\ge n+1$.")
    assert whole.tests > part.tests > 0


@pytest.mark.parametrize(
    ("text", "tried"),
    [
        (r"Let $n$ be a positive integer. Then $2^n\ge n+1$.", "n from 1 to 59"),
        (r"Let $n$ be a positive integer with $n\le 12$. Then $2^n\ge n+1$.", "n from 1 to 12"),
        ("We have $1+1=2$.", "computed exactly"),
        ("The number of divisors of $360$ is $24$.", "counted in full"),
        (r"The function $x^2$ is convex on $[0,1]$.", "pairs of values of x from 0 to 1"),
        ("Let $x$ be a number with $x^2=x+1$. Then $x^3=2x+1$.", "points of finite fields, under the stated equations"),
    ],
)
def test_an_outcome_names_its_tests(text: str, tried: str) -> None:
    finding: Finding = check_text(text)[-1]
    assert finding.outcome in (PROVED, SURVIVED)
    assert finding.tried == tried


def test_names_given_by_an_equation_are_computed_and_all_small_cases_tested() -> None:
    text = r"Let $n$ be a positive integer and let $p$ be a prime. Write $n=qp+s$ with $0\le s<p$. Then $n-s\le qp$."
    (finding,) = check_text(text)
    assert finding.outcome == PROVED
    assert finding.tests >= 60


@pytest.mark.parametrize(
    "supposed",
    [
        "Suppose that $2s<p$.",
        "Suppose that the last digit is small.",
        "Suppose that the term for $i=2$ is $0$.",
        "Assume that the fractional part of $n/p$ is less than one half.",
        "Consider the case that nothing is carried.",
        "Let $p$ be large.",
    ],
)
def test_a_factor_may_leave_integer_parts_under_a_supposition(supposed: str) -> None:
    text = r"Let $n\ge 1$ be an integer and let $p$ be an odd prime. Write $n=qp+s$ with $0\le s<p$. "
    claim = r" So $\lfloor 2n/p\rfloor=2\lfloor n/p\rfloor$."
    assert check_text(text + claim)[-1].outcome == REFUTED
    assert check_text(text + supposed + claim)[-1].outcome != REFUTED
