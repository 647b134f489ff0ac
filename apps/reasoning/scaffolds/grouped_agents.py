"""Solver, verifiers and correctors, each answering its inputs by whole groups: what MarsRL learns from.

Source: MarsRL §3.1 and §3.3. Every answer of a group had the same prompt; of the texts of one role only a few are worked on by
the next one, so that a problem costs a bounded number of calls.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import Field

from apps.reasoning.domain.candidate_events import CandidateJudged
from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.ports import Context
from apps.reasoning.reading.choices import Decision, DecisionJson, read_decision
from apps.reasoning.scaffolds.candidates.concluding import NOTHING_READABLE, Selection, concluded
from apps.reasoning.scaffolds.candidates.costs import estimated
from apps.reasoning.scaffolds.candidates.desk import Candidate, Desk
from apps.reasoning.scaffolds.candidates.final_answers import answers_agree
from apps.reasoning.scaffolds.candidates.inputs import Choice, chosen
from apps.reasoning.scaffolds.concurrently import concurrently
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.scaffold import Preset, Role, Scaffold, reader

T = TypeVar("T")
ROLES = ("solver", "verifier_1", "corrector_1", "verifier_2", "corrector_2")
_SCHEMA = DecisionJson.model_json_schema()


class Params(Value):
    """Sizes are MarsRL's in training. Inputs are drawn: the paper's own choice, adaptive, needs an answer (§3.4)."""

    group: int = Field(
        default=8, ge=2, le=128, title="Answers to an input", description="They had the same prompt and are compared."
    )
    inputs: int = Field(
        default=2, ge=1, le=16, title="Inputs of a role", description="So many texts of the role before are worked on."
    )
    choice: Choice = Field(
        default="random",
        title="Choice of inputs",
        description=(
            "Any; or by the problem's answer: half right and half wrong; or (adaptive) wrong solutions to the verifier and "
            "right reports to the corrector. Without an answer any."
        ),
    )
    steps: int = Field(
        default=5, ge=1, le=5, title="Roles", description="Solver, verifier, corrector, and once more for the corrections."
    )
    structured_output: bool = Field(
        default=False,
        title="Structured output",
        description="Ask the verifiers for JSON by schema, for engines that support it.",
    )


@dataclass(frozen=True)
class Report:
    """What one verifier said of a candidate."""

    candidate: Candidate
    decision: Decision
    call: str


@dataclass
class Groups:
    """The state of the search. `passes` counts what verifiers passed of each candidate, `read` what could be read."""

    desk: Desk
    params: Params
    passes: dict[str, int] = field(default_factory=dict)
    read: dict[str, int] = field(default_factory=dict)

    async def run(self) -> Selection:
        """Role after role; it ends early where the next one has nothing to work on."""
        written: list[Candidate] = []
        reports: list[Report] = []
        for step, role in enumerate(ROLES[: self.params.steps], 1):
            if await self.desk.steer(f"step/{step}"):
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
        """The candidate that the largest share of its verdicts passed, of equals the newest.

        Accepted where all that could be read did, and half of them could be.
        """
        if not self.desk.candidates:
            return Selection(candidate=None, reason=NOTHING_READABLE)
        best = max(self.desk.candidates.values(), key=lambda one: (self._share(one), one.order))
        if not self.read.get(best.id):
            return Selection(candidate=best, reason="Nobody judged it.")
        passes, read = self.passes[best.id], self.read[best.id]
        of_all = f"{passes} of {read} verdicts on it found no fault"
        if passes == read:
            if 2 * read >= self.params.group:
                return Selection(candidate=best, accepted=True, reason=f"Accepted: {of_all}.")
            of_all += f", but of {self.params.group} only {read} could be read"
        return Selection(candidate=best, accepted=False, reason=f"Not accepted: {of_all}.")

    def _share(self, candidate: Candidate) -> float:
        """Of the verdicts on it that could be read; what nobody judged comes last."""
        read = self.read.get(candidate.id, 0)
        return self.passes.get(candidate.id, 0) / read if read else -1.0

    # --- the roles ---------------------------------------------------------------------------------------------------

    async def _solved(self, step: int) -> list[Candidate]:
        # All of a group have one prompt, so none is told which attempt it is.
        values = {"attempt": "1", "attempts": "1"}
        return _readable(
            await concurrently(
                self.desk.draft(
                    f"step/{step}/{number}",
                    f"c1.{number}",
                    role="solver",
                    prompt="shared/solver",
                    made_as="solution",
                    place=Place(round=1, subject=f"candidate c1.{number}", index=number),
                    values=values,
                )
                for number in range(1, self.params.group + 1)
            )
        )

    async def _examined(self, step: int, role: str, written: Sequence[Candidate]) -> list[Report]:
        rewards = [float(self._is_right(one)) for one in written]
        picked = self._chosen(step, written, rewards, high_first=False)
        numbers = range(1, self.params.group + 1)
        return _readable(await concurrently(self._verdict(step, role, one, number) for one in picked for number in numbers))

    async def _verdict(self, step: int, role: str, candidate: Candidate, number: int) -> Report | None:
        call = f"step/{step}/{candidate.id}/{number}"
        final = await self.desk.ask(
            call,
            role=role,
            prompt="shared/verifier",
            values={"answer_form": self.desk.form("decision"), "solution": self.desk.content(candidate.text)},
            place=Place(round=candidate.round, subject=f"candidate {candidate.id}", index=number),
            schema=_SCHEMA,
        )
        found = final if isinstance(final, Unscored) else read_decision(final)
        decision = found if isinstance(found, Decision) else None
        if decision is not None:
            self.read[candidate.id] = self.read.get(candidate.id, 0) + 1
            self.passes[candidate.id] = self.passes.get(candidate.id, 0) + decision.passed
        elif isinstance(final, Final) and isinstance(found, Unscored):
            self.desk.unread(call, role, found.reason)
        self._tell(candidate, call, number, found)
        return Report(candidate, decision, call) if decision is not None else None

    def _tell(self, candidate: Candidate, call: str, number: int, found: Decision | Unscored) -> None:
        """Verdicts of a group have no order, so there are no streaks."""
        decision = found if isinstance(found, Decision) else None
        event = CandidateJudged(
            candidate=candidate.id,
            index=number,
            call=call,
            passed=decision.passed if decision else None,
            unscored=found.reason if isinstance(found, Unscored) else "",
            issues=decision.issues if decision else (),
            summary=decision.summary if decision else "",
            passes=0,
            failures=0,
        )
        self.desk.ctx.emit(f"{call}/judged", event)

    async def _corrected(self, step: int, role: str, flagged: Sequence[Report]) -> list[Candidate]:
        """Corrections of a few of the reports that found a fault. A report is right where its solution is wrong."""
        rewards = [float(not self._is_right(report.candidate)) for report in flagged]
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
                        "report": self.desk.content(report.decision.report),
                    },
                )
                for place, report in enumerate(picked)
                for number in range(1, size + 1)
            )
        )

    # --- inputs ------------------------------------------------------------------------------------------------------

    def _is_right(self, candidate: Candidate) -> bool:
        """Whether it ends with the problem's answer, which no prompt holds; false where there is none."""
        return answers_agree("\n\n".join(candidate.steps), self.desk.problem.answer)

    def _chosen(self, step: int, inputs: Sequence[T], rewards: Sequence[float], *, high_first: bool) -> list[T]:
        choice: Choice = self.params.choice if self.desk.problem.answer else "random"
        draw = self.desk.draw(f"inputs/{step}")
        return chosen(inputs, rewards, choice=choice, high_first=high_first, wanted=self.params.inputs, rng=draw)


def _readable(found: Sequence[T | None]) -> list[T]:
    return [one for one in found if one is not None]


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Group after group, as `Groups.run` says."""
    desk = Desk(problem, ctx, structured=params.structured_output)
    groups = Groups(desk, params)
    return await concluded(desk, groups.run(), groups.selection)


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """Fewest: nothing of the solver can be read. Likely and most: every role finds as many inputs as it may take."""
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
        assumptions="Every role finds inputs to work on, with calls as long as those of a large model early in its training.",
    )


SCAFFOLD = Scaffold(
    name="grouped_agents",
    title="Grouped agents",
    description=(
        "Solver, verifiers and correctors each answer an input several times, so that the answers can be compared: what a "
        "training job of MarsRL learns from. Of each role's texts a few go to the next one."
    ),
    source="MarsRL (arXiv 2511.11373) §3.3",
    params=Params,
    read_params=reader(Params),
    presets={
        "quick": Preset("Quick", "Four answers to an input, one input a role.", Params(group=4, inputs=1)),
        "paper": Preset("Paper", "The paper's sizes: eight answers to an input, two inputs a role, drawn.", Params()),
        "adaptive": Preset(
            "Adaptive",
            "The paper's best choice of inputs, for problems with an answer. Verifiers may learn to object to everything.",
            Params(choice="adaptive"),
        ),
    },
    roles=(
        Role("solver", "Solver", "Writes solutions.", 65_536, 0.85),
        Role("verifier_1", "Verifier of the solver", "Examines the solver's texts.", 65_536, 0.85),
        Role("corrector_1", "Corrector of the solver", "Settles reports on the solver's texts.", 65_536, 0.85),
        Role("verifier_2", "Verifier of corrections", "Examines what the first corrector wrote.", 65_536, 0.85),
        Role("corrector_2", "Corrector of corrections", "Settles reports on what the first corrector wrote.", 65_536, 0.85),
    ),
    solve=solve,
    estimate=estimate,
)
