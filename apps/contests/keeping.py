"""What a contest keeps once something rests on it: its step of points, and itself.

The apps above register what rests on it when they start (`AppConfig.ready`).
"""

from collections.abc import Callable

from apps.contests.models import Contest

#: Whether something rests on a contest.
Rule = Callable[[Contest], bool]
_RULES: list[Rule] = []
_CONTENT_RULES: list[Rule] = []


def step_register(rule: Rule) -> None:
    """Let `rule` keep the step of the points. The same rule twice counts once."""
    if rule not in _RULES:
        _RULES.append(rule)


def step_is_kept(contest: Contest) -> bool:
    """Whether the step of the points can no longer be changed."""
    return any(rule(contest) for rule in _RULES)


def content_register(rule: Rule) -> None:
    """Let `rule` keep contests from being deleted. The same rule twice counts once."""
    if rule not in _CONTENT_RULES:
        _CONTENT_RULES.append(rule)


def has_content(contest: Contest) -> bool:
    """Whether this contest holds any text."""
    return any(rule(contest) for rule in _CONTENT_RULES)
