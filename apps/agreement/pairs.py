"""Pairs as rows of a page: paper, points on both sides, and people's reasons for the difference."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.accounts.models import User
from apps.agreement.buckets import buckets_of, disagrees, name_key
from apps.agreement.models import DisagreementBucket
from apps.agreement.sources.sources import Shown, Source
from apps.agreement.text import number_text
from apps.reasoning.agreement.pairs import Pair
from apps.reasoning.domain.values import Unscored


@dataclass(frozen=True)
class PairShown:
    """A row. `why`: why the pair does not count; `own`: the reader's bucket, `others`: those of other people."""

    name: str
    paper: Shown
    human: str
    predicted: str
    difference: str
    groups: Sequence[tuple[str, str]]
    why: str
    disagrees: bool
    own: DisagreementBucket | None
    others: Sequence[DisagreementBucket]


def pairs_shown(source: Source, grader: str, pairs: Sequence[Pair], user: User) -> list[PairShown]:
    """The rows of a page of pairs."""
    papers = source.shown([pair.paper for pair in pairs])
    buckets = buckets_of(source.key, grader)
    return [_row(one, papers.get(one.paper, Shown(one.paper)), buckets.get(name_key(one.paper), []), user) for one in pairs]


def _row(pair: Pair, paper: Shown, buckets: Sequence[DisagreementBucket], user: User) -> PairShown:
    human, predicted = pair.human, pair.predicted
    whys = [pair.contaminated, *(one.reason for one in (human, predicted) if isinstance(one, Unscored))]
    return PairShown(
        name=pair.paper,
        paper=paper,
        human=_points(human),
        predicted=_points(predicted),
        difference="" if isinstance(human, Unscored) or isinstance(predicted, Unscored) else _difference(predicted - human),
        groups=[(name, value) for name, value in pair.groups.items() if value],
        why=next(filter(None, whys), ""),
        disagrees=disagrees(pair),
        own=next((one for one in buckets if one.by_id == user.pk), None),
        others=[one for one in buckets if one.by_id != user.pk],
    )


def _points(points: float | Unscored) -> str:
    return "–" if isinstance(points, Unscored) else f"{round(points, 3):g}"


def _difference(value: float) -> str:
    return number_text(value, signed=True) if round(value, 3) % 1 else f"{value:+.0f}".replace("-", "−").replace("+0", "0")
