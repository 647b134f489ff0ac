"""Rules that hold back texts of problems from some users.

This app does not know contests and marks. Higher apps register their rules at startup (`AppConfig.ready`). Rules are evaluated
on each read, so that no result becomes outdated.
"""

from collections.abc import Callable
from enum import StrEnum

from django.db.models import Q, QuerySet

from apps.accounts.models import User
from apps.problems.models import Problem


class Text(StrEnum):
    """Texts to hold back. Holding back a statement also holds back its solutions."""

    STATEMENT = "statement"
    SOLUTIONS = "solutions"  # also answers and marking schemes


#: Returns the problems held back from a user; with None, those held back from any user.
Rule = Callable[[User | None], QuerySet[Problem]]
_RULES: dict[Text, list[Rule]] = {text: [] for text in Text}


def hold_register(text: Text, rule: Rule) -> None:
    """Register a rule. Duplicates are ignored."""
    if rule not in _RULES[text]:
        _RULES[text].append(rule)


def held_back(text: Text, user: User | None) -> Q:
    """Condition for problems with `text` held back from `user`, or from any user if None."""
    texts = (Text.STATEMENT,) if text is Text.STATEMENT else tuple(Text)
    found = Q(pk__in=[])
    for one in texts:
        for rule in _RULES[one]:
            found |= Q(pk__in=rule(user).values("pk"))
    return found
