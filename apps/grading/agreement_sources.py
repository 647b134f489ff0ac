"""Where pairs of points come from: marks of a contest, a file that somebody put up, a set imported with its points.

| kind | the person's points | the graders | for whom |
|---|---|---|---|
| `contest` | sealed marks of settled scripts | suggestions on the same text and meaning of the scheme | who organises it |
| `file` | a column | columns, or lists of the file | who put it up |
| `set` | points that came with imported texts | gradings of those texts | coaches and researchers |
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import ceil
from typing import Protocol

from django.http import Http404

from apps.accounts.models import User
from apps.grading.comparisons import Gathered
from apps.reasoning.agreement.scales import Scale

NO_SOURCE = "There is nothing of this name to compare."


@dataclass(frozen=True)
class Named:
    """A choice: its name in an address and its words."""

    name: str
    words: str


@dataclass(frozen=True)
class Choices:
    """What can be chosen of a source; the first of `humans` and of the schemes is taken where nothing is said.

    `schemes` are by problem, "" being all of them.
    """

    graders: Sequence[Named]
    humans: Sequence[Named] = ()
    problems: Sequence[Named] = ()
    schemes: Mapping[str, Sequence[Named]] = field(default_factory=dict)
    groups: Sequence[Named] = ()

    def schemes_on(self, problem: str) -> Sequence[Named]:
        """The versions among which one is chosen once this problem is."""
        return self.schemes.get(problem, ())


@dataclass(frozen=True)
class Chosen:
    """What was chosen: graders by name (none: all), whose marks, one problem or all, a version of its scheme.

    `each`: every grader on its own papers, not on those that all scored. `baseline`: whom the others are held against.
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
    """A paper on a page: its words and, where there is a page of it, the address."""

    words: str
    href: str = ""
    details: Sequence[tuple[str, str]] = field(default_factory=tuple)


class Source(Protocol):
    """One thing that can be compared. `key` is its name in buckets; `notes` say on what grounds pairs were let in."""

    @property
    def key(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def about(self) -> str: ...

    def choices(self) -> Choices:
        """What can be chosen."""
        ...

    def gather(self, chosen: Chosen) -> Gathered:
        """The pairs of what was chosen. Raises `FileWrong` with what is wrong with a file."""
        ...

    def shown(self, papers: Sequence[str]) -> dict[str, Shown]:
        """The words and addresses of papers by the names that pairs have."""
        ...


def scale_to(highest: Decimal) -> Scale:
    """The scale from 0 to the highest points: whole points, half points for a half, equal steps for any other."""
    if highest % 1 == 0:
        return Scale(highest=float(highest))
    return Scale(highest=float(highest), step=0.5 if highest % 1 == Decimal("0.5") else float(highest) / ceil(highest))


def source_get_for(user: User, kind: str, public_id: uuid.UUID) -> Source:
    """The source for somebody who may see it, or `Http404`."""
    from apps.grading.agreement_contests import contest_source_for
    from apps.grading.agreement_files import file_source_for
    from apps.grading.agreement_sets import set_source_for

    makers: dict[str, Callable[[User, uuid.UUID], Source]] = {
        "contest": contest_source_for,
        "file": file_source_for,
        "set": set_source_for,
    }
    if kind not in makers or not user.may_see_runs:
        raise Http404(NO_SOURCE)
    return makers[kind](user, public_id)
