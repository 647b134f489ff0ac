"""The table of scaffolds that need no grader. programs/registry.py lists all programs."""

from apps.reasoning.scaffolds import (
    deepseek_math,
    grouped_agents,
    majority_vote,
    nomos,
    reasoning_cache,
    rsa,
    self_check,
    single_call,
    solver_verifier_corrector,
)
from apps.reasoning.scaffolds.alpha_apollo import offer as alpha_apollo
from apps.reasoning.scaffolds.intern_s1_mo import offer as intern_s1_mo
from apps.reasoning.scaffolds.scaffold import Scaffold

UNGRADED: dict[str, Scaffold] = {
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
        single_call.SCAFFOLD,
        majority_vote.SCAFFOLD,
    )
}
