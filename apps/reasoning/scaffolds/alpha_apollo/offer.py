"""What AlphaApollo says of itself: the program, its cost, its entry in the table of scaffolds."""

from collections.abc import Mapping

from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.ports import Context
from apps.reasoning.scaffolds.alpha_apollo.evolving import Evolution
from apps.reasoning.scaffolds.alpha_apollo.params import PRESETS, SOLVERS, Params
from apps.reasoning.scaffolds.candidates.concluding import concluded
from apps.reasoning.scaffolds.candidates.costs import estimated
from apps.reasoning.scaffolds.candidates.desk import Desk
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.page import Page
from apps.reasoning.scaffolds.scaffold import Role, Scaffold, reader


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """One conversation, or rounds of evolution; the best of what is remembered."""
    desk = Desk(problem, ctx)
    evolution = Evolution(desk, params)
    return await concluded(desk, evolution.run(), evolution.selection)


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """Fewest: one turn that fails, or solvers that come to nothing. Likely: two turns a conversation, no early end.

    Most: every turn of every conversation, each but the last with a look into the documentation, and second panels.
    """
    evolves = params.mode == "evolution"
    rounds, threads = (params.rounds, params.threads) if evolves else (1, 1)
    judged = rounds * threads if evolves else 0
    # A second panel that does not end the run differs from the first in one report at least; each solution may have one.
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
            "Likely: two turns in each conversation, one look into the documentation in eight conversations, all rounds made. "
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


SCAFFOLD = Scaffold(
    name="alpha_apollo",
    title="AlphaApollo",
    description=(
        "The model acts in turns: it thinks, runs Python or looks into documentation, reads what came back, and answers. "
        "In evolution, solvers and evaluators take turns over rounds, and judged solutions are remembered for the next."
    ),
    source="AlphaApollo §2.1, §2.3, App. B, D",
    params=Params,
    read_params=reader(Params),
    presets=PRESETS,
    roles=(
        Role("solver", "Solver", "Works on the problem in turns, with tools.", 8_192, 0.7),
        Role(
            "solver_2",
            "Second solver",
            "Works beside the first where there are several: another model or temperature.",
            8_192,
            0.9,
        ),
        Role("solver_3", "Third solver", "Works beside the others.", 8_192, 0.5),
        Role("abstractor", "Abstractor", "Condenses a solver's conversation into checkpoints.", 8_192, 0.3),
        Role("evaluator", "Evaluator", "Examines a solution in turns, with tools.", 8_192, 0.4),
        Role("summarizer", "Summarizer", "Makes one report of those of the majority.", 8_192, 0.3),
        Role("rewriter", "Rewriter", "Puts a question in the words of documentation.", 1_024, 0.2),
        Role("librarian", "Librarian", "Says what to call, from passages of documentation.", 2_048, 0.2),
    ),
    solve=solve,
    estimate=estimate,
    cost_hint=(
        "With Qwen2.5-14B-Instruct over seven contests, one answer with tools scores 16.5 %, "
        "ten rounds of evolution 21.1 % (AlphaApollo, Table 3)."
    ),
    page=Page(score_words=lambda index, score: f"Evaluator {index}: {'correct' if score else 'incorrect'}"),
    uses_tools=True,
    measured_with={"threads": 2},
)
