"""DeepSeek-Math: a pool of proofs, each checked several times and refined from its most critical reports.

Source: QED-Nano App. B (reasoning notes §6).
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from pydantic import Field

from apps.reasoning.domain.candidate_events import PoolKept, ScoreDropped
from apps.reasoning.domain.generation import Place
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.ports import Context
from apps.reasoning.prompts.fitting import Growing, Passage
from apps.reasoning.reading.choices import Scored
from apps.reasoning.scaffolds.candidates.concluding import NOTHING_READABLE, Selection, concluded
from apps.reasoning.scaffolds.candidates.costs import estimated
from apps.reasoning.scaffolds.candidates.desk import Candidate, Desk, Part
from apps.reasoning.scaffolds.candidates.judged_formulas import JudgedFormulas
from apps.reasoning.scaffolds.candidates.ranking import best_first, id_of, leader, mean
from apps.reasoning.scaffolds.candidates.scoring import Scoring, score_reading, scored
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.page import Page
from apps.reasoning.scaffolds.running.checking_first import marks_option
from apps.reasoning.scaffolds.running.concurrently import concurrently
from apps.reasoning.scaffolds.running.hearing import Heard
from apps.reasoning.scaffolds.scaffold import Preset, Role, Scaffold
from apps.reasoning.story.run_story import RunStory

VALUES = (0.0, 0.5, 1.0)
#: Scores of the meta-verifier: 1 for a founded report, 0 for an unfounded one.
FOUNDED = (0.0, 1.0)
EXAMINATION = Scoring("evaluator", "deepseek_math/evaluator", VALUES)
META = "deepseek_math/meta_verifier"
FULL = 1.0
EVALUATOR = Role("evaluator", "Evaluator", "Checks a proof and scores it 0, 0.5 or 1.", 32_768, 0.7)
META_VERIFIER = Role("meta_verifier", "Meta-verifier", "Decides whether a report's objections are justified.", 32_768, 0.3)
#: Typical prompt and completion tokens of both roles.
EXAMINING_TOKENS = {EVALUATOR.name: (8_000, 8_000), META_VERIFIER.name: (10_000, 6_000)}


class Params(Value):
    """Defaults of QED-Nano: four proofs, four examinations each, two reports shown, three rounds."""

    proofs: int = Field(default=4, ge=1, le=256, title="Proofs", description="New proofs per round.")
    examinations: int = Field(
        default=4, ge=1, le=128, title="Examinations", description="Independent examinations of each proof."
    )
    reports: int = Field(
        default=2, ge=1, le=16, title="Reports", description="Number of lowest-scoring reports shown to the refiner."
    )
    rounds: int = Field(
        default=3, ge=1, le=64, title="Rounds", description="Most rounds; a proof with mean score 1 ends the run."
    )
    quorum: float = Field(
        default=0.6,
        ge=0.1,
        le=1,
        title="Quorum",
        description="Share of a proof's examinations that must count before it is accepted; 0.6 means three of four.",
    )
    meta: bool = Field(
        default=False, title="Check the reports", description="Ignore reports that a meta-verifier finds unfounded."
    )
    verifier_marks: bool = marks_option()

    @property
    def needed(self) -> int:
        """Reports that must count before a proof is accepted. Our rule: the paper does not cover unreadable reports;
        Intern-S1-MO requires three of its four votes."""
        return math.ceil(round(self.quorum * self.examinations, 9))

    def accepts(self, mean: float, count: int) -> bool:
        """Whether all counted reports give the full score, and enough reports count."""
        return mean >= FULL and count >= self.needed


async def report_checked(desk: Desk, call: str, solution: str, report: Scored, place: Place) -> Heard[Scored]:
    """Check whether a report on the fenced `solution` is founded. Scores are those of `FOUNDED`."""
    text = f"{report.report}\n\nValue: {report.score:g}"
    return await desk.hear(
        call,
        role=META_VERIFIER.name,
        prompt=META,
        values={"solution": solution, "report": desk.content(text)},
        place=place,
        reading=score_reading(FOUNDED),
    )


def hands_in(story: RunStory, params: Params) -> str:
    """An accepted proof, else the proof with the best mean over all rounds."""
    found = story.candidates.by_id
    means = {name: one.mean for name, one in found.items() if one.mean is not None}
    return id_of(leader(found, means, lambda name, mean: params.accepts(mean, len(found[name].scores))))


class _Search:
    """The pool, the counted reports on each proof, and their mean scores."""

    def __init__(self, desk: Desk, params: Params) -> None:
        self.desk = desk
        self.params = params
        self.reports: dict[str, dict[int, Scored]] = defaultdict(dict)

    @property
    def means(self) -> dict[str, float]:
        found = {name: mean([report.score for report in reports.values()]) for name, reports in self.reports.items()}
        return {name: value for name, value in found.items() if value is not None}

    async def run(self) -> Selection:
        for round_ in range(1, self.params.rounds + 1):
            await self.desk.steer(f"round/{round_}")
            if self.desk.wants_end:
                break
            pool = list(self.desk.candidates.values())
            parents: Sequence[Candidate | None] = best_first(pool, self.means)[: self.params.proofs]
            if round_ == 1 or not parents:
                parents = [None] * self.params.proofs
            await concurrently(self._proof(round_, slot, parent) for slot, parent in enumerate(parents, 1))
            self._emit_pool(round_)
            if any(self._accepts(name, value) for name, value in self.means.items()):
                break
        return self.selection()

    def _accepts(self, name: str, value: float) -> bool:
        return self.params.accepts(value, len(self.reports[name]))

    def selection(self) -> Selection:
        """An accepted proof, else the proof with the best mean over all rounds."""
        means = self.means
        best = leader(self.desk.candidates, means, self._accepts)
        if best is None:
            return Selection(candidate=None, reason=NOTHING_READABLE)
        if best.id not in means:
            return Selection(candidate=best, reason=f"None of the examinations of {best.id} could be read.")
        count = len(self.reports[best.id])
        counted = f"the mean of {count} examination{'s' * (count > 1)} of {best.id} is {means[best.id]:.2f}"
        if self._accepts(best.id, means[best.id]):
            return Selection(candidate=best, accepted=True, reason=f"Accepted: {counted}.")
        if means[best.id] >= FULL:
            of = f"only {count} of {self.params.examinations} count, and {self.params.needed} are needed"
            return Selection(candidate=best, reason=f"Undecided: {counted}, but {of}.")
        reason = f"Not accepted: {counted}, the best of {len(self.desk.candidates)} proofs."
        return Selection(candidate=best, accepted=False, reason=reason)

    async def _proof(self, round_: int, slot: int, parent: Candidate | None) -> None:
        """Write or refine one proof and examine it immediately."""
        name = f"c{round_}.{slot}"
        place = Place(round=round_, subject=f"candidate {name}", index=slot)
        if parent is None:
            values = {"attempt": str(slot), "attempts": str(self.params.proofs)}
            draft = await self.desk.draft(
                f"round/{round_}/{slot}",
                name,
                role="solver",
                prompt="deepseek_math/solver",
                made_as="solution",
                place=place,
                values=values,
                own_scores=VALUES,
            )
        else:
            shown: dict[str, Part] = {"solution": self.desk.content(parent.text), "reports": self._worst(parent)}
            draft = await self.desk.draft(
                f"round/{round_}/{slot}",
                name,
                role="refiner",
                prompt="deepseek_math/refiner",
                made_as="refinement",
                place=place,
                parents=(parent,),
                values=shown,
                own_scores=VALUES,
            )
        if draft is not None:
            await concurrently(self._examined(draft, index) for index in range(1, self.params.examinations + 1))

    def _worst(self, candidate: Candidate) -> Growing:
        """The reports with the lowest scores; ties go to the earlier report."""
        ordered = sorted(self.reports[candidate.id].items(), key=lambda item: (item[1].score, item[0]))
        chosen = ordered[: self.params.reports]
        return self.desk.growing_list(
            Passage(f"Report {at} (value {one.score:g})", one.report, worth=-one.score) for at, (_, one) in enumerate(chosen, 1)
        )

    async def _examined(self, candidate: Candidate, index: int) -> None:
        call = f"examine/{candidate.id}/{index}"
        found = await scored(self.desk, EXAMINATION, candidate, index, self.params.examinations, call)
        if isinstance(found, Scored):
            self.reports[candidate.id][index] = found  # It counts until it is dropped, also if the budget ends before.
            if self.params.meta and await self._is_unfounded(candidate, index, found):
                del self.reports[candidate.id][index]

    async def _is_unfounded(self, candidate: Candidate, index: int, report: Scored) -> bool:
        """Whether the meta-verifier rejects the report; an unreadable meta-verdict keeps it."""
        call = f"meta/{candidate.id}/{index}"
        place = Place(round=candidate.round, subject=f"candidate {candidate.id}", index=index)
        found, said_in, _ = await report_checked(self.desk, call, self.desk.content(candidate.text), report, place)
        if isinstance(found, Unscored) or found.score:
            return False
        dropped = ScoreDropped(candidate=candidate.id, index=index, call=said_in, reason=found.report)
        self.desk.ctx.emit(f"{call}/dropped", dropped)
        return True

    def _emit_pool(self, round_: int) -> None:
        means = self.means
        best = best_first(list(self.desk.candidates.values()), means)[: self.params.proofs]
        kept = tuple(one.id for one in best)
        event = PoolKept(
            round=round_,
            kept=kept,
            means={one: means[one] for one in kept if one in means},
            reason="the best means of the pool",
        )
        self.desk.ctx.emit(f"pool/{round_}", event)


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Write, examine and refine in rounds; return the proof with the best mean over all rounds."""
    search = _Search(Desk(problem, ctx, formulas=JudgedFormulas(params.verifier_marks)), params)
    return await concluded(search.desk, search.run(), search.selection)


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """Likely and most: all rounds. Fewest: one readable, accepted proof in the first round, or no readable proof at all.

    A round with nothing to refine calls the solver again.
    """
    n, rounds = params.proofs, params.rounds
    meta = n * rounds * params.examinations if params.meta else 0
    shortest = params.needed if params.meta else 0
    calls = {
        "solver": n,
        "refiner": n * (rounds - 1),
        "evaluator": n * rounds * params.examinations,
        "meta_verifier": meta,
    }
    return estimated(
        fewest={"solver": n, "refiner": 0, "evaluator": 0, "meta_verifier": 0},
        fewest_in_all=min(n * rounds, n + params.examinations + shortest),
        likely=calls,
        most=calls,
        most_of_one={"solver": n * rounds},
        typical={
            "solver": (1_000, 30_000),
            "refiner": (10_000, 30_000),
            **EXAMINING_TOKENS,
        },
        limits=max_new_tokens,
        assumptions="All rounds run, with calls as long as those of a large reasoning model.",
    )


def warn_of(problem: ProblemText) -> str:
    """Warn about problems with an answer, on which the method lowered the paper's score (App. B)."""
    lowered = "On such problems, the method lowered QED-Nano's score from 66.3 to 58.3 % (App. B)."
    return f"This problem asks for an answer. {lowered}" if problem.answer else ""


SCAFFOLD = Scaffold(
    name="deepseek_math",
    title="DeepSeek-Math",
    description=(
        "A pool of proofs. Each is examined several times; the best are refined from their most critical reports and "
        "join the pool. The run ends when every examination of a proof finds it complete."
    ),
    source="QED-Nano App. B; DeepSeekMath-V2",
    params=Params,
    presets={
        "quick": Preset("Quick", "Two proofs, two examinations, two rounds.", Params(proofs=2, examinations=2, rounds=2)),
        "qed_nano": Preset("QED-Nano", "Four proofs, four examinations, three rounds.", Params()),
        "large": Preset(
            "Large",
            "128 proofs, 64 examinations, sixteen rounds: about 133,000 calls.",
            Params(proofs=128, examinations=64, reports=8, rounds=16),
            priority=9,
        ),
    },
    roles=(
        Role("solver", "Solver", "Writes proofs and scores them.", 65_536, 0.8),
        EVALUATOR,
        Role("refiner", "Refiner", "Improves a proof using reports on it.", 65_536, 0.8),
        META_VERIFIER,
    ),
    solve=solve,
    estimate=estimate,
    hands_in=hands_in,
    measured_with={"proofs": 8, "examinations": 8, "rounds": 4},
    page=Page(draws_lineage=True),
    cost_hint=(
        "With QED-Nano 4B on IMO-ProofBench and the values of the preset QED-Nano: 54.0 % at 17.14 times the tokens of a "
        "single answer, which scores 40.0 % (QED-Nano, Table 2)."
    ),
    warn_of=warn_of,
)
