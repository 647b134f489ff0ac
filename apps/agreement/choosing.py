"""Parse the query of an agreement page: what is compared, and which of its pairs are listed."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict

from apps.agreement.buckets import OPEN, SEVERAL
from apps.agreement.comparisons import Gathered, scale_of_all
from apps.agreement.models import Bucket
from apps.agreement.sources.sources import Choices, Chosen, Named
from apps.reasoning.agreement.pairs import Pair
from apps.reasoning.agreement.scales import CLOSE, Scale
from apps.reasoning.domain.values import Unscored

#: Kinds of pairs, in the order in which `Sorted` tests them.
SCORED, UNSCORED, UNMARKED, CONTAMINATED = "scored", "unscored", "unmarked", "contaminated"
KINDS = {
    SCORED: "with points on both sides",
    UNSCORED: "unscored",
    UNMARKED: "without a mark",
    CONTAMINATED: "excluded, with the reason",
}
DIFFERENCES: Mapping[str, tuple[str, Callable[[float], bool]]] = {
    "same": ("the same points", lambda d: abs(d) < CLOSE),
    "one": ("within 1", lambda d: abs(d) <= 1 + CLOSE),
    "two": ("within 2", lambda d: abs(d) <= 2 + CLOSE),
    "over": ("more points than the person", lambda d: d >= CLOSE),
    "under": ("fewer points", lambda d: d <= -CLOSE),
    "differ": ("other points", lambda d: abs(d) >= CLOSE),
}
#: Grader name of the second person.
PEOPLE = "two-people"


def chosen_of(given: QueryDict, choices: Choices) -> Chosen:
    """The chosen comparison. Unknown values are ignored; no named grader means all graders."""
    problem = _one(given.get("problem", ""), choices.problems, "")
    return Chosen(
        graders=tuple(name for name in given.getlist("grader") if name in _names(choices.graders)),
        human=_one(given.get("human", ""), choices.humans, choices.humans[0].name if choices.humans else ""),
        problem=problem,
        scheme=_one(given.get("scheme", ""), choices.schemes_on(problem), ""),
        groups=tuple(name for name in given.getlist("split")[:1] if name in _names(choices.groups)),
        each=bool(given.get("each")),
        baseline=_one(given.get("baseline", ""), choices.graders, ""),
    )


def query_of(chosen: Chosen, **more: str) -> str:
    """The query string of a choice, with the non-empty values of `more` added."""
    pairs = [("grader", name) for name in chosen.graders]
    pairs += [(name, value) for name in ("human", "problem", "scheme", "baseline") if (value := getattr(chosen, name))]
    pairs += [("each", "1")] if chosen.each and "each" not in more else []
    if "split" not in more:
        pairs += [("split", name) for name in chosen.groups]
    return urlencode([*pairs, *((name, value) for name, value in more.items() if value)])


@dataclass(frozen=True, slots=True)
class Which:
    """A filter on the pairs of one grader: author source, kind, matrix cell, band, group value, difference, bucket."""

    of: str
    author: str = ""
    kind: str = SCORED
    row: str = ""
    column: str = ""
    low: str = ""
    high: str = ""
    group: str = ""
    value: str = ""
    difference: str = ""
    bucket: str = ""

    @classmethod
    def read(cls, given: QueryDict, gathered: Gathered) -> "Which":
        """Parse a query; unknown values are ignored."""
        names = [*gathered.graders, *([PEOPLE] if gathered.people else [])]
        first = names[0] if names else ""
        kind, difference, group, bucket = (given.get(name, "") for name in ("kind", "difference", "group", "bucket"))
        return cls(
            of=given.get("of", first) if given.get("of", first) in names else first,
            author=given.get("author", ""),
            kind=kind if kind in KINDS else SCORED,
            **{name: _number(given.get(name, "")) for name in ("row", "column", "low", "high")},
            group=group if any(group in pair.groups for pairs in gathered.graders.values() for pair in pairs[:1]) else "",
            value=given.get("value", ""),
            difference=difference if difference in DIFFERENCES else "",
            bucket=bucket if bucket in (*Bucket.values, SEVERAL, OPEN) else "",
        )

    @property
    def words(self) -> list[str]:
        """The conditions, for a heading."""
        conditions = [f"papers by {self.author}s" if self.author else "", KINDS[self.kind]]
        conditions += [f"person {self.row}" if self.row else "", f"grader {self.column}" if self.column else ""]
        conditions.append(f"person {self.low} to {self.high}" if self.low and self.high else "")
        conditions.append(f"{self.group} {self.value or 'not given'}" if self.group else "")
        conditions.append(DIFFERENCES[self.difference][0] if self.difference else "")
        own = {SEVERAL: "with different reasons", OPEN: "without a reason"}
        conditions.append(own.get(self.bucket) or (Bucket(self.bucket).label if self.bucket else ""))
        return [one for one in conditions if one]

    @property
    def query(self) -> dict[str, str]:
        """The filter as query parameters."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name))}


def pairs_listed(gathered: Gathered, which: Which) -> list[Pair]:
    """The pairs that pass a filter, in the order of the source."""
    pairs = gathered.people if which.of == PEOPLE else gathered.graders.get(which.of, ())
    scale = scale_of_all(gathered)
    of_author = [pair for pair in pairs if pair.author == which.author and kind_of(pair) == which.kind]
    return [pair for pair in of_author if all(_tests(pair, which, scale))]


def kind_of(pair: Pair) -> str:
    """Whether a pair counts and, if not, why; same rule as `Sorted`."""
    if pair.contaminated:
        return CONTAMINATED
    if isinstance(pair.human, Unscored):
        return UNMARKED
    return UNSCORED if isinstance(pair.predicted, Unscored) else SCORED


def _tests(pair: Pair, which: Which, scale: Scale) -> Iterator[bool]:
    if which.group:
        yield pair.groups.get(which.group, "") == which.value
    if isinstance(pair.human, Unscored):
        return
    mark = scale.nearest(pair.human)
    if which.row:
        yield abs(mark - float(which.row)) < CLOSE
    if which.low and which.high:
        yield float(which.low) - CLOSE <= mark <= float(which.high) + CLOSE
    if isinstance(pair.predicted, Unscored):
        return
    if which.column:
        yield abs(scale.nearest(pair.predicted) - float(which.column)) < CLOSE
    if which.difference:
        yield DIFFERENCES[which.difference][1](pair.predicted - pair.human)


def _names(choices: Sequence[Named]) -> set[str]:
    return {one.name for one in choices}


def _one(name: str, choices: Sequence[Named], otherwise: str) -> str:
    return name if name in _names(choices) else otherwise


def _number(text: str) -> str:
    """Points as normalised text, or "" if they are no finite number."""
    try:
        points = float(text) if len(text) < 12 else math.nan
        return f"{points:g}" if math.isfinite(points) else ""
    except ValueError:
        return ""
