"""Facts about results on pages of the apps below."""

from django import template

from apps.contests.models import Contest
from apps.results.ranking import ranking_of

register = template.Library()


@register.filter
def has_ranking(contest: Contest) -> bool:
    """Whether students of the contest can read a published ranking."""
    return ranking_of(contest) is not None
