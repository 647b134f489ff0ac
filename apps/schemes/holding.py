"""Rules that limit who may change the active version of a scheme in use.

This app does not know contests and marks. Higher apps register their rules at startup (`AppConfig.ready`). Rules are
evaluated on each call, so that no result becomes outdated.
"""

from collections.abc import Callable

from apps.accounts.models import User
from apps.schemes.models import MarkingScheme

#: Returns why the user may not change the active version, or an empty text.
Rule = Callable[[MarkingScheme, User], str]
_RULES: list[Rule] = []


def use_register(rule: Rule) -> None:
    """Register a rule. Duplicates are ignored."""
    if rule not in _RULES:
        _RULES.append(rule)


def use_refusal(scheme: MarkingScheme, user: User) -> str:
    """Why the user may not activate or retire a version of the scheme; empty if they may."""
    return next((refusal for rule in _RULES if (refusal := rule(scheme, user))), "")
