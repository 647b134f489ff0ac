"""Template tags of the pages of runs."""

from django import template

from apps.explorations.take_away.written import has_written
from apps.lemmas.exports import svg_is_possible
from apps.runs.models import Run
from apps.ui.typeset.press import is_possible as pdf_is_possible

register = template.Library()


@register.simple_tag
def take_away_of(run: Run) -> dict[str, bool]:
    """Which files of a run can be made: `proof` (one is selected), `pdf`, `svg` (the server has the programs)."""
    return {"proof": has_written(run), "pdf": pdf_is_possible(), "svg": svg_is_possible()}
