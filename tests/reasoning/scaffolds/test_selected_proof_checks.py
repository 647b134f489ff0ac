"""The selected proof of a run is checked whenever the sandbox works, however much waits before it."""

import asyncio
from collections.abc import Callable

import pytest

from apps.reasoning.domain.check_events import FormulasChecked
from apps.reasoning.domain.errors import BackendRefused
from apps.reasoning.domain.events import LemmaProposed, ProofDrafted, ProofSelected
from apps.reasoning.domain.generation import Final, GenerationRequest
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.scaffolds.running.formula_checks import AT_ONCE, ENDED_BEFORE, FormulaChecks
from tests.reasoning.checked import CheckingDispatcher

SELECTED = ProofSelected(proof="proof/1", accepted=True, reason="It passed.")
DRAFTED = ProofDrafted(proof="proof/1", text="Then $2+2=5$.", steps=("Then $2+2=5$.",), call="final/write/1", rollout=0)


class Sandbox(CheckingDispatcher):
    """Jobs take as long as `seconds` says of their texts; `is_off` makes it refuse them."""

    def __init__(self, seconds: Callable[[str], float]) -> None:
        super().__init__({})
        self._seconds = seconds
        self.is_off = False

    async def dispatch(self, request: GenerationRequest) -> Final:
        await asyncio.sleep(self._seconds(request.messages[0].content))
        if self.is_off:
            raise BackendRefused("No fence holds here.")
        return await super().dispatch(request)


class CheckedRun:
    """The checks of a run, and what they found."""

    def __init__(self, seconds: Callable[[str], float] = lambda _: 0.0) -> None:
        self.journal = InMemoryJournal()
        self.sandbox = Sandbox(seconds)
        self.checks = FormulaChecks("Compute.", self.journal, self.sandbox)

    async def keep_busy(self) -> None:
        """Lemmas for every worker, and one that waits."""
        for number in range(1, AT_ONCE + 2):
            lemma = LemmaProposed(lemma=f"s0.{number}", number=number, rollout=0, round=1, statement=f"${number}=0$", steps=())
            self.checks.observe(lemma)
            await asyncio.sleep(0.01)

    @property
    def found(self) -> dict[str, FormulasChecked]:
        return {event.subject: event for _, _, event in self.journal.events if isinstance(event, FormulasChecked)}


async def test_the_selected_proof_waits_behind_no_other_text() -> None:
    run = CheckedRun(lambda texts: 0.0 if '"proof/1"' in texts else 3600.0)
    await run.keep_busy()
    run.checks.observe(DRAFTED)
    run.checks.observe(SELECTED)
    await run.checks.settle(0.2, 0.0)
    assert run.found["proof/1"].outcome == "refuted"
    assert {event.unchecked for subject, event in run.found.items() if subject != "proof/1"} == {ENDED_BEFORE}


@pytest.mark.parametrize(("longer", "outcome"), [(5.0, "refuted"), (0.0, "stopped")])
async def test_a_run_waits_longer_for_the_selected_proof_alone(longer: float, outcome: str) -> None:
    run = CheckedRun(lambda texts: 0.3 if '"proof/1"' in texts else 3600.0)
    await run.keep_busy()
    run.checks.observe(DRAFTED)
    run.checks.observe(SELECTED)
    began = asyncio.get_running_loop().time()
    await run.checks.settle(0.05, longer)
    assert run.found["proof/1"].outcome == outcome
    assert asyncio.get_running_loop().time() - began < 3


async def test_the_selected_proof_is_asked_for_again_where_the_sandbox_was_off() -> None:
    run = CheckedRun()
    run.sandbox.is_off = True
    await run.keep_busy()
    run.checks.observe(DRAFTED)
    run.sandbox.is_off = False
    run.checks.observe(SELECTED)
    await run.checks.settle(1.0, 1.0)
    assert {subject: event.outcome for subject, event in run.found.items()} == {"proof/1": "refuted"}


async def test_a_selected_proof_that_was_checked_is_not_checked_again() -> None:
    run = CheckedRun()
    run.checks.observe(DRAFTED)
    await asyncio.sleep(0.05)
    run.checks.observe(SELECTED)
    await run.checks.settle(1.0, 1.0)
    assert len(run.sandbox.checks) == 1
