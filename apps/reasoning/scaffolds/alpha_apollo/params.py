"""The parameters of AlphaApollo, with the paper's values as defaults, and its presets."""

from typing import Literal

from pydantic import Field

from apps.reasoning.domain.tools import LemmaScope
from apps.reasoning.domain.values import Value
from apps.reasoning.scaffolds.running.check_tool import tool_option
from apps.reasoning.scaffolds.running.checking_first import marks_option
from apps.reasoning.scaffolds.scaffold import Preset

#: Roles of concurrent solvers, with different models or temperatures. Further solvers reuse them in turn.
SOLVERS = ("solver", "solver_2", "solver_3")


class Params(Value):
    """Four turns, a history of eight, ten rounds, five evaluators, three memories (App. B.3, D.1).

    The paper names no largest number of solvers (§2.3, "multiple worker threads").
    """

    mode: Literal["reasoning", "evolution"] = Field(
        default="evolution",
        title="Mode",
        description="Reasoning: one conversation with the tools. Evolution: rounds of solving and judging with a memory.",
    )
    turns: int = Field(
        default=4, ge=1, le=16, title="Turns", description="Most turns of a conversation; the last one must answer."
    )
    history: int = Field(default=8, ge=1, le=16, title="History", description="Number of newest turns that a prompt repeats.")
    rounds: int = Field(default=10, ge=1, le=50, title="Rounds", description="Rounds of evolution.")
    threads: int = Field(
        default=1,
        ge=1,
        le=16,
        title="Parallel solvers",
        description="Solvers that share the memory. Three solver roles, each with its own model, are assigned in turn.",
    )
    evaluators: int = Field(
        default=5, ge=1, le=9, title="Evaluators", description="Reports on each solution; the majority decides."
    )
    evaluated: Literal["condensed", "full"] = Field(
        default="condensed",
        title="Evaluators read",
        description=(
            "Condensed: the abstractor's checkpoints, as in the paper (§2.3). Full: the solution as written; needed to judge "
            "its rigour."
        ),
    )
    stop_at_tools: bool = Field(
        default=True,
        title="Stop at tools",
        description="End a turn after its code or query, so that the model cannot invent the response.",
    )
    memories: int = Field(
        default=3,
        ge=1,
        le=10,
        title="Memories shown",
        description="Number of earlier solutions shown; those judged correct first, then shorter ones.",
    )
    assistants: bool = Field(
        default=True,
        title="Model-made searches",
        description="A rewriter prepares each query and a librarian summarises the hits. If off, fixed rules do both.",
    )
    earlier_lemmas: LemmaScope = Field(
        default="none",
        title="Lemmas of earlier runs",
        description=(
            "Lemmas accepted in earlier runs that the models may search. They change what a run measures. "
            "Only runs that the owner may see are searched."
        ),
    )
    check_tool: int = tool_option()
    verifier_marks: bool = marks_option()
    stop_early: bool = Field(
        default=True,
        title="Stop early",
        description="Judge a solution that all evaluators pass a second time; end the run if all pass it again.",
    )


PRESETS = {
    "quick": Preset(
        "Quick",
        "Two rounds, two evaluators, three turns; searches without models.",
        Params(rounds=2, evaluators=2, turns=3, assistants=False),
    ),
    # App. B.3 samples at 0.6 where the model is alone, App. D.1 at 0.7 where it evolves.
    "reasoning": Preset(
        "Reasoning only",
        "One conversation of four turns with the tools.",
        Params(mode="reasoning"),
        temperatures={"solver": 0.6},
    ),
    "paper": Preset("Paper", "Ten rounds, five evaluators; never stops early.", Params(stop_early=False)),
    "parallel": Preset("Three solvers", "Three solvers share the memory; stops early.", Params(threads=3)),
}
