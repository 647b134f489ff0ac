"""The estimated cost of a run, shown before its start."""

from collections.abc import Mapping

from apps.reasoning.domain.values import Value


class RoleEstimate(Value):
    """Calls and tokens of one role. `tokens_expected` are prompt and completion tokens of the expected calls, of which
    `written_expected` are completion tokens."""

    role: str
    calls_min: int
    calls_expected: int
    calls_max: int
    tokens_expected: int
    written_expected: int


class Estimate(Value):
    """Calls and tokens of a run. The maximum is exact; expected values rest on the scaffold's `assumptions`.

    Second requests after unreadable answers (hearing.py) are extra: at most `calls_max` short calls, none expected.
    """

    roles: tuple[RoleEstimate, ...]
    calls_min: int
    calls_expected: int
    calls_max: int
    tokens_expected: int
    tokens_max: int
    assumptions: str

    def within(self, context: Mapping[str, int]) -> "Estimate":
        """Limit the tokens of each call, prompt and completion together, to the context of its role's model."""
        roles = tuple(
            role.model_copy(update={"tokens_expected": min(role.tokens_expected, role.calls_expected * context[role.role])})
            for role in self.roles
        )
        most = self.calls_max * max(context[role.role] for role in self.roles)
        return self.model_copy(
            update={
                "roles": roles,
                "tokens_expected": sum(role.tokens_expected for role in roles),
                "tokens_max": min(self.tokens_max, most),
            }
        )
