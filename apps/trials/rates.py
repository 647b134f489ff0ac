"""What a trial came to, by role: how many answers could be read, and how judges judge what people wrote."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from apps.reasoning.domain.trial_events import RoleTried
from apps.reasoning.domain.verdicts import wilson_interval

READ = ("at once", "again", "declined")
#: A role that is read less often than this is warned of before a run.
ENOUGH = 0.9
#: One whose first answers are read as often as this, of so many at least, needs no grammar for its closings.
AT_ONCE, OF_AT_LEAST = 0.98, 30


@dataclass(frozen=True)
class Share:
    """A share with Wilson's 95 % interval; None of nothing."""

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
    """One role of one program. Answers that failed, without a text, are counted apart."""

    method: str
    role: str
    answers: list[RoleTried] = field(default_factory=list)

    def count(self, *readings: str) -> int:
        """Answers that were read in one of these ways."""
        return sum(one.reading in readings for one in self.answers)

    @property
    def given(self) -> int:
        """Answers that there are."""
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
        """Mean completion tokens of an answer."""
        return sum(one.tokens for one in self.answers) / len(self.answers) if self.answers else 0.0

    @property
    def seconds(self) -> float:
        """Mean seconds of an answer."""
        return sum(one.seconds for one in self.answers) / len(self.answers) if self.answers else 0.0

    @property
    def read(self) -> Share:
        return Share(self.count(*READ), self.given)

    @property
    def reasons(self) -> list[str]:
        """Why answers stayed unread, each once."""
        return list(dict.fromkeys(one.reason for one in self.answers if one.reading in ("unread", "failed")))

    @property
    def specificity(self) -> Share:
        """Of the right attempts that were judged, those that the judge lets stand."""
        judged = [one for one in self.answers if one.accepts is not None and one.attempt == "right"]
        return Share(sum(bool(one.accepts) for one in judged), len(judged))

    @property
    def sensitivity(self) -> Share:
        """Of the wrong and incomplete attempts that were judged, those that the judge does not let stand."""
        judged = [one for one in self.answers if one.accepts is not None and one.attempt != "right"]
        return Share(sum(not one.accepts for one in judged), len(judged))


def by_role(answers: Iterable[RoleTried]) -> list[RoleRates]:
    """The rates of every role, in the order in which the roles come."""
    found: dict[tuple[str, str], RoleRates] = {}
    for one in answers:
        found.setdefault((one.method, one.role), RoleRates(one.method, one.role)).answers.append(one)
    return list(found.values())
