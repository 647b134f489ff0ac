"""What the workspace's templates need beside their context."""

from decimal import Decimal
from typing import Any

from django import template

from apps.accounts.models import User
from apps.marks.keymaps import keys_of
from apps.marks.selectors import FALLACY_WORDS
from apps.marks.verbs import verb_words as words_of_verb
from apps.reasoning.marking.scheme import points_text
from apps.reasoning.marking.sheet import Fallacy

register = template.Library()
BUTTONS_AT_MOST = 10


@register.simple_tag
def marking_keys(user: User) -> dict[str, Any]:
    """The person's keys, for the browser."""
    return keys_of(user).as_json()


@register.filter
def point_buttons(scale: str) -> list[str]:
    """The whole numbers from 0 to a scale, one button each; none where they would be too many."""
    most = Decimal(scale)
    return [points_text(Decimal(one)) for one in range(int(most) + 1)] if most <= BUTTONS_AT_MOST else []


@register.filter
def fallacy_words(fallacy: str) -> str:
    """A kind of error as people call it; nothing where there is none."""
    return FALLACY_WORDS[Fallacy(fallacy)] if fallacy else ""


@register.filter
def verb_words(verb: str) -> str:
    """What an event of the record is called."""
    return words_of_verb(verb)
