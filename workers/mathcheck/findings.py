"""What the verifier reports: plain values that become JSON. It has no word for "proved"."""

from dataclasses import asdict, dataclass
from typing import Any

REFUTED, SURVIVED, NOT_UNDERSTOOD = "refuted", "survived", "not_understood"
#: The last guard on time ended the test: nothing was found, and asking again may find something.
STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Anchor:
    """`text[start:end] == quote`, in code points."""

    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A point (name → number as text) where the claim fails, with both sides there. Empty where the claim has no names."""

    values: dict[str, str]
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Finding:
    """The result for one claim.

    `kind` is arithmetic, identity, inequality, divisibility, congruence, counting, monotonicity, convexity or derivative;
    `outcome` is refuted (with `counterexample`), survived (`tests` of them, each passed), not_understood (with `reason`) or
    stopped by the last guard on time (with `reason`). `tried` names the tests in words: "n from 1 to 59".
    """

    text_id: str
    anchor: Anchor
    kind: str
    outcome: str
    reason: str = ""
    tests: int = 0
    tried: str = ""
    counterexample: Counterexample | None = None

    def as_json(self) -> dict[str, Any]:
        """The value as JSON types."""
        return asdict(self)
