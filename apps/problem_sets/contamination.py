"""Signs that a model may know a problem: it was published before the model's texts end, or another set has it too."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.problem_sets.models import ProblemSetItem, ProblemSetVersion
from apps.reasoning.inference.aliases import Alias


@dataclass(frozen=True)
class Published:
    """Counts of the problems of a version by what a model may know.

    `may_know`: problems of a year up to the last one of its texts; `unknown`: problems without a year, or all problems if the
    model has no date.
    """

    model: str
    until: str
    may_know: int
    later: int
    unknown: int


def published(items: Sequence[ProblemSetItem], aliases: Mapping[str, Alias]) -> list[Published]:
    """One row for each model. Needs the problems of `items`."""
    years = Counter(item.problem.problem.year for item in items)
    found = []
    for alias in aliases.values():
        if not alias.knowledge_until:
            found.append(Published(alias.title, "", 0, 0, len(items)))
            continue
        last = int(alias.knowledge_until[:4])
        known = sum(count for year, count in years.items() if year is not None and year <= last)
        without = years[None]
        found.append(Published(alias.title, alias.knowledge_until, known, len(items) - known - without, without))
    return found


def shared_with(version: ProblemSetVersion) -> dict[str, list[str]]:
    """By name of a problem, the other sets whose newest version has the same problem, with its split there."""
    own = {problem: name for name, problem in version.items.values_list("name", "problem__problem")}
    others = ProblemSetVersion.objects.exclude(problem_set=version.problem_set)
    newest = dict(others.order_by("number").values_list("problem_set", "pk"))
    rows = ProblemSetItem.objects.filter(version__in=newest.values(), problem__problem__in=own)
    found: dict[str, list[str]] = defaultdict(list)
    for problem, title, split in rows.values_list("problem__problem", "version__problem_set__title", "split"):
        found[own[problem]].append(f"{title} ({split})" if split else title)
    return dict(found)


def flags_worded(version: ProblemSetVersion, items: Sequence[ProblemSetItem], aliases: Mapping[str, Alias]) -> str:
    """How many of the problems `items` of a version these models may know, and other sets have, in words; "" if none."""
    words = [
        f"{row.model} may know {row.may_know:,} of {len(items):,} problems by their year"
        for row in published(items, aliases)
        if row.may_know
    ]
    if count := len({item.name for item in items} & shared_with(version).keys()):
        words.append(f"{count:,} of {len(items):,} problems {'is' if count == 1 else 'are'} also in another set")
    return f"{'; '.join(words)}." if words else ""
