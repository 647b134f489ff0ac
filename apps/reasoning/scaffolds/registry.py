"""The scaffolds that can be run: one literal table."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Value
from apps.reasoning.ports import Context
from apps.reasoning.prompts import loader
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.intern_s1_mo import estimate as intern_estimate
from apps.reasoning.scaffolds.intern_s1_mo import params as intern_params
from apps.reasoning.scaffolds.intern_s1_mo import program as intern_program


@dataclass(frozen=True)
class Role:
    """A part in a scaffold. `max_new_tokens` is what the method's paper gives it; an alias may allow less."""

    name: str
    title: str
    description: str
    max_new_tokens: int
    temperature: float = 0.7


@dataclass(frozen=True)
class Preset:
    """A named choice of parameters. `priority` as in `RunSpec`."""

    title: str
    description: str
    params: Value
    priority: int = 6


@dataclass(frozen=True)
class Scaffold:
    """A method that organises calls. `read_params` validates a form's or an API's values and raises `ParamsError`."""

    name: str
    title: str
    description: str
    source: str
    params: type[Value]
    read_params: Callable[[Mapping[str, Any]], Value]
    presets: dict[str, Preset]
    roles: tuple[Role, ...]
    solve: Callable[[ProblemText, Context, Any], Awaitable[Outcome]]
    estimate: Callable[..., Estimate]

    @property
    def prompts(self) -> dict[str, str]:
        """Name to SHA-256 of every prompt file, frozen into a run's specification."""
        return loader.hashes(self.name)


SCAFFOLDS: dict[str, Scaffold] = {
    "intern_s1_mo": Scaffold(
        name="intern_s1_mo",
        title="Intern-S1-MO",
        description=(
            "Explores a problem in rounds. What a round proves is kept as lemmas, every lemma is checked by independent votes, "
            "and the final proof is marked step by step and revised until it passes."
        ),
        source="arXiv 2512.10739",
        params=intern_params.Params,
        read_params=intern_params.params_from,
        presets={
            "quick": Preset("Quick", "Two rounds, two votes, one revision: to try a problem or a model.", intern_params.QUICK),
            "paper": Preset("Paper", "Eight rounds, four votes, eight revisions: the paper's default.", intern_params.PAPER),
            "contest": Preset(
                "Contest",
                "256 rollouts of twelve rounds, eight votes, 24 revisions of eight candidates: up to 300,000 calls.",
                intern_params.CONTEST,
                priority=9,
            ),
        },
        roles=(
            Role("reasoner", "Reasoner", "Works on the problem with the lemma library, as far as rigour allows.", 65_536),
            Role("summarizer", "Summarizer", "Extracts the new lemmas of a round, each complete in itself.", 65_536),
            Role("theorem_verifier", "Theorem verifier", "Looks for the first wrong step of one lemma.", 32_768),
            Role("writer", "Writer", "Writes the full proof from the library.", 65_536),
            Role("process_verifier", "Process verifier", "Marks the proof step by step.", 32_768),
            Role("reviser", "Reviser", "Settles what the markers found and writes the proof anew.", 65_536),
        ),
        solve=intern_program.solve,
        estimate=intern_estimate.estimate,
    ),
}


def scaffold_get(name: str) -> Scaffold:
    """Raises `KeyError` for a scaffold this code does not have."""
    return SCAFFOLDS[name]
