"""Template tags of experiments, also on pages of apps below this one."""

from typing import Any

from django import template

from apps.accounts.models import User
from apps.experiments.access import cells_shown
from apps.experiments.models import ExperimentCell
from apps.experiments.solving.kept import query_kept
from apps.graded_sets.models import GradedScript

register = template.Library()
MOST = 40


@register.simple_tag
def gradings_of(script: GradedScript, user: User) -> list[ExperimentCell]:
    """The gradings of a script in experiments whose results the user may see, newest experiment first, at most 40 read."""
    cells = script.cells.select_related("run", "experiment").order_by("-experiment__created_at", "position")[:MOST]
    return [cell for cell in cells if cells_shown(user, cell.experiment).filter(pk=cell.pk).exists()]


@register.simple_tag(takes_context=True)
def kept(context: dict[str, Any]) -> str:
    """The reader's choice of scorer and of how cells without an answer count, as the query of a link."""
    return query_kept(context["request"])
