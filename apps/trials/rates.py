"""Results of a trial by role: share of readable answers, and agreement of judges with authored solutions."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from apps.reasoning.domain.trial_events import RoleTried
from apps.reasoning.domain.verdicts import wilson_interval

READ = ("at once", "again", "declined")
#: A run warns about roles with a smaller share of readable answers.
ENOUGH = 0.9
#: A role with this share of answers readable at once, of at least this many, needs no grammar for its closings.
AT_ONCE, OF_AT_LEAST = 0.98, 30


@dataclass(frozen=True)
class Share:
    """A share with Wilson's 95 % interval; value and interval are None if `of` is 0."""

    count: int
    of: int

    @property
    def value(self) -> float | None:
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return wilson_interval(self.count, self.of) if self.of else None


@dataclass
class RoleRates:
    """Rates of one role of one program. Failed answers, which have no text, are counted separately."""

    method: str
    role: str
    answers: list[RoleTried] = field(default_factory=list)

    def count(self, *readings: str) -> int:
        """Number of answers with one of these readings."""
        return sum(one.reading in readings for one in self.answers)

    @property
    def given(self) -> int:
        """Number of answers without failures."""
        return len(self.answers) - self.failed

    @property
    def at_once(self) -> int:
        return self.count("at once", "declined")

    @property
    def needs_no_grammar(self) -> bool:
        return self.given >= OF_AT_LEAST and self.at_once >= AT_ONCE * self.given

    @property
    def again(self) -> int:
        return self.count("again")

    @property
    def unread(self) -> int:
        return self.count("unread")

    @property
    def failed(self) -> int:
        return self.count("failed")

    @property
    def cut(self) -> int:
        return sum(one.is_cut for one in self.answers)

    @property
    def tokens(self) -> float:
        """Mean completion tokens per answer."""
        return sum(one.tokens for one in self.answers) / len(self.answers) if self.answers else 0.0

    @property
    def seconds(self) -> float:
        """Mean seconds per answer."""
        return sum(one.seconds for one in self.answers) / len(self.answers) if self.answers else 0.0

    @property
    def read(self) -> Share:
        return Share(self.count(*READ), self.given)

    @property
    def reasons(self) -> list[str]:
        """Distinct reasons for unread and failed answers."""
        return list(dict.fromkeys(one.reason for one in self.answers if one.reading in ("unread", "failed")))

    @property
    def specificity(self) -> Share:
        """Share of judged right attempts that the judge accepts."""
        judged = [one for one in self.answers if one.accepts is not None and one.attempt == "right"]
        return Share(sum(bool(one.accepts) for one in judged), len(judged))

    @property
    def sensitivity(self) -> Share:
        """Share of judged wrong and incomplete attempts that the judge rejects."""
        judged = [one for one in self.answers if one.accepts is not None and one.attempt != "right"]
        return Share(sum(not one.accepts for one in judged), len(judged))


def by_role(answers: Iterable[RoleTried]) -> list[RoleRates]:
    """Rates of every role, in order of first appearance."""
    found: dict[tuple[str, str], RoleRates] = {}
    for one in answers:
        found.setdefault((one.method, one.role), RoleRates(one.method, one.role)).answers.append(one)
    return list(found.values())
