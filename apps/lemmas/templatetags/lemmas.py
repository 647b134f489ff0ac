"""Template filters of the lemma pages."""

from functools import lru_cache

from django import template

from apps.lemmas.models import Lemma
from apps.runs.models import Run
from apps.ui.markdown import render_inline
from apps.ui.words import ramp_step

register = template.Library()
register.filter("ramp_step", ramp_step)
# A live outline renders the same statements repeatedly.
register.filter("statement_inline", lru_cache(maxsize=4096)(render_inline))


@register.simple_tag
def lemma_name(run: Run, lemma: Lemma) -> str:
    """Name of a lemma on pages: its number, with its rollout in a run with several."""
    several = int(run.spec.get("params", {}).get("rollouts", 1)) > 1
    return f"s{lemma.rollout}.{lemma.label}" if several and lemma.origin == "model" else lemma.label
