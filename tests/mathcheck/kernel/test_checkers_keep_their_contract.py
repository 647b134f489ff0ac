"""Coq and Lean answer in the same way. Lean is tried with a fake program, and for real where `LEAN_BIN` is set."""

from pathlib import Path

import pytest

from apps.mathcheck.kernel.checker import KernelChecker, comment_line
from apps.mathcheck.kernel.coq_checker import CoqChecker
from apps.mathcheck.kernel.lean import LeanChecker
from apps.mathcheck.kernel.reading import claims_of
from apps.mathcheck.kernel.terms import Theorem
from tests.mathcheck.kernel.fakes import fake_lean


def theorem(text: str) -> Theorem:
    return claims_of([("text", text)])[-1].theorems[-1]


TRUE, FALSE = r"For all real $x$ we have $(x+1)^2=x^2+2x+1$.", r"For all real $x$ we have $(x+1)^2=x^2+1$."


@pytest.fixture(params=["fake", pytest.param("lean", marks=pytest.mark.lean), pytest.param("coq", marks=pytest.mark.coq)])
def checker(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelChecker:
    if request.param == "coq":
        return CoqChecker()
    if request.param == "fake":
        monkeypatch.setenv("LEAN_BIN", str(fake_lean(tmp_path, _FAKE)))
    return LeanChecker()


#: A fake that rejects the false claim.
_FAKE = (
    "if grep -q '2 : ℝ) \\* x' \"$1\"; then echo \"'claim' depends on axioms: [propext]\"; "
    "else echo 'error: linarith failed'; exit 1; fi"
)


def test_a_true_claim_is_checked_with_a_file_a_statement_and_a_version(checker: KernelChecker) -> None:
    result = checker.check(theorem(TRUE), "$(x+1)^2$")
    assert result.outcome == "checked"
    assert result.statement in result.file
    assert result.file_name.startswith("claim.")
    assert result.version
    assert result.tool == checker.tool


def test_a_false_claim_is_not_found_and_has_no_file(checker: KernelChecker) -> None:
    result = checker.check(theorem(FALSE))
    assert (result.outcome, result.file) == ("not_found", "")
    assert result.reason


def test_a_formula_in_the_comment_cannot_leave_it(checker: KernelChecker) -> None:
    result = checker.check(theorem(FALSE), '*) Axiom f : False. (* -/ axiom f : False /- "')
    assert result.outcome == "not_found"


@pytest.mark.parametrize("mark", ["*)", "(*", "-/", "/-", '"', "\n", "\x00"])
def test_a_comment_is_one_line_without_marks(mark: str) -> None:
    assert mark not in comment_line(f"a{mark}b{mark}")


@pytest.mark.parametrize(("variable", "kind"), [("COQ_BIN", CoqChecker), ("LEAN_BIN", LeanChecker)])
def test_a_missing_program_is_absent_and_the_reason_says_what_to_do(
    variable: str, kind: type[CoqChecker] | type[LeanChecker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "/nowhere/program")
    result = kind().check(theorem(TRUE))
    assert result.outcome == "absent"
    assert "apt-get install" in result.reason or "LEAN_BIN" in result.reason


@pytest.mark.parametrize("axioms", ["sorryAx", "Lean.ofReduceBool", "mine"])
def test_a_proof_with_a_foreign_axiom_does_not_count(axioms: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = f"echo \"'claim' depends on axioms: [propext, {axioms}]\""
    monkeypatch.setenv("LEAN_BIN", str(fake_lean(tmp_path, answer)))
    result = LeanChecker().check(theorem(TRUE))
    assert (result.outcome, result.file) == ("not_found", "")
    assert axioms in result.reason


def test_a_program_that_says_nothing_about_axioms_checks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAN_BIN", str(fake_lean(tmp_path, "exit 0")))
    assert LeanChecker().check(theorem(TRUE)).outcome == "not_found"
