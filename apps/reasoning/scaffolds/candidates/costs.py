"""From calls per role to an estimate with tokens."""

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
    """Calls and tokens per role and in all. `limits` by role bounds the completions; all mappings have the roles of `most`.

    Where roles stand in for each other, `most` is the dearest course and `most_of_one` what a role can come to in another
    one; `fewest_in_all` then is the shortest course, where that is more than the fewest of every role together.
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
