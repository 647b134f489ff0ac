"""What a contest keeps once something rests on it. The apps above register what does when they start (`AppConfig.ready`)."""

from collections.abc import Callable

from apps.contests.models import Contest

#: Whether points were given that rest on the contest's step.
Rule = Callable[[Contest], bool]
_RULES: list[Rule] = []


def step_register(rule: Rule) -> None:
    """Let `rule` keep the step of the points. The same rule twice counts once."""
    if rule not in _RULES:
        _RULES.append(rule)


def step_is_kept(contest: Contest) -> bool:
    """Whether the step of the points can no longer be changed."""
    return any(rule(contest) for rule in _RULES)
