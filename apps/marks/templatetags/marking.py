"""Template tags and filters of the workspace."""

from decimal import Decimal
from typing import Any

from django import template

from apps.accounts.models import User
from apps.marks.selectors import FALLACY_WORDS
from apps.marks.verbs import verb_words as words_of_verb
from apps.marks.workspace.keymaps import keys_of
from apps.reasoning.marking.schemes.scheme import points_text
from apps.reasoning.marking.sheets.sheet import Fallacy

register = template.Library()
BUTTONS_AT_MOST = 10


@register.simple_tag
def marking_keys(user: User) -> dict[str, Any]:
    """The user's keys, for the browser."""
    return keys_of(user).as_json()


@register.filter
def point_buttons(scale: str) -> list[str]:
    """The whole numbers from 0 to the scale, one per button; empty for a large scale."""
    most = Decimal(scale)
    return [points_text(Decimal(one)) for one in range(int(most) + 1)] if most <= BUTTONS_AT_MOST else []


@register.filter
def fallacy_words(fallacy: str) -> str:
    """Display name of a kind of error; empty without one."""
    return FALLACY_WORDS[Fallacy(fallacy)] if fallacy else ""


@register.filter
def verb_words(verb: str) -> str:
    """Display name of an event of the record."""
    return words_of_verb(verb)
