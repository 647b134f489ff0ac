"""Estimates with tokens, from calls per role."""

from collections.abc import Mapping

from apps.reasoning.scaffolds.estimates import Estimate, RoleEstimate

Calls = Mapping[str, int]
Typical = Mapping[str, tuple[int, int]]
"""Prompt and completion tokens of a typical call of an olympiad-level reasoning model, by role."""


def estimated(
    *,
    fewest: Calls,
    likely: Calls,
    most: Calls,
    typical: Typical,
    limits: Mapping[str, int] | None,
    assumptions: str,
    fewest_in_all: int | None = None,
    most_of_one: Calls | None = None,
) -> Estimate:
    """Estimate calls and tokens per role and in total. `limits` by role bounds the completions; all mappings have the roles of
    `most`. If roles replace each other, `most` is the most expensive course, `most_of_one` the maximum of a role in any
    course, and `fewest_in_all` the shortest course, if it needs more calls than the sum of `fewest`.
    """
    allowed, of_one = limits or {}, most_of_one or {}
    roles = tuple(
        _role(role, fewest[role], likely[role], max(most[role], of_one.get(role, 0)), typical[role], allowed.get(role))
        for role in most
    )
    return Estimate(
        roles=roles,
        calls_min=max(sum(fewest.values()), fewest_in_all or 0),
        calls_expected=sum(likely.values()),
        calls_max=sum(most.values()),
        tokens_expected=sum(role.tokens_expected for role in roles),
        tokens_max=sum(calls * (typical[role][0] + allowed.get(role, typical[role][1])) for role, calls in most.items()),
        assumptions=assumptions,
    )


def _role(role: str, fewest: int, likely: int, most: int, typical: tuple[int, int], limit: int | None) -> RoleEstimate:
    prompt, written = typical[0], min(typical[1], typical[1] if limit is None else limit)
    return RoleEstimate(
        role=role,
        calls_min=fewest,
        calls_expected=likely,
        calls_max=most,
        tokens_expected=likely * (prompt + written),
        written_expected=likely * written,
    )
