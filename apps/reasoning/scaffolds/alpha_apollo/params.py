"""The parameters of AlphaApollo, with the paper's values as defaults, and its presets."""

from typing import Literal

from pydantic import Field

from apps.reasoning.domain.values import Value
from apps.reasoning.scaffolds.scaffold import Preset

#: The roles of solvers that work at the same time: other models or other temperatures. More solvers share them in turn.
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
    turns: int = Field(default=4, ge=1, le=16, title="Turns", description="Most turns of a conversation; the last must answer.")
    history: int = Field(default=8, ge=1, le=16, title="History", description="So many turns are shown again, the newest.")
    rounds: int = Field(default=10, ge=1, le=50, title="Rounds", description="Rounds of evolution.")
    threads: int = Field(
        default=1,
        ge=1,
        le=16,
        title="Solvers at once",
        description="They share the memory. There are three solver roles, with models of their own, that take turns.",
    )
    evaluators: int = Field(
        default=5, ge=1, le=9, title="Evaluators", description="Reports on each solution; most of them decide."
    )
    evaluated: Literal["condensed", "full"] = Field(
        default="condensed",
        title="Evaluators read",
        description=(
            "Condensed: the abstractor's checkpoints, as in the paper (§2.3). Full: the solution as it was handed in, which a "
            "judgement on its rigour needs."
        ),
    )
    stop_at_tools: bool = Field(
        default=True,
        title="Stop at tools",
        description="A turn ends where its code or question ends, so that no model makes up the response itself.",
    )
    memories: int = Field(
        default=3, ge=1, le=10, title="Memories shown", description="Judged correct first, then the shorter ones."
    )
    assistants: bool = Field(
        default=True,
        title="Model-made searches",
        description="A rewriter and a librarian stand before and behind the documentation. Without them, rules do it.",
    )
    stop_early: bool = Field(
        default=True,
        title="Stop early",
        description="A solution that all evaluators pass is judged once more; where all pass it again, the run ends.",
    )


PRESETS = {
    "quick": Preset(
        "Quick",
        "Two rounds with two evaluators, three turns, searches without models.",
        Params(rounds=2, evaluators=2, turns=3, assistants=False),
    ),
    # App. B.3 samples at 0.6 where the model is alone, App. D.1 at 0.7 where it evolves.
    "reasoning": Preset(
        "Reasoning alone",
        "One conversation of four turns with the tools.",
        Params(mode="reasoning"),
        temperatures={"solver": 0.6},
    ),
    "paper": Preset("Paper", "Ten rounds, five evaluators, all rounds made.", Params(stop_early=False)),
    "parallel": Preset("Three solvers", "Three solvers share the memory; ends early.", Params(threads=3)),
}
