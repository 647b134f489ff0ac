"""Grouped agents: solver, verifiers and correctors each answer an input several times, as MarsRL's training needs it.

Source: MarsRL §3.1 and §3.3. All answers of a group share one prompt. Each role works on only a few texts of the previous
role, so that a problem costs a bounded number of calls.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import Field

from apps.reasoning.answers.comparison import answer_compared
from apps.reasoning.domain.generation import Place
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Value
from apps.reasoning.ports import Context
from apps.reasoning.reading.choices import Decision
from apps.reasoning.scaffolds.candidates.concluding import NOTHING_READABLE, Selection, concluded
from apps.reasoning.scaffolds.candidates.costs import estimated
from apps.reasoning.scaffolds.candidates.desk import Candidate, Desk
from apps.reasoning.scaffolds.candidates.inputs import Choice, chosen
from apps.reasoning.scaffolds.candidates.judged_formulas import JudgedFormulas
from apps.reasoning.scaffolds.candidates.ranking import C, id_of
from apps.reasoning.scaffolds.candidates.verifying import verified
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.page import Page
from apps.reasoning.scaffolds.running.checking_first import marks_option
from apps.reasoning.scaffolds.running.concurrently import concurrently
from apps.reasoning.scaffolds.scaffold import Preset, Role, Scaffold
from apps.reasoning.story.run_story import RunStory

T = TypeVar("T")
ROLES = ("solver", "verifier_1", "corrector_1", "verifier_2", "corrector_2")


class Params(Value):
    """Sizes of MarsRL in training. By default inputs are random: the paper's adaptive choice needs an answer (§3.4)."""

    group: int = Field(
        default=8, ge=2, le=128, title="Answers per input", description="Answers to the same prompt, compared with each other."
    )
    inputs: int = Field(
        default=2, ge=1, le=16, title="Inputs per role", description="Texts of the previous role that each role works on."
    )
    choice: Choice = Field(
        default="random",
        title="Choice of inputs",
        description=(
            "Random; balanced: half correct and half wrong; adaptive: wrong solutions to the verifier and correct reports to "
            "the corrector. Random is used for problems without an answer."
        ),
    )
    steps: int = Field(
        default=5,
        ge=1,
        le=5,
        title="Roles",
        description="Number of roles used: solver, verifier, corrector, second verifier, second corrector.",
    )
    rigour: bool = Field(
        default=False,
        title="Rigour prompt",
        description="Ask the solver to put rigour before the answer; MarsRL does not (§2.1).",
    )
    structured_output: bool = Field(
        default=False,
        title="Structured output",
        description="Request JSON by schema from the verifiers, on engines that support it.",
    )
    verifier_marks: bool = marks_option()


@dataclass(frozen=True)
class Report:
    """One verifier's decision on a candidate."""

    candidate: Candidate
    decision: Decision
    call: str


def hands_in(story: RunStory, params: Params) -> str:
    """An accepted solution, else the one with the largest share of passes; ties go to the newest."""
    everyone = story.candidates.by_id.values()
    judged = [one for one in everyone if one.reports and one.judgements]
    return id_of(_best(judged or everyone, lambda one: [bool(said.passed) for said in one.judgements], params.group))


def _best(candidates: Iterable[C], read: Callable[[C], list[bool]], group: int) -> C | None:
    """The best candidate by acceptance, then by the share of its readable verdicts that pass it; one without comes last."""

    def rank(one: C) -> tuple[bool, float, tuple[int, ...]]:
        verdicts = read(one)
        return _accepts(verdicts, group), sum(verdicts) / len(verdicts) if verdicts else -1.0, one.order

    return max(candidates, key=rank, default=None)


def _accepts(read: Sequence[bool], group: int) -> bool:
    """Whether every readable verdict passes, and at least half of a group is readable."""
    return all(read) and 2 * len(read) >= group


@dataclass
class Groups:
    """The state of the search. `verdicts` holds each candidate's passes and fails; None marks an unreadable verdict."""

    desk: Desk
    params: Params
    verdicts: dict[str, list[bool | None]] = field(default_factory=lambda: defaultdict(list))

    async def run(self) -> Selection:
        """Run the roles in order; stop early when the next one has no input."""
        written: list[Candidate] = []
        reports: list[Report] = []
        for step, role in enumerate(ROLES[: self.params.steps], 1):
            if await self.desk.steer(f"step/{step}", reads_hints=not role.startswith("verifier")):
                break
            if role == "solver":
                written = await self._solved(step)
            elif role.startswith("verifier"):
                reports = await self._examined(step, role, written)
            else:
                written = await self._corrected(step, role, [one for one in reports if not one.decision.passed])
            if not written:
                break
        return self.selection()

    def selection(self) -> Selection:
        """An accepted candidate, else the one with the largest share of passes; ties go to the newest."""
        best = _best(self.desk.candidates.values(), self._read, self.params.group)
        if best is None:
            return Selection(candidate=None, reason=NOTHING_READABLE)
        read, asked = self._read(best), len(self.verdicts[best.id])
        if not read:
            return Selection(candidate=best, reason="No verdict on it could be read." if asked else "It was not judged.")
        found = f"{sum(read)} of {len(read)} verdicts on it found no fault"
        lost = f"; {asked - len(read)} of {asked} could not be read" if asked > len(read) else ""
        if _accepts(read, self.params.group):
            return Selection(candidate=best, accepted=True, reason=f"Accepted: {found}{lost}.")
        few = f", and {(self.params.group + 1) // 2} are needed" if all(read) else ""
        return Selection(candidate=best, accepted=False, reason=f"Not accepted: {found}{lost}{few}.")

    def _read(self, candidate: Candidate) -> list[bool]:
        return [passed for passed in self.verdicts[candidate.id] if passed is not None]

    # --- the roles ---------------------------------------------------------------------------------------------------

    async def _solved(self, step: int) -> list[Candidate]:
        # All answers of a group share one prompt, so the prompt cannot number the attempt.
        values = {"attempt": "1", "attempts": "1"}
        return _readable(
            await concurrently(
                self.desk.draft(
                    f"step/{step}/{number}",
                    f"c1.{number}",
                    role="solver",
                    prompt="shared/solver" if self.params.rigour else "shared/plain_solver",
                    made_as="solution",
                    place=Place(round=1, subject=f"candidate c1.{number}", index=number),
                    values=values,
                )
                for number in range(1, self.params.group + 1)
            )
        )

    async def _examined(self, step: int, role: str, written: Sequence[Candidate]) -> list[Report]:
        rewards = [_reward(self._is_right(one)) for one in written]
        picked = self._chosen(step, written, rewards, high_first=False)
        numbers = range(1, self.params.group + 1)
        return _readable(await concurrently(self._verdict(step, role, one, number) for one in picked for number in numbers))

    async def _verdict(self, step: int, role: str, candidate: Candidate, number: int) -> Report | None:
        call = f"step/{step}/{candidate.id}/{number}"
        place = Place(round=candidate.round, subject=f"candidate {candidate.id}", index=number)
        decision, _ = await verified(self.desk, role, candidate, call, place)
        self.verdicts[candidate.id].append(decision.passed if decision else None)
        return Report(candidate, decision, call) if decision else None

    async def _corrected(self, step: int, role: str, flagged: Sequence[Report]) -> list[Candidate]:
        """Correct candidates from a few fault reports. A report is right if its solution is wrong."""
        rewards = [_reward(self._is_right(report.candidate), turned=True) for report in flagged]
        picked = self._chosen(step, flagged, rewards, high_first=True)
        size, round_ = self.params.group, (step + 1) // 2
        return _readable(
            await concurrently(
                self.desk.draft(
                    f"step/{step}/{place + 1}/{number}",
                    f"c{round_}.{place * size + number}",
                    role=role,
                    prompt="shared/corrector",
                    made_as="correction",
                    place=Place(round=round_, subject=f"candidate {report.candidate.id}", index=place * size + number),
                    parents=(report.candidate,),
                    values={
                        "solution": self.desk.content(report.candidate.text),
                        "report": self.desk.growing("the report", report.decision.report),
                    },
                )
                for place, report in enumerate(picked)
                for number in range(1, size + 1)
            )
        )

    # --- inputs ------------------------------------------------------------------------------------------------------

    def _is_right(self, candidate: Candidate) -> bool | None:
        """Whether it ends with the problem's answer, which no prompt contains; None if undecided."""
        return answer_compared("\n\n".join(candidate.steps), self.desk.problem.answer).is_equal

    def _chosen(self, step: int, inputs: Sequence[T], rewards: Sequence[float | None], *, high_first: bool) -> list[T]:
        choice: Choice = self.params.choice if self.desk.problem.answer else "random"
        draw = self.desk.draw(f"inputs/{step}")
        return chosen(inputs, rewards, choice=choice, high_first=high_first, wanted=self.params.inputs, rng=draw)


def _reward(is_right: bool | None, *, turned: bool = False) -> float | None:
    """1 or 0; set `turned` for a report, which is right if its solution is wrong."""
    return None if is_right is None else float(is_right != turned)


def _readable(found: Sequence[T | None]) -> list[T]:
    return [one for one in found if one is not None]


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Run the groups in order (`Groups.run`)."""
    desk = Desk(problem, ctx, structured=params.structured_output, formulas=JudgedFormulas(params.verifier_marks))
    groups = Groups(desk, params)
    return await concluded(desk, groups.run(), groups.selection)


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """Fewest: no solution is readable. Likely and most: every role finds as many inputs as it may take."""
    most, there = {}, 1
    for step, role in enumerate(ROLES, 1):
        calls = params.group * min(params.inputs if step > 1 else 1, there)
        most[role] = calls if step <= params.steps else 0
        there = calls
    return estimated(
        fewest={role: most[role] if role == "solver" else 0 for role in ROLES},
        likely=most,
        most=most,
        typical={
            "solver": (1_000, 19_000),
            "verifier_1": (8_000, 5_000),
            "corrector_1": (12_000, 5_000),
            "verifier_2": (8_000, 5_000),
            "corrector_2": (12_000, 5_000),
        },
        limits=max_new_tokens,
        assumptions="Every role finds inputs, with calls as long as those of a large model early in its training.",
    )


SCAFFOLD = Scaffold(
    name="grouped_agents",
    title="Grouped agents",
    description=(
        "Solver, verifiers and correctors each answer an input several times, so that a MarsRL training job can compare the "
        "answers. A few texts of each role go to the next one."
    ),
    source="MarsRL (arXiv 2511.11373) §3.3",
    params=Params,
    presets={
        "quick": Preset("Quick", "Four answers per input, one input per role.", Params(group=4, inputs=1)),
        "paper": Preset("Paper", "The paper's sizes: eight answers per input, two random inputs per role.", Params()),
        "adaptive": Preset(
            "Adaptive",
            "The paper's best choice of inputs, for problems with an answer. Verifiers may learn to object to everything.",
            Params(choice="adaptive"),
        ),
    },
    roles=(
        Role("solver", "Solver", "Writes solutions.", 65_536, 0.85),
        Role("verifier_1", "Verifier of the solver", "Checks the solver's texts.", 65_536, 0.85),
        Role("corrector_1", "Corrector of the solver", "Fixes the faults reported in the solver's texts.", 65_536, 0.85),
        Role("verifier_2", "Verifier of corrections", "Checks the first corrector's texts.", 65_536, 0.85),
        Role(
            "corrector_2", "Corrector of corrections", "Fixes the faults reported in the first corrector's texts.", 65_536, 0.85
        ),
    ),
    solve=solve,
    estimate=estimate,
    hands_in=hands_in,
    page=Page(draws_lineage=True),
)
