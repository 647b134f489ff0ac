"""Problems held back: while a rule says so, only some people may read their texts.

The library knows nothing of contests and marks; the apps above it register what they hold back when they start
(`AppConfig.ready`). A rule is asked anew at each read, so nothing is copied that could grow old.
"""

from collections.abc import Callable
from enum import StrEnum

from django.db.models import Q, QuerySet

from apps.accounts.models import User
from apps.problems.models import Problem


class Text(StrEnum):
    """What is held back. Whoever may not read a statement reads no solution of it either."""

    STATEMENT = "statement"
    SOLUTIONS = "solutions"  # and answers and marking schemes


#: Gives the keys of the problems held back from a person; from everybody where None is asked.
Rule = Callable[[User | None], QuerySet[Problem]]
_RULES: dict[Text, list[Rule]] = {text: [] for text in Text}


def hold_register(text: Text, rule: Rule) -> None:
    """Let `rule` hold texts back. The same rule twice counts once."""
    if rule not in _RULES[text]:
        _RULES[text].append(rule)


def held_back(text: Text, user: User | None) -> Q:
    """The condition on problems whose `text` is held back from `user`, or from anybody at all where that is None."""
    texts = (Text.STATEMENT,) if text is Text.STATEMENT else tuple(Text)
    found = Q(pk__in=[])
    for one in texts:
        for rule in _RULES[one]:
            found |= Q(pk__in=rule(user).values("pk"))
    return found
