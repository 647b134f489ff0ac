"""Whether a grader sees the errors that a person sees, step by step: first error, root errors, their types.

Errors are matched by step, never by overlap of characters. Harmless errors and notes are left out by who makes `Places`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from apps.reasoning.domain.values import Unscored, Value


class Places(Value):
    """The errors that one rater sees in a script: steps of root errors (with or without consequences), and their types.

    `first` is the first step with a relevant error, or None.
    """

    first: int | None = None
    roots: tuple[tuple[int, str], ...] = ()


class PlacedPair(Value):
    """A script with what a person and a grader see in it. The person's mark is independent; others are not here."""

    paper: str
    human: Places
    grader: Places


class Rate(Value):
    """`count` of `of`, with the papers counted. `share` is `Unscored` where there is nothing to count."""

    count: int
    of: int
    papers: tuple[str, ...] = ()

    @property
    def share(self) -> float | Unscored:
        return self.count / self.of if self.of else Unscored(reason="there is none to count")


class TypePair(Value):
    """In `count` matched steps the person says `human` and the grader `grader`."""

    human: str
    grader: str
    count: int
    papers: tuple[str, ...]


class PlacesFound(Value):
    """Over `papers` scripts.

    `first_exact`, `first_within_one`: of the scripts in which both see an error; the next three: of all scripts.
    `precision`: of the steps with a root error of the grader, those where the person has one; `recall` the other way.
    `types`: over the steps that both name; a step with several types on a side counts once for each pair of them.
    """

    papers: int
    first_exact: Rate
    first_within_one: Rate
    only_human: Rate
    only_grader: Rate
    neither: Rate
    precision: Rate
    recall: Rate
    types: tuple[TypePair, ...]

    @property
    def f1(self) -> float | Unscored:
        """The harmonic mean of precision and recall of root errors (van Rijsbergen 1979)."""
        total = self.precision.of + self.recall.of
        return (self.precision.count + self.recall.count) / total if total else Unscored(reason="neither rater sees an error")


def places_found(pairs: Sequence[PlacedPair]) -> PlacesFound:
    """The statistics of steps; each figure with the papers behind it."""
    both = [one for one in pairs if one.human.first is not None and one.grader.first is not None]
    apart = [(one, abs((one.human.first or 0) - (one.grader.first or 0))) for one in both]
    return PlacesFound(
        papers=len(pairs),
        first_exact=_rate([one for one, steps in apart if steps == 0], len(both)),
        first_within_one=_rate([one for one, steps in apart if steps <= 1], len(both)),
        only_human=_rate([one for one in pairs if one.human.first is not None and one.grader.first is None], len(pairs)),
        only_grader=_rate([one for one in pairs if one.human.first is None and one.grader.first is not None], len(pairs)),
        neither=_rate([one for one in pairs if one.human.first is None and one.grader.first is None], len(pairs)),
        precision=_matched([(one, _steps(one.grader), _steps(one.human)) for one in pairs]),
        recall=_matched([(one, _steps(one.human), _steps(one.grader)) for one in pairs]),
        types=_types(pairs),
    )


def _steps(places: Places) -> set[int]:
    return {step for step, _ in places.roots}


def _rate(pairs: Sequence[PlacedPair], of: int) -> Rate:
    return Rate(count=len(pairs), of=of, papers=tuple(one.paper for one in pairs))


def _matched(sides: Iterable[tuple[PlacedPair, set[int], set[int]]]) -> Rate:
    """The steps of the one side that the other has as well; the papers are those with a step that it has not."""
    count = of = 0
    missing = []
    for pair, own, other in sides:
        count, of = count + len(own & other), of + len(own)
        if own - other:
            missing.append(pair.paper)
    return Rate(count=count, of=of, papers=tuple(missing))


def _types(pairs: Sequence[PlacedPair]) -> tuple[TypePair, ...]:
    counts: Counter[tuple[str, str]] = Counter()
    papers: dict[tuple[str, str], dict[str, None]] = {}
    for pair in pairs:
        for step in sorted(_steps(pair.human) & _steps(pair.grader)):
            for human in sorted({kind for place, kind in pair.human.roots if place == step}):
                for grader in sorted({kind for place, kind in pair.grader.roots if place == step}):
                    counts[human, grader] += 1
                    papers.setdefault((human, grader), {})[pair.paper] = None
    return tuple(
        TypePair(human=human, grader=grader, count=count, papers=tuple(papers[human, grader]))
        for (human, grader), count in sorted(counts.items())
    )
