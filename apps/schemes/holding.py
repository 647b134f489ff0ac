"""Schemes in use: while a rule says so, only some people may change which version is marked with.

Schemes know nothing of contests and marks; the apps above register their rules when they start (`AppConfig.ready`). A rule is
asked anew each time, so nothing is copied that could grow old.
"""

from collections.abc import Callable

from apps.accounts.models import User
from apps.schemes.models import MarkingScheme

#: Gives the sentence that refuses a person; empty where the rule has nothing against it.
Rule = Callable[[MarkingScheme, User], str]
_RULES: list[Rule] = []


def use_register(rule: Rule) -> None:
    """Let `rule` refuse. The same rule twice counts once."""
    if rule not in _RULES:
        _RULES.append(rule)


def use_refusal(scheme: MarkingScheme, user: User) -> str:
    """Why this person may neither activate nor retire a version of the scheme; empty where they may."""
    return next((refusal for rule in _RULES if (refusal := rule(scheme, user))), "")
