"""AlphaApollo in the table of scaffolds: the program, its cost estimate and its description."""

from collections.abc import Mapping

from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.ports import Context
from apps.reasoning.scaffolds.alpha_apollo.evolving import Evolution
from apps.reasoning.scaffolds.alpha_apollo.memory import handed_in
from apps.reasoning.scaffolds.alpha_apollo.params import PRESETS, SOLVERS, Params
from apps.reasoning.scaffolds.candidates.concluding import concluded
from apps.reasoning.scaffolds.candidates.costs import estimated
from apps.reasoning.scaffolds.candidates.desk import Desk
from apps.reasoning.scaffolds.candidates.judged_formulas import JudgedFormulas
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.page import Page
from apps.reasoning.scaffolds.scaffold import Role, Scaffold
from apps.reasoning.story.run_story import RunStory


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Run one conversation, or rounds of evolution, and return the best solution in memory."""
    desk = Desk(problem, ctx, formulas=JudgedFormulas(params.verifier_marks))
    evolution = Evolution(desk, params)
    return await concluded(desk, evolution.run(), evolution.selection)


def hands_in(story: RunStory, params: Params) -> str:
    """The best judged solution (`memory.handed_in`); before a judgement, the newest solution."""
    return handed_in(story.candidates, params.evaluators)


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """Fewest: one failed turn, or solvers without a readable solution. Likely: two turns per conversation, no early stop.

    Most: every turn of every conversation, each but the last with a documentation lookup, and second panels.
    """
    evolves = params.mode == "evolution"
    rounds, threads = (params.rounds, params.threads) if evolves else (1, 1)
    judged = rounds * threads if evolves else 0
    # Each solution may have a second panel: if it does not end the run, at least one report differs from the first panel.
    reports = judged * params.evaluators * (2 if params.stop_early else 1)
    lookups = (params.turns - 1) * (rounds * threads + reports) if params.assistants else 0
    likely_reports, likely_turns = judged * params.evaluators, min(2, params.turns)
    solved = {role: rounds * len(range(number, threads, len(SOLVERS))) for number, role in enumerate(SOLVERS)}
    likely_lookups = min(lookups, (rounds * threads + likely_reports) // 8)
    return estimated(
        fewest=_calls({role: int(bool(calls)) for role, calls in solved.items()}, 0, 0, 0, 0),
        likely=_calls(
            {role: calls * likely_turns for role, calls in solved.items()},
            judged,
            likely_reports * likely_turns,
            judged if params.evaluators > 1 else 0,
            likely_lookups if params.assistants else 0,
        ),
        most=_calls(
            {role: calls * params.turns for role, calls in solved.items()},
            judged,
            reports * params.turns,
            judged if params.evaluators > 1 or params.stop_early else 0,
            lookups,
        ),
        typical=_TYPICAL,
        limits=max_new_tokens,
        assumptions=(
            "Likely: all rounds, two turns per conversation, and one documentation lookup per eight conversations. "
            "Tool calls cost no tokens and are not counted."
        ),
    )


def _calls(solvers: dict[str, int], abstractor: int, evaluator: int, summarizer: int, lookups: int) -> dict[str, int]:
    others = {"abstractor": abstractor, "evaluator": evaluator, "summarizer": summarizer}
    return solvers | others | {"rewriter": lookups, "librarian": lookups}


_TYPICAL = {
    **dict.fromkeys(SOLVERS, (6_000, 6_000)),
    "abstractor": (10_000, 1_500),
    "evaluator": (6_000, 4_000),
    "summarizer": (6_000, 1_500),
    "rewriter": (1_000, 100),
    "librarian": (2_000, 400),
}


SCOPES = {
    "none": "None",
    "topic": "Of other problems of the same topic",
    "problem": "Also of this problem",
}

SCAFFOLD = Scaffold(
    name="alpha_apollo",
    title="AlphaApollo",
    description=(
        "The model acts in turns: it thinks, runs Python or searches documentation, reads the result, and answers. "
        "In evolution mode, solvers and evaluators alternate over rounds, and a memory carries judged solutions forward."
    ),
    source="AlphaApollo §2.1, §2.3, App. B, D",
    params=Params,
    presets=PRESETS,
    roles=(
        Role("solver", "Solver", "Works on the problem in turns, with tools.", 8_192, 0.7),
        Role(
            "solver_2",
            "Second solver",
            "Works in parallel with the first, with another model or temperature.",
            8_192,
            0.9,
        ),
        Role("solver_3", "Third solver", "Works in parallel with the others.", 8_192, 0.5),
        Role("abstractor", "Abstractor", "Condenses a solver's conversation into checkpoints.", 8_192, 0.3),
        Role("evaluator", "Evaluator", "Checks a solution in turns, with tools.", 8_192, 0.4),
        Role("summarizer", "Summarizer", "Merges the reports of the majority into one.", 8_192, 0.3),
        Role("rewriter", "Rewriter", "Rewrites a question as a documentation query.", 1_024, 0.2),
        Role("librarian", "Librarian", "Summarises the passages found: what to call, and how.", 2_048, 0.2),
    ),
    solve=solve,
    estimate=estimate,
    hands_in=hands_in,
    cost_hint=(
        "With Qwen2.5-14B-Instruct over seven contests, one answer with tools scores 16.5 %, "
        "ten rounds of evolution 21.1 % (AlphaApollo, Table 3)."
    ),
    page=Page(score_words=lambda index, score: f"Evaluator {index}: {'correct' if score else 'incorrect'}"),
    uses_tools=True,
    choices={"earlier_lemmas": lambda _: dict(SCOPES)},
    measured_with={"threads": 2},
)
