"""The notes of a place on any page that shows it."""

from typing import Any

from django import template

from apps.notes import selectors
from apps.notes.models import Note
from apps.notes.places import Place
from apps.runs.models import Run

register = template.Library()


@register.inclusion_tag("notes/_place.html", takes_context=True)
def notes_on(context: template.Context, run: Run, kind: str, target: str, number: int = 0) -> dict[str, Any]:
    """The notes on a part of a run that passed `apps.runs.access`; with `number`, on that step of the target."""
    place = Place(run, kind, f"{target}#{number}" if kind == Note.Kind.STEP else target)
    rows = selectors.notes_at(place, context["user"])
    token = context.get("csrf_token")
    return {"run": run, "place": place, "rows": rows, "tags": selectors.tags_at(place), "csrf_token": token}
