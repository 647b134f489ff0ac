"""The scaffolds that can be run: one literal table."""

from apps.reasoning.scaffolds import (
    deepseek_math,
    grouped_agents,
    nomos,
    reasoning_cache,
    rsa,
    self_check,
    solver_verifier_corrector,
)
from apps.reasoning.scaffolds.alpha_apollo import offer as alpha_apollo
from apps.reasoning.scaffolds.intern_s1_mo import offer as intern_s1_mo
from apps.reasoning.scaffolds.scaffold import Preset, Role, Scaffold

SCAFFOLDS: dict[str, Scaffold] = {
    scaffold.name: scaffold
    for scaffold in (
        intern_s1_mo.SCAFFOLD,
        reasoning_cache.SCAFFOLD,
        self_check.SCAFFOLD,
        nomos.SCAFFOLD,
        rsa.SCAFFOLD,
        deepseek_math.SCAFFOLD,
        solver_verifier_corrector.SCAFFOLD,
        grouped_agents.SCAFFOLD,
        alpha_apollo.SCAFFOLD,
    )
}


def scaffold_get(name: str) -> Scaffold:
    """Raises `KeyError` for a scaffold this code does not have."""
    return SCAFFOLDS[name]


__all__ = ["SCAFFOLDS", "Preset", "Role", "Scaffold", "scaffold_get"]
