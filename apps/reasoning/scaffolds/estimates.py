"""What a run is likely to cost, shown before it starts."""

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
    """Calls and tokens of a run. The maximum is exact; the expected values rest on the assumptions the scaffold states."""

    roles: tuple[RoleEstimate, ...]
    calls_min: int
    calls_expected: int
    calls_max: int
    tokens_expected: int
    tokens_max: int
    assumptions: str
