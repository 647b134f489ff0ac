"""Nomos: many solutions, one mark each, grouped by conclusion, then a knock-out within the group most likely right.

Source: QED-Nano App. B (reasoning notes §4).
"""

from collections.abc import Mapping, Sequence

from pydantic import Field, model_validator

from apps.reasoning.domain.candidate_events import GroupsFormed, PoolKept
from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.ports import Context
from apps.reasoning.prompts.fitting import Passage
from apps.reasoning.reading.choices import Scored
from apps.reasoning.reading.grouping import Grouping, read_grouping, read_grouping_again
from apps.reasoning.reading.schemas import decisions, object_schema
from apps.reasoning.scaffolds.candidates.concluding import NOTHING_READABLE, Selection, concluded
from apps.reasoning.scaffolds.candidates.costs import estimated
from apps.reasoning.scaffolds.candidates.desk import Candidate, Desk
from apps.reasoning.scaffolds.candidates.judged_formulas import JudgedFormulas
from apps.reasoning.scaffolds.candidates.ranking import best_first, id_of
from apps.reasoning.scaffolds.candidates.scoring import POINTS, scored
from apps.reasoning.scaffolds.candidates.solving import solved
from apps.reasoning.scaffolds.candidates.tournament import KnockOut, most_calls, undefeated_in
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.page import Page
from apps.reasoning.scaffolds.running.checking_first import marks_option
from apps.reasoning.scaffolds.running.concurrently import concurrently
from apps.reasoning.scaffolds.running.hearing import SHORT, Reading
from apps.reasoning.scaffolds.scaffold import Preset, Role, Scaffold
from apps.reasoning.story.run_story import RunStory

#: Tokens per solution of a grouping, in tags or in JSON.
_GROUP_TOKENS = 12


class Params(Value):
    """Paper letters: n solutions, k kept."""

    solutions: int = Field(default=16, ge=1, le=256, title="Solutions", description="Independent solutions (n).")
    kept: int = Field(default=8, ge=1, le=32, title="Kept", description="Best solutions that are grouped by conclusion (k).")
    verifier_marks: bool = marks_option()

    @model_validator(mode="after")
    def _kept_of_all(self) -> "Params":
        if self.kept > self.solutions:
            raise ValueError(f"cannot keep {self.kept} of {self.solutions} solutions")
        return self


def hands_in(story: RunStory, params: Params) -> str:
    """The solution with the best mark: among those left in the knock-out, else in the chosen group, else among all."""
    found = story.candidates
    points = {name: one.mean for name, one in found.by_id.items() if one.mean is not None}
    group = found.groups.groups[found.groups.chosen] if found.groups else ()
    left = undefeated_in(found, group) or [found.by_id[name] for name in group] or found.by_id.values()
    return id_of(next(iter(best_first(left, points)), None))


class _Search:
    """The state of the search, so that it can select a solution whenever the budget ends."""

    def __init__(self, desk: Desk, params: Params) -> None:
        self.desk = desk
        self.params = params
        self.points: dict[str, float] = {}
        self.kept: list[Candidate] = []
        self.group: list[Candidate] = []
        self.final = KnockOut(desk, self.points, "final")

    async def run(self) -> Selection:
        if await self.desk.steer("solve"):
            return self.selection()
        slots = range(1, self.params.solutions + 1)
        written = [draft for draft in await concurrently(self._solved(slot) for slot in slots) if draft]
        if not written:
            return self.selection()
        self.kept = best_first(written, self.points)[: self.params.kept]
        self._emit_pool(self.kept)
        if len(self.kept) == 1 or await self.desk.steer("marked", reads_hints=False):
            return self.selection()
        self.group = await self._likeliest(self.kept)
        if await self.desk.steer("grouped", reads_hints=False):
            return self.selection()
        winner = await self.final.hold(self.group)
        if winner is None:
            return self.selection()
        return Selection(candidate=winner, reason=f"{winner.id} won the knock-out in {self._which_group}.")

    def selection(self) -> Selection:
        """The solution with the best mark: among those left in the knock-out, else in the chosen group, else among all."""
        ranked = best_first(self.final.standing or self.group or self.desk.candidates.values(), self.points)
        if not ranked:
            return Selection(candidate=None, reason=NOTHING_READABLE)
        best = ranked[0]
        mark = f"marked {self.points[best.id]:g} of 7" if best.id in self.points else "it has no readable mark"
        return Selection(candidate=best, reason=f"{best.id} is the best of {self._which(len(ranked))}: {mark}.")

    def _which(self, count: int) -> str:
        if self.final.beaten:
            return f"{count} solutions that the knock-out in {self._which_group} had left"
        return self._which_group if self.group else f"{count} solutions so far"

    @property
    def _which_group(self) -> str:
        return f"the group held most likely right ({len(self.group)} of {len(self.kept)} solutions)"

    async def _solved(self, slot: int) -> Candidate | None:
        """Write one solution and mark it immediately, without waiting for slower ones."""
        draft = await solved(self.desk, f"solve/{slot}", slot=slot, of=self.params.solutions)
        if draft is not None:
            mark = await scored(self.desk, POINTS, draft, 1, 1, f"mark/{draft.id}")
            if isinstance(mark, Scored):
                self.points[draft.id] = mark.score
        return draft

    def _emit_pool(self, kept: Sequence[Candidate]) -> None:
        means = {one.id: self.points[one.id] for one in kept if one.id in self.points}
        event = PoolKept(round=1, kept=tuple(one.id for one in kept), means=means, reason="the best by their marks")
        self.desk.ctx.emit("pool/1", event)

    async def _likeliest(self, kept: Sequence[Candidate]) -> list[Candidate]:
        """The chosen group; all kept solutions if the grouping is unreadable."""
        passages = (Passage(f"solution {one.id}", one.text, self.points.get(one.id, -1)) for one in kept)
        solutions = self.desk.growing_list(passages, 2, heading="Solution")
        prompt = self.desk.filled("consolidator", "nomos/consolidator", {"solutions": solutions})
        kept = [kept[place] for place in prompt.fit.kept["solutions"]] if prompt.fit else kept
        place = Place(round=1, subject="consolidation")

        found, call, _ = await self.desk.hear(
            "consolidate", role="consolidator", prompt=prompt, place=place, reading=groups_reading(len(kept))
        )
        if isinstance(found, Unscored):
            groups: tuple[tuple[int, ...], ...] = (tuple(range(1, len(kept) + 1)),)
            chosen, reason = 0, f"All stay together: {found.reason}."
        else:
            groups, chosen, reason = found.groups, found.chosen, found.reason
        named = tuple(tuple(kept[number - 1].id for number in group) for group in groups)
        self.desk.ctx.emit("pool/grouped", GroupsFormed(call=call, groups=named, chosen=chosen, reason=reason))
        return [self.desk.candidates[name] for name in named[chosen]]


def groups_reading(count: int) -> Reading[Grouping]:
    """Read groups of the solutions 1 to `count`. The second question asks of every solution for an equal one."""
    like = decisions({str(number): range(1, number + 1) for number in range(1, count + 1)})

    def read(final: Final) -> Grouping | Unscored:
        return read_grouping(final, count)

    def read_again(second: Final, first: str) -> Grouping | Unscored:
        return read_grouping_again(second, first, count)

    return Reading(
        read,
        "groups",
        read_again,
        object_schema({"like": like, "most_likely_right": {"enum": list(range(1, count + 1))}}),
        tokens=SHORT + _GROUP_TOKENS * count,
        asks_json="same_conclusion_json",
    )


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Solve and mark, keep the best, group them, and hold a knock-out."""
    search = _Search(Desk(problem, ctx, formulas=JudgedFormulas(params.verifier_marks)), params)
    return await concluded(search.desk, search.run(), search.selection)


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """Most: all kept solutions are in one group. Likely: half of them are."""
    n, k = params.solutions, params.kept
    together = int(k > 1)
    return estimated(
        fewest={"solver": n, "grader": 0, "consolidator": 0, "judge": 0},
        likely={"solver": n, "grader": n, "consolidator": together, "judge": most_calls((k + 1) // 2)},
        most={"solver": n, "grader": n, "consolidator": together, "judge": most_calls(k)},
        typical={
            "solver": (1_000, 30_000),
            "grader": (8_000, 8_000),
            "consolidator": (5_000 * k, 8_000),
            "judge": (10_000, 8_000),
        },
        limits=max_new_tokens,
        assumptions="Likely: the chosen group has half of the kept solutions, with calls as long as those of a large model.",
    )


SCAFFOLD = Scaffold(
    name="nomos",
    title="Nomos",
    description=(
        "Many independent solutions, each marked once from 0 to 7. The best are grouped by conclusion, and a knock-out "
        "within the group most likely right, judged in both orders, selects one."
    ),
    source="QED-Nano App. B; Nomos",
    params=Params,
    presets={
        "quick": Preset("Quick", "Four solutions, three kept.", Params(solutions=4, kept=3)),
        "original": Preset("Original", "Sixteen solutions, eight kept.", Params()),
        "qed_nano": Preset("QED-Nano", "Sixteen solutions, twelve kept.", Params(kept=12)),
    },
    roles=(
        Role("solver", "Solver", "Writes the solutions.", 65_536, 0.8),
        Role("grader", "Grader", "Marks one solution with 0 to 7 points.", 32_768, 0.3),
        Role("consolidator", "Consolidator", "Groups solutions by conclusion.", 32_768, 0.3),
        Role("judge", "Judge", "Names the better of two solutions.", 32_768, 0.3),
    ),
    solve=solve,
    estimate=estimate,
    hands_in=hands_in,
    measured_with={"solutions": 64, "kept": 16},
    page=Page(draws_lineage=True),
)
