"""Rules that fix the point step of a contest and prevent its deletion.

Higher apps register their rules at startup (`AppConfig.ready`).
"""

from collections.abc import Callable

from apps.contests.models import Contest

#: Whether data of another app depends on a contest.
Rule = Callable[[Contest], bool]
_RULES: list[Rule] = []
_CONTENT_RULES: list[Rule] = []


def step_register(rule: Rule) -> None:
    """Register a rule that fixes the point step. Duplicates are ignored."""
    if rule not in _RULES:
        _RULES.append(rule)


def step_is_kept(contest: Contest) -> bool:
    """Whether the point step is fixed."""
    return any(rule(contest) for rule in _RULES)


def content_register(rule: Rule) -> None:
    """Register a rule that finds texts in a contest. Duplicates are ignored."""
    if rule not in _CONTENT_RULES:
        _CONTENT_RULES.append(rule)


def has_content(contest: Contest) -> bool:
    """Whether the contest contains any text, which prevents its deletion."""
    return any(rule(contest) for rule in _CONTENT_RULES)
