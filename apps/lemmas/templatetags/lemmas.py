"""Template filters of the lemma pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe

from apps.accounts.models import User
from apps.geometry.showing import Shown, blocks, shown
from apps.lemmas.words import lemma_name
from apps.reasoning.domain.tools import LemmaOrigin
from apps.runs.access import run_visible_to
from apps.ui.markdown import render_inline
from apps.ui.words import ramp_step

register = template.Library()
register.filter("ramp_step", ramp_step)
register.simple_tag(lemma_name)
# A live outline renders the same statements repeatedly.
register.filter("statement_inline", lru_cache(maxsize=4096)(render_inline))


@register.inclusion_tag("lemmas/_found_lemmas.html", takes_context=True)
def found_lemmas(context: dict[str, Any], origins: Sequence[LemmaOrigin]) -> dict[str, object]:
    """Lemmas of earlier runs that a search found, with links for a reader who may see those runs."""
    user, runs = context.get("user"), {one.run for one in origins}
    visible = run_visible_to(user).filter(public_id__in=runs) if isinstance(user, User) else []
    seen = {str(run.public_id) for run in visible}
    return {"found": [(one, one.run in seen) for one in origins]}


@dataclass(frozen=True)
class Figure:
    """A geometry statement with its drawing. Without a drawing, `statement` has the error or the reason."""

    statement: Shown
    drawing: SafeString


@register.simple_tag
def figures(statement: str, steps: Sequence[str]) -> list[Figure]:
    """The figures of a lemma or proof: its fenced blocks `geometry`. A block may begin in one part and end in the next."""
    written = "\n".join([statement, *steps])
    found = [shown(text, None, f"figure-{number}") for number, text in enumerate(blocks(written), 1)]
    return [Figure(one, mark_safe(one.drawing)) for one in found]  # noqa: S308  Names in it are letters, digits, _ and '.
