"""Check and correct until enough consecutive passes: the loop of Self-Check and of Solver–Verifier–Corrector.

Source: the verification pipeline of Huang and Yang as MarsRL §2.1 and QED-Nano App. B describe it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter

from apps.reasoning.domain.candidate_events import CandidateJudged
from apps.reasoning.domain.generation import Place
from apps.reasoning.domain.values import Value
from apps.reasoning.domain.verdicts import Streaks
from apps.reasoning.reading.choices import Decision
from apps.reasoning.scaffolds.candidates.concluding import NOTHING_READABLE, Selection
from apps.reasoning.scaffolds.candidates.desk import Candidate, Desk
from apps.reasoning.scaffolds.candidates.ranking import C, id_of
from apps.reasoning.scaffolds.candidates.verifying import verified
from apps.reasoning.story.candidates import Candidates


class Rules(Value):
    """When the loop ends: `accept` consecutive passes of a candidate, `give_up` consecutive failures, or the limits on
    `checks` or `corrections`. An unreadable check counts as a check, but neither passes nor fails: it resets both streaks."""

    accept: int
    give_up: int
    checks: int
    corrections: int

    @property
    def most_corrections(self) -> int:
        """Most corrections of a loop. The last check and the failure that ends a streak at `give_up` bring no correction; a
        check in between that passes or is unreadable starts a new streak of failures."""
        checks = self.checks - 1
        return min(self.corrections, checks - checks // self.give_up)


def most_passed(candidates: Iterable[C], passed: Mapping[str, int]) -> C | None:
    """The candidate most often judged correct; ties go to the newest."""
    return max(candidates, key=lambda one: (passed.get(one.id, 0), one.order), default=None)


def handed_in(found: Candidates, accept: int) -> str:
    """The candidate of an accepting streak, else `most_passed`, by the recorded checks."""
    checks = ((seq, check) for one in found.by_id.values() for seq, check in one.reports if isinstance(check, CandidateJudged))
    _, last = max(checks, key=itemgetter(0), default=(0, None))
    if last and last.passes >= accept:
        return last.candidate
    return id_of(most_passed(found.by_id.values(), {name: one.passes for name, one in found.by_id.items()}))


@dataclass
class Loop:
    """The loop's state. `verifier` and `corrector` return the role that checks or corrects a candidate."""

    desk: Desk
    rules: Rules
    verifier: Callable[[Candidate], str]
    corrector: Callable[[Candidate], str]
    current: Candidate | None = None
    streaks: Streaks = field(default_factory=Streaks)
    checks: int = 0
    failed: int = 0
    corrections: int = 0
    passed: Counter[str] = field(default_factory=Counter)

    @property
    def accepted(self) -> bool:
        return self.streaks.passes >= self.rules.accept

    @property
    def given_up(self) -> bool:
        return self.streaks.failures >= self.rules.give_up

    async def run(self, first: Candidate) -> Selection:
        """Check `first`, correct it and check again, until a rule ends the loop."""
        self.current = first
        while self.checks < self.rules.checks and not self.accepted and not self.given_up:
            if await self.desk.steer(f"check/{self.checks + 1}", reads_hints=False):
                break
            decision = await self._check(self.current)
            if decision is None or decision.passed:
                continue
            if self._may_not_correct() or await self.desk.steer(f"correct/{self.corrections + 1}"):
                break
            await self._correct(self.current, decision)
        return self.selection()

    def selection(self) -> Selection:
        """The accepted candidate, else `most_passed`."""
        if self.accepted and self.current:
            reason = f"Accepted: {self.streaks.passes} checks in a row found no fault."
            return Selection(candidate=self.current, accepted=True, reason=reason)
        best = most_passed(self.desk.candidates.values(), self.passed)
        if best is None:
            return Selection(candidate=None, reason=NOTHING_READABLE)
        if not self.checks:
            return Selection(candidate=best, reason="No check of it was made.")
        passed, unread = self.passed.total(), self.checks - self.passed.total() - self.failed
        if unread == self.checks:
            return Selection(candidate=best, reason="None of the checks could be read.")
        how_often = f"{self.passed[best.id]} of {self.checks} checks passed it" if passed else "no check passed"
        why = f"{self.streaks.failures} checks in a row failed" if self.given_up else "no streak was long enough"
        lost = f" {unread} of {self.checks} checks could not be read." if unread else ""
        return Selection(candidate=best, accepted=False, reason=f"Not accepted: {why}; of all versions {how_often}.{lost}")

    def _may_not_correct(self) -> bool:
        """Whether corrections are used up, failures are too many, or no check is left for a correction."""
        return self.corrections >= self.rules.corrections or self.given_up or self.checks >= self.rules.checks

    async def _check(self, candidate: Candidate) -> Decision | None:
        self.checks += 1
        place = Place(round=self.corrections + 1, subject=f"candidate {candidate.id}", index=self.checks)
        role = self.verifier(candidate)
        decision, self.streaks = await verified(self.desk, role, candidate, f"check/{self.checks}", place, before=self.streaks)
        if decision is not None:
            self.passed[candidate.id] += decision.passed
            self.failed += not decision.passed
        return decision

    async def _correct(self, candidate: Candidate, decision: Decision) -> None:
        """Replace the candidate by a corrected one; if the correction is unreadable, the old one is checked again."""
        self.corrections += 1
        corrected = await self.desk.draft(
            f"correct/{self.corrections}",
            f"c{self.corrections + 1}.1",
            role=self.corrector(candidate),
            prompt="shared/corrector",
            made_as="correction",
            place=Place(round=self.corrections + 1, subject=f"candidate {candidate.id}", index=self.corrections),
            parents=(candidate,),
            values={"solution": self.desk.content(candidate.text), "report": self.desk.growing("the report", decision.report)},
        )
        self.current = corrected or candidate
