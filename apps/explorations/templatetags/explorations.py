"""Template tags of the pages of runs."""

from urllib.parse import urlencode

from django import template
from django.urls import reverse

from apps.accounts.access import user_of
from apps.explorations.take_away.written import has_written
from apps.lemmas.exports import svg_is_possible
from apps.runs.access import run_may_start
from apps.runs.models import Run
from apps.ui.typeset.press import is_possible as pdf_is_possible

register = template.Library()


@register.simple_tag
def take_away_of(run: Run) -> dict[str, bool]:
    """Which files of a run can be made: `proof` (one is selected), `pdf`, `svg` (the server has the programs)."""
    return {"proof": has_written(run), "pdf": pdf_is_possible(), "svg": svg_is_possible()}


@register.simple_tag(takes_context=True)
def fork_url(context: template.Context, run: Run, kind: str, name: object) -> str:
    """The address of the fork from an `event`, a `call` or a `lemma`; "" if the reader cannot fork the run."""
    request = context.get("request")
    if request is None or run.is_authored or not run.is_attempt or not run_may_start(user_of(request)):
        return ""
    return f"{reverse('explorations:fork_here', args=[run.public_id])}?{urlencode({kind: name})}"
