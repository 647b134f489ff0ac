"""newclid with py-yuclid in its own environment: proofs, and nothing proved that the check refutes."""

from pathlib import Path

import pytest

from apps.geometry import engine
from apps.geometry.checking import PROVED, REFUTED, SURVIVED, check
from apps.geometry.engine import GoalProof, Proof, prove, with_proof
from apps.geometry.statement import read
from tests.geometry.corpus import false_statements, true_statements

PYTHON = Path(__file__).resolve().parents[2] / ".venv-geometry" / "bin" / "python"
TRUE = "a b c = triangle; h = on_tline b a c, on_tline c a b ? perp a h b c"


def outcomes(text: str) -> list[str]:
    found = check(read(text))
    return [one.outcome for one in with_proof(found, prove(found, PYTHON))]


def test_a_refuted_goal_is_never_proved_whatever_the_engine_says() -> None:
    found = check(read("a b c = triangle ? perp a b a c; para a b a c"))
    proof = Proof("", tuple(GoalProof(one.goal, (), (), ()) for one in found.outcomes), "an engine that errs")
    assert [one.outcome for one in with_proof(found, proof)] == [REFUTED, REFUTED]


def test_without_the_environment_nothing_is_proved(tmp_path: Path) -> None:
    found = check(read(TRUE))
    proof = prove(found, tmp_path / "python")
    assert not proof.is_installed
    assert "make setup-geometry" in proof.reason
    assert [one.outcome for one in with_proof(found, proof)] == [SURVIVED]


@pytest.mark.parametrize(
    ("body", "said"), [("sleep 60", "within 1 s"), ("exit 3", "within the limits"), ("echo {", "no answer")]
)
def test_an_engine_that_hangs_or_fails_gives_no_proof(
    body: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{body}\n")
    python.chmod(0o700)
    monkeypatch.setattr(engine, "WALL_S", 1.0)
    assert said in prove(check(read(TRUE)), python).reason


@pytest.mark.geometry
def test_a_proof_has_its_assumptions_steps_and_engine() -> None:
    found = check(read(TRUE))
    proof = prove(found, PYTHON)
    (outcome,) = with_proof(found, proof)
    assert outcome.outcome == PROVED
    assert outcome.words.startswith("Proved by newclid 3.0.1, py-yuclid 3.0.0; rests on newclid’s rules.")
    (written,) = proof.found
    assert written.assumptions == ("[C0] : AB ⟂ CH", "[C1] : AC ⟂ BH")
    assert "Orthocenter theorem" in written.steps[-1]


@pytest.mark.geometry
def test_goals_of_one_statement_are_proved_one_by_one() -> None:
    text = "a b c = triangle; i = incenter a b c; h = orthocenter a b c ? coll a i h; perp a h b c; nperp a b a c"
    assert outcomes(text) == [REFUTED, PROVED, SURVIVED]


@pytest.mark.geometry
def test_the_engine_proves_most_true_statements_and_no_false_one() -> None:
    proved = sum(outcomes(text) == [PROVED] for text in true_statements()[::12])
    assert proved >= 4
    assert {word for text in false_statements()[::12] for word in outcomes(text)} == {REFUTED}
