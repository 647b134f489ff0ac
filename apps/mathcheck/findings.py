"""The verifier's findings: plain values that become JSON."""

from dataclasses import asdict, dataclass
from typing import Any

from apps.mathcheck.proving.certificate import Certificate

PROVED, REFUTED, SURVIVED, NOT_UNDERSTOOD = "proved", "refuted", "survived", "not_understood"
#: The last guard on time ended the test without a result; another check may have one.
STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Anchor:
    """`text[start:end] == quote`, in code points."""

    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A point (name → number as text) where the claim fails, with both sides there. `values` is empty without names."""

    values: dict[str, str]
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Finding:
    """The result for one claim.

    `kind` is arithmetic, identity, inequality, divisibility, congruence, counting, monotonicity, convexity or derivative.
    `outcome` is proved (with `certificate`), refuted (with `counterexample`), survived (all `tests` passed), not_understood
    (with `reason`) or stopped by the last guard on time (with `reason`). `tried` describes the tests: "n from 1 to 59".
    `partial`: another relation of its chain has no result.
    """

    text_id: str
    anchor: Anchor
    kind: str
    outcome: str
    reason: str = ""
    tests: int = 0
    tried: str = ""
    counterexample: Counterexample | None = None
    certificate: Certificate | None = None
    partial: bool = False

    def as_json(self) -> dict[str, Any]:
        """The value as JSON types."""
        return asdict(self)
