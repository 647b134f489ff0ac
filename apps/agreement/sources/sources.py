"""Sources of pairs of points: marks of a contest, an uploaded file, a set imported with its points.

| kind | the person's points | the graders | visible to |
|---|---|---|---|
| `contest` | sealed marks of settled scripts | suggestions on the same text and meaning of the scheme | its organisers |
| `file` | a column | columns or lists of the file | its owner |
| `set` | points imported with the texts | gradings of those texts | coaches and researchers |
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import ceil
from typing import Protocol

from apps.agreement.comparisons import Gathered
from apps.reasoning.agreement.scales import Scale

NO_SOURCE = "No such comparison."
OTHER_SCALE = "points on a different scale; scales are not pooled"
NO_POINTS = "no points given"


@dataclass(frozen=True)
class Named:
    """A choice: its name in query strings and its label."""

    name: str
    words: str


@dataclass(frozen=True)
class Choices:
    """The options of a source. The first of `humans` and of the schemes is the default.

    `schemes` are by problem; "" means all problems.
    """

    graders: Sequence[Named]
    humans: Sequence[Named] = ()
    problems: Sequence[Named] = ()
    schemes: Mapping[str, Sequence[Named]] = field(default_factory=dict)
    groups: Sequence[Named] = ()

    def schemes_on(self, problem: str) -> Sequence[Named]:
        """The scheme versions to choose from for a problem."""
        return self.schemes.get(problem, ())


@dataclass(frozen=True)
class Chosen:
    """A chosen comparison: graders by name (none means all), the person's marks, one problem or all, a scheme version.

    `each`: compare each grader on its own papers, not on the common ones. `baseline`: the grader to subtract from others.
    """

    graders: tuple[str, ...] = ()
    human: str = ""
    problem: str = ""
    scheme: str = ""
    groups: tuple[str, ...] = ()
    each: bool = False
    baseline: str = ""


@dataclass(frozen=True)
class Shown:
    """A paper as displayed: its label, and a link if it has a page."""

    words: str
    href: str = ""
    details: Sequence[tuple[str, str]] = field(default_factory=tuple)


class Source(Protocol):
    """A source of pairs. `key` names it in buckets; `about` describes which marks count."""

    @property
    def key(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def about(self) -> str: ...

    def choices(self) -> Choices:
        """The options of this source."""
        ...

    def gather(self, chosen: Chosen) -> Gathered:
        """The pairs of a chosen comparison. Raises `FileWrong` for an unreadable file."""
        ...

    def shown(self, papers: Sequence[str]) -> dict[str, Shown]:
        """Labels and links of papers, by paper name."""
        ...


def scale_to(highest: Decimal) -> Scale:
    """The scale from 0 to the highest points, in whole points, half points if it ends in .5, or else equal steps."""
    if highest % 1 == 0:
        return Scale(highest=float(highest))
    return Scale(highest=float(highest), step=0.5 if highest % 1 == Decimal("0.5") else float(highest) / ceil(highest))
