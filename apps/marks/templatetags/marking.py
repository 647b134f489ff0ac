"""Template tags and filters of the workspace."""

from decimal import Decimal
from typing import Any

from django import template
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.access import READABLE, coach_of
from apps.contests.models import Contest
from apps.marks.selectors import FALLACY_WORDS
from apps.marks.verbs import verb_words as words_of_verb
from apps.marks.workspace.keymaps import keys_of
from apps.reasoning.marking.schemes.scheme import points_text
from apps.reasoning.marking.sheets.sheet import Fallacy

register = template.Library()
BUTTONS_AT_MOST = 10
#: Pages of the contest office that captains open too, and those of organisers: key, label, view, further arguments.
_OF_CAPTAINS = (
    ("team", "Team", "office:team"),
    ("matrix", "Scripts", "office:matrix"),
    ("blanks", "Blank", "office:blanks"),
    ("statistics", "Statistics", "office:statistics"),
)
_OF_ORGANISERS = (
    ("results", "Results", "office:results"),
    ("awards", "Awards", "office:awards"),
    ("letters", "Certificates", "office:letters", "certificate"),
)
_RECORD = ("record", "Record", "office:record")
_RANKING = ("ranking", "Ranking", "results:ranking")


@register.simple_tag
def marking_keys(user: User) -> dict[str, Any]:
    """The user's keys, for the browser."""
    return keys_of(user).as_json()


@register.simple_tag
def office_links(user: User, contest: Contest) -> list[tuple[str, str, str]]:
    """Key, label and URL of the pages of the contest office that this captain or organiser may open."""
    coach = coach_of(user, contest)
    is_organiser = coach is not None and coach.is_organiser
    begun = contest.state in READABLE
    found = [*_OF_CAPTAINS, *(_OF_ORGANISERS if is_organiser else ())] if begun else []
    found += [_RANKING, *([_RECORD] if begun and is_organiser else [])]
    links = [(key, label, reverse(view, args=[contest.public_id, *more])) for key, label, view, *more in found]
    if begun and is_organiser:
        links.append(("agreement", "Agreement", reverse("agreement:detail", args=["contest", contest.public_id])))
    return links


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
