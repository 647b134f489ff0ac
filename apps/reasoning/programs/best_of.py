"""Best of n (best@n): independent proofs, each scored by a model grader; the best wins, and a duel breaks ties.

Source: best-of-n by a verifier (Cobbe et al., arXiv 2110.14168); as many proofs as Nomos draws (QED-Nano App. B).
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from pydantic import Field, field_validator, model_validator

from apps.reasoning.domain.candidate_events import CandidateScored, PoolKept
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Value
from apps.reasoning.graders.grader import METHOD, Grader
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.marking.schemes.scheme import Scheme, points_text, points_words
from apps.reasoning.ports import Context
from apps.reasoning.programs.best_of_costs import estimated_with
from apps.reasoning.programs.scoring import Scored, scored_by
from apps.reasoning.prompts import loader
from apps.reasoning.scaffolds.candidates.concluding import NOTHING_READABLE, Selection, concluded
from apps.reasoning.scaffolds.candidates.desk import Candidate, Desk
from apps.reasoning.scaffolds.candidates.judged_formulas import JudgedFormulas
from apps.reasoning.scaffolds.candidates.ranking import C, id_of
from apps.reasoning.scaffolds.candidates.solving import solved
from apps.reasoning.scaffolds.candidates.tournament import KnockOut, undefeated_in
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.given import Given
from apps.reasoning.scaffolds.running.checking_first import marks_option
from apps.reasoning.scaffolds.running.concurrently import concurrently
from apps.reasoning.scaffolds.scaffold import Preset, Role, Scaffold
from apps.reasoning.story.run_story import RunStory

NAME = "best_of"
FIRST_GRADER = "single_turn"


class Params(Value):
    """Paper letter: n proofs. References and scheme are supplied with the problem, for graders that need them."""

    solutions: int = Field(default=16, ge=1, le=256, title="Solutions", description="Independent proofs (n).")
    grader: str = Field(
        default=FIRST_GRADER,
        title="Grader",
        description="Scores every proof. Graders that need a reference or a scheme are offered if the problem has one.",
    )
    verifier_marks: bool = marks_option()
    references: tuple[str, ...] = ()
    scheme: Scheme | None = None

    @model_validator(mode="before")
    @classmethod
    def _only_what_is_shown(cls, given: Any) -> Any:
        """Drop material that the grader is not shown, so that the run does not store it."""
        name = given.get("grader", FIRST_GRADER) if isinstance(given, dict) else None
        program = GRADERS.get(name) if isinstance(name, str) else None
        if program is None:
            return given
        seen = {"references": program.view.reference, "scheme": program.view.scheme}
        return {name: value for name, value in given.items() if seen.get(name, True)}

    @field_validator("grader")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if name not in GRADERS:
            raise ValueError(f"unknown grader {name}; choose one of {', '.join(GRADERS)}")
        return name

    @property
    def program(self) -> Grader:
        return GRADERS[self.grader]

    @property
    def material(self) -> dict[str, Any]:
        """The grader's material in addition to a script, by its own view."""
        shown = {"view": self.program.view, "marks": self.verifier_marks}
        return {**shown, "references": self.references, "scheme": self.scheme}


def cannot_run(problem: ProblemText, params: Params) -> str:
    """What the problem lacks for the grader, or ""."""
    asked = params.program.read_params({**params.material, "script": "A proof."})
    lack = params.program.lacks(asked) if isinstance(asked, Material) else "The grader takes no script."
    if not lack:
        return ""
    return f"{lack} Add it to the problem, or choose another grader: {GRADERS[FIRST_GRADER].title} needs nothing."


def offered(given: Given) -> dict[str, str]:
    """The graders that can run on a problem with this material, with their titles."""
    every = {name: Params(grader=name, references=given.references, scheme=given.scheme) for name in GRADERS}
    return {name: GRADERS[name].title for name, params in every.items() if not cannot_run(_ANY, params)}


_ANY = ProblemText(id="", version=1, title="", statement="")


def hands_in(story: RunStory, params: Params) -> str:
    """The undefeated proof with most wins, once the duel has decided a pair; before, the first proof with the most points, or
    the first one if none is graded."""
    found = story.candidates
    left = undefeated_in(found, found.pools[-1][1].kept) if found.duels else []
    points = {name: one.mean for name, one in found.by_id.items() if one.mean is not None}
    return id_of(next(iter(left or _leaders(found.by_id.values(), points)), None))


def _leaders(candidates: Iterable[C], points: Mapping[str, Decimal] | Mapping[str, float]) -> list[C]:
    """The candidates with the most points, oldest first; unscored ones lose, and all are equal if none is scored."""
    everyone = sorted(candidates, key=lambda one: one.order)
    most = max(points.values(), default=None)
    return [one for one in everyone if points.get(one.id) == most]


class _Search:
    """The state of the search, so that it can select a proof whenever the budget ends."""

    def __init__(self, desk: Desk, params: Params) -> None:
        self.desk = desk
        self.params = params
        self.scores: dict[str, Scored] = {}
        self.duel = KnockOut(desk, {}, "duel")

    async def run(self) -> Selection:
        if await self.desk.steer("solve"):
            return self.selection()
        slots = range(1, self.params.solutions + 1)
        written = [draft for draft in await concurrently(self._solved(slot) for slot in slots) if draft]
        if not written or await self.desk.steer("grade"):
            return self.selection()
        await self._grade(written)
        leaders = self.leaders
        self._emit_pool(leaders)
        winner = await self.duel.hold(leaders) if len(leaders) > 1 else None
        if winner is None:
            return self.selection()
        return Selection(candidate=winner, reason=f"{winner.id} won the duel among {len(leaders)} {self._equals}. {self._seen}")

    @property
    def leaders(self) -> list[Candidate]:
        points = {name: one.points for name, one in self.scores.items() if one.points is not None}
        return _leaders(self.desk.candidates.values(), points)

    def selection(self) -> Selection:
        """The best candidate so far: one left in the duel, else the first with the most points, else the first."""
        if not self.leaders:
            return Selection(candidate=None, reason=NOTHING_READABLE)
        if self.duel.beaten:
            left = self.duel.standing
            said = f"{left[0].id} is one of {len(left)} that the duel among {len(self.duel.entrants)} {self._equals} had left."
            return Selection(candidate=left[0], reason=f"{said} {self._seen}")
        best, *others = self.leaders
        if best.id not in self.scores or self.scores[best.id].points is None:
            return Selection(candidate=best, reason=f"{best.id} is the first of {len(others) + 1} {self._equals}.")
        equals = f", the first of {len(others) + 1} with as many" if others else ""
        graded = sum(one.points is not None for one in self.scores.values())
        of = f"{graded} graded of {len(self.desk.candidates)} solutions"
        said = f"{best.id} has {self._points(best)}, the most of {of}{equals}."
        return Selection(candidate=best, reason=f"{said} {self._seen}")

    @property
    def _equals(self) -> str:
        best = self.leaders[0]
        if best.id in self.scores and self.scores[best.id].points is not None:
            return f"solutions with {self._points(best)}"
        why = next((self.scores[one.id].unscored for one in self.leaders if one.id in self.scores), "")
        return f"solutions, none of which could be graded ({why})" if why else "solutions, none of which was graded"

    def _points(self, one: Candidate) -> str:
        found = self.scores[one.id]
        return f"{points_text(found.points or Decimal(0))} of {points_words(found.scale)}"

    @property
    def _seen(self) -> str:
        if all(one.points is None for one in self.scores.values()):
            return "It was not judged."
        program = self.params.program
        return f"{program.title} gave the points; it was shown {program.view.words}. Points compare proofs and accept none."

    async def _solved(self, slot: int) -> Candidate | None:
        return await solved(self.desk, f"solve/{slot}", slot=slot, of=self.params.solutions)

    async def _grade(self, written: Sequence[Candidate]) -> None:
        """Grade concurrently; with references, grade the first one alone, so that the others reuse its prepared pieces."""
        pieces: Mapping[str, Any] = {}
        first = 1 if "references" in self.params.program.needs else 0
        for one in written[:first]:
            pieces = (await self._graded(one, {})).pieces
        await concurrently(self._graded(one, pieces) for one in written[first:])

    async def _graded(self, one: Candidate, pieces: Mapping[str, Any]) -> Scored:
        material = {**self.params.material, "prepared": dict(pieces)}
        found = await scored_by(self.params.program, self.desk, one, material)
        self.scores[one.id] = found
        event = CandidateScored(
            candidate=one.id,
            index=1,
            of=1,
            call=found.call,
            scale=float(found.scale),
            score=None if found.points is None else float(found.points),
            unscored=found.unscored,
            report=found.report,
        )
        self.desk.ctx.emit(f"grade/{one.id}/score", event)
        return found

    def _emit_pool(self, leaders: Sequence[Candidate]) -> None:
        means = {name: float(one.points) for name, one in self.scores.items() if one.points is not None}
        reason = "the most points" if means else "no solution could be graded"
        event = PoolKept(round=1, kept=tuple(one.id for one in leaders), means=means, reason=reason)
        self.desk.ctx.emit("pool/1", event)


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Solve n times, grade each solution, and break ties by a duel."""
    search = _Search(Desk(problem, ctx, formulas=JudgedFormulas(params.verifier_marks)), params)
    return await concluded(search.desk, search.run(), search.selection)


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """See best_of_costs.py; roles of other graders make no calls."""
    return estimated_with(params.program, params.material, params.solutions, [role.name for role in ROLES], max_new_tokens)


GRADING = {role.name: role for program in GRADERS.values() for role in program.roles}
ROLES = (
    Role("solver", "Solver", "Writes the proofs.", 65_536, 0.8),
    *GRADING.values(),
    Role("judge", "Judge", "Names the better of two proofs with equal points.", 32_768, 0.3),
)


class BestOf(Scaffold):
    """A scaffold that also uses the graders' prompts."""

    @property
    def prompts(self) -> dict[str, str]:
        return super().prompts | loader.hashes(METHOD)


SCAFFOLD = BestOf(
    name=NAME,
    title="Best of n (best@n)",
    description=(
        "A model grader scores independent proofs. The result is the proof with the most points; proofs with equal "
        "points are compared in pairs, in both orders. A proof that could not be graded loses to every graded one."
    ),
    source="Best-of-n, arXiv 2110.14168; QED-Nano App. B",
    params=Params,
    presets={
        "quick": Preset("Quick", "Three proofs.", Params(solutions=3)),
        "paper": Preset("Paper", "Sixteen proofs, as in Nomos.", Params()),
    },
    roles=ROLES,
    solve=solve,
    estimate=estimate,
    hands_in=hands_in,
    cannot_run=cannot_run,
    takes=frozenset({"references", "scheme"}),
    choices={"grader": offered},
)
