"""Recursive self-aggregation: a population of solutions, renewed step by step from subsets of itself, then a knock-out.

Source: QED-Nano App. B, §5 (reasoning notes §5).
"""

from collections.abc import Mapping, Sequence
from itertools import takewhile

from pydantic import Field, model_validator

from apps.reasoning.domain.candidate_events import PoolKept
from apps.reasoning.domain.generation import Place
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Value
from apps.reasoning.ports import Context
from apps.reasoning.prompts.fitting import Passage
from apps.reasoning.scaffolds.candidates.concluding import NOTHING_READABLE, Selection, concluded
from apps.reasoning.scaffolds.candidates.costs import estimated
from apps.reasoning.scaffolds.candidates.desk import Candidate, Desk
from apps.reasoning.scaffolds.candidates.judged_formulas import JudgedFormulas
from apps.reasoning.scaffolds.candidates.ranking import C, balanced_subsets, id_of
from apps.reasoning.scaffolds.candidates.solving import solved
from apps.reasoning.scaffolds.candidates.tournament import KnockOut, most_calls, undefeated_in
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.page import Page
from apps.reasoning.scaffolds.running.checking_first import marks_option
from apps.reasoning.scaffolds.running.concurrently import concurrently
from apps.reasoning.scaffolds.scaffold import Preset, Role, Scaffold
from apps.reasoning.story.run_story import RunStory


class Params(Value):
    """Paper letters: n population, k subset, T steps. Defaults are the original method's; preset `qed_nano` is QED-Nano's."""

    population: int = Field(default=16, ge=2, le=256, title="Population", description="Solutions per step (n).")
    subset: int = Field(default=4, ge=2, le=16, title="Subset", description="Solutions shown to each aggregation (k).")
    steps: int = Field(default=10, ge=1, le=32, title="Steps", description="Aggregation steps after the first solutions (T).")

    verifier_marks: bool = marks_option()

    @model_validator(mode="after")
    def _subset_fits(self) -> "Params":
        if self.subset > self.population:
            raise ValueError(f"cannot draw a subset of {self.subset} from a population of {self.population}")
        return self


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Solve n times, aggregate T times, then hold a tournament among the last population."""
    desk = Desk(problem, ctx, formulas=JudgedFormulas(params.verifier_marks))
    final = KnockOut(desk, {}, "final")
    return await concluded(desk, _search(desk, params, final), lambda: _unfinished(desk, final))


async def _search(desk: Desk, params: Params, final: KnockOut) -> Selection:
    if await desk.steer("step/0"):
        return _unfinished(desk, final)
    slots = range(1, params.population + 1)
    population = _readable(await concurrently(_fresh(desk, params, slot) for slot in slots))
    for step in range(1, params.steps + 1):
        _emit_pool(desk, step - 1, population)
        if await desk.steer(f"step/{step}") or not population:
            return _unfinished(desk, final)
        subsets = balanced_subsets(population, params.subset, params.population, desk.draw(f"step/{step}/subsets"))
        work = [_aggregated(desk, step, slot, subset) for slot, subset in zip(slots, subsets, strict=True)]
        population = _readable(await concurrently(work)) or population
    _emit_pool(desk, params.steps, population)
    winner = await final.hold(population)
    if winner is None:
        return _unfinished(desk, final)
    reason = f"{winner.id} won the knock-out among the {len(population)} solutions of the last step."
    return Selection(candidate=winner, reason=reason)


def hands_in(story: RunStory, params: Params) -> str:
    """The undefeated solution with most wins, once the knock-out has decided a pair; before, the first solution of the newest
    step."""
    found = story.candidates
    left = undefeated_in(found, found.pools[-1][1].kept) if found.duels else []
    return id_of(left[0] if left else _newest(found.by_id))


def _newest(candidates: dict[str, C]) -> C | None:
    """The first solution of the newest step. The candidates are in the order of steps."""
    last = next(reversed(candidates.values()), None)
    if last is None:
        return None
    return min(takewhile(lambda one: one.order[0] == last.order[0], reversed(candidates.values())), key=lambda one: one.order)


def _unfinished(desk: Desk, final: KnockOut) -> Selection:
    if final.beaten:
        left = final.standing
        reason = f"{left[0].id} is one of {len(left)} solutions that the knock-out among {len(final.entrants)} had left."
        return Selection(candidate=left[0], reason=reason)
    newest = _newest(desk.candidates)
    reason = f"{newest.id} is the first solution of the newest step; no pair was compared." if newest else NOTHING_READABLE
    return Selection(candidate=newest, reason=reason)


def _readable(drafts: Sequence[Candidate | None]) -> list[Candidate]:
    return [draft for draft in drafts if draft is not None]


def _emit_pool(desk: Desk, step: int, population: Sequence[Candidate]) -> None:
    kept = tuple(one.id for one in population)
    desk.ctx.emit(f"pool/{step}", PoolKept(round=step + 1, kept=kept, means={}, reason="the population after this step"))


async def _fresh(desk: Desk, params: Params, slot: int) -> Candidate | None:
    return await solved(desk, f"step/0/{slot}", slot=slot, of=params.population)


async def _aggregated(desk: Desk, step: int, slot: int, subset: tuple[Candidate, ...]) -> Candidate | None:
    return await desk.draft(
        f"step/{step}/{slot}",
        f"c{step + 1}.{slot}",
        role="aggregator",
        prompt="rsa/aggregator",
        made_as="aggregate",
        place=Place(round=step + 1, subject=f"candidate c{step + 1}.{slot}", index=slot),
        parents=subset,
        values={
            "solutions": desk.growing_list((Passage(f"solution {one.id}", one.text) for one in subset), 2, heading="Solution")
        },
    )


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """All steps run unless no solution is readable."""
    n = params.population
    calls = {"solver": n, "aggregator": n * params.steps, "judge": most_calls(n)}
    return estimated(
        fewest={"solver": n, "aggregator": 0, "judge": 0},
        likely=calls,
        most=calls,
        typical={"solver": (1_000, 30_000), "aggregator": (5_000 * params.subset, 30_000), "judge": (10_000, 8_000)},
        limits=max_new_tokens,
        assumptions="All steps run, with calls as long as those of a large reasoning model.",
    )


SCAFFOLD = Scaffold(
    name="rsa",
    title="Recursive self-aggregation",
    description=(
        "A population of solutions. Every step replaces each solution by one made from a random subset of the population; "
        "at the end a knock-out, judged in both orders, selects one."
    ),
    source="QED-Nano App. B",
    params=Params,
    presets={
        "quick": Preset("Quick", "Four solutions, pairs, one step.", Params(population=4, subset=2, steps=1)),
        "qed_nano": Preset(
            "QED-Nano", "Eight solutions, subsets of three, three steps.", Params(population=8, subset=3, steps=3)
        ),
        "original": Preset("Original", "Sixteen solutions, subsets of four, ten steps.", Params(), priority=9),
    },
    roles=(
        Role("solver", "Solver", "Writes the first population.", 65_536, 0.8),
        Role("aggregator", "Aggregator", "Combines several solutions into one.", 65_536, 0.8),
        Role("judge", "Judge", "Names the better of two solutions.", 32_768, 0.3),
    ),
    solve=solve,
    estimate=estimate,
    hands_in=hands_in,
    page=Page(draws_lineage=True, round_word="Step"),
    cost_hint=(
        "With QED-Nano 4B on IMO-ProofBench and the values of the preset QED-Nano: 56.9 % at 21.84 times the tokens of a "
        "single answer, which scores 40.0 % (QED-Nano, Table 2). The preset Original makes 206 calls; QED-Nano makes 46."
    ),
)
