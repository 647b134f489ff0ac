"""Check and correct until enough passes in a row: the loop of Self-Check and of Solver–Verifier–Corrector.

Source: the verification pipeline of Huang and Yang as MarsRL §2.1 and QED-Nano App. B describe it.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from apps.reasoning.domain.candidate_events import CandidateJudged
from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.reading.choices import Decision, DecisionJson, read_decision
from apps.reasoning.scaffolds.candidates.concluding import NOTHING_READABLE, Selection
from apps.reasoning.scaffolds.candidates.desk import Candidate, Desk

# Pydantic takes longer to write a schema than everything else of a check together.
_SCHEMA = DecisionJson.model_json_schema()


class Rules(Value):
    """When the loop ends: `accept` passes of one candidate in a row, `give_up` failures in a row, `checks` or `corrections`
    made. A judgement that could not be read is neither a pass nor a failure, but it is a check."""

    accept: int
    give_up: int
    checks: int
    corrections: int

    @property
    def most_corrections(self) -> int:
        """The last check brings no correction, nor does the failure that makes it give up; one pass in between starts anew."""
        checks = self.checks - 1
        free = checks - checks // self.give_up if self.accept > 1 else min(checks, self.give_up - 1)
        return min(self.corrections, free)


@dataclass
class Loop:
    """The loop's state. `verifier` and `corrector` give the role that examines or corrects a candidate."""

    desk: Desk
    rules: Rules
    verifier: Callable[[Candidate], str]
    corrector: Callable[[Candidate], str]
    current: Candidate | None = None
    passes: int = 0
    failures: int = 0
    checks: int = 0
    corrections: int = 0
    passed: Counter[str] = field(default_factory=Counter)
    accepted: bool = False

    async def run(self, first: Candidate) -> Selection:
        """Check `first`, correct, check again, until a rule ends it."""
        self.current = first
        while self.checks < self.rules.checks and not self.accepted and self.failures < self.rules.give_up:
            if await self.desk.steer(f"check/{self.checks + 1}"):
                break
            decision = await self._check(self.current)
            if decision is None or decision.passed:
                continue
            if self._may_not_correct() or await self.desk.steer(f"correct/{self.corrections + 1}"):
                break
            await self._correct(self.current, decision)
        return self.selection()

    def selection(self) -> Selection:
        """The accepted candidate; else the one most often judged correct, of equals the newest."""
        if self.accepted and self.current:
            reason = f"Accepted: {self.passes} checks in a row found no fault."
            return Selection(candidate=self.current, accepted=True, reason=reason)
        if not self.desk.candidates:
            return Selection(candidate=None, reason=NOTHING_READABLE)
        best = max(self.desk.candidates.values(), key=lambda one: (self.passed[one.id], one.order))
        if not self.checks:
            return Selection(candidate=best, reason="No check of it was made.")
        if not self.passed.total() and not self.failures:
            return Selection(candidate=best, reason="None of the checks could be read.")
        how_often = f"{self.passed[best.id]} of {self.checks} checks passed it" if self.passed[best.id] else "no check passed"
        why = f"{self.failures} checks in a row failed" if self.failures >= self.rules.give_up else "no streak was long enough"
        return Selection(candidate=best, accepted=False, reason=f"Not accepted: {why}; of all versions {how_often}.")

    def _may_not_correct(self) -> bool:
        """No more corrections, too many failures, or no check left for what a correction would bring."""
        rules = self.rules
        return self.corrections >= rules.corrections or self.failures >= rules.give_up or self.checks >= rules.checks

    async def _check(self, candidate: Candidate) -> Decision | None:
        self.checks += 1
        call = f"check/{self.checks}"
        role = self.verifier(candidate)
        values = {"answer_form": self.desk.form("decision"), "solution": self.desk.content(candidate.text)}
        final = await self.desk.ask(
            call,
            role=role,
            prompt="shared/verifier",
            values=values,
            place=Place(round=self.corrections + 1, subject=f"candidate {candidate.id}", index=self.checks),
            schema=_SCHEMA,
        )
        found = final if isinstance(final, Unscored) else read_decision(final)
        if isinstance(found, Decision):
            self.passes, self.failures = (self.passes + 1, 0) if found.passed else (0, self.failures + 1)
            self.passed[candidate.id] += found.passed
            self.accepted = self.passes >= self.rules.accept
        elif isinstance(final, Final):
            self.desk.unread(call, role, found.reason)
        self._tell(candidate, call, found)
        return found if isinstance(found, Decision) else None

    def _tell(self, candidate: Candidate, call: str, found: Decision | Unscored) -> None:
        decision = found if isinstance(found, Decision) else None
        event = CandidateJudged(
            candidate=candidate.id,
            index=self.checks,
            call=call,
            passed=decision.passed if decision else None,
            unscored=found.reason if isinstance(found, Unscored) else "",
            issues=decision.issues if decision else (),
            summary=decision.summary if decision else "",
            passes=self.passes,
            failures=self.failures,
        )
        self.desk.ctx.emit(f"{call}/judged", event)

    async def _correct(self, candidate: Candidate, decision: Decision) -> None:
        """A corrected candidate takes the place of the old one; where none can be read, the old one is examined again."""
        self.corrections += 1
        corrected = await self.desk.draft(
            f"correct/{self.corrections}",
            f"c{self.corrections + 1}.1",
            role=self.corrector(candidate),
            prompt="shared/corrector",
            made_as="correction",
            place=Place(round=self.corrections + 1, subject=f"candidate {candidate.id}", index=self.corrections),
            parents=(candidate,),
            values={"solution": self.desk.content(candidate.text), "report": self.desk.content(decision.report)},
        )
        self.current = corrected or candidate
