"""Awards by cut-offs on the totals: what a choice gives, and the usual choice as a suggestion. No database.

Medals go by total. The suggestion follows the rule of the IMO: at most half of the ranked papers get a medal, and gold,
silver and bronze are as near to 1 : 2 : 3 as equal totals permit. A paper without a medal gets an honourable mention for a
problem with full points. Papers by models and papers without a total get nothing and count for no share.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from apps.marks.office.office import ResultRow
from apps.reasoning.marking.schemes.scheme import points_text

MEDALS = ("gold", "silver", "bronze")
MENTION = "mention"
WORDS = {"gold": "Gold medal", "silver": "Silver medal", "bronze": "Bronze medal", MENTION: "Honourable mention"}
#: How near below a cut-off a total counts as a near miss, in points.
NEAR = Decimal(1)
_SHARES = {"gold": Decimal(1) / 6, "silver": Decimal(1) / 2}
#: Points as people type them: plain digits, and at most two places.
_TYPED = re.compile(r"[0-9]{1,4}(\.[0-9]{1,2})?")


class CutOffsRefused(Exception):
    """These cut-offs cannot be used; the message gives the reason."""


@dataclass(frozen=True)
class CutOffs:
    """The lowest total of each medal; None gives no medal of that kind. `has_mentions`: honourable mentions are given."""

    gold: Decimal | None = None
    silver: Decimal | None = None
    bronze: Decimal | None = None
    has_mentions: bool = True

    @property
    def lowest(self) -> list[tuple[str, Decimal]]:
        """The medals that are given, with their lowest totals, the best first."""
        named = ((medal, getattr(self, medal)) for medal in MEDALS)
        return [(medal, total) for medal, total in named if total is not None]

    @property
    def body(self) -> dict[str, str | bool]:
        """The values as JSON, for the record."""
        return {medal: points_text(total) for medal, total in self.lowest} | {"mentions": self.has_mentions}

    def award(self, row: ResultRow) -> str:
        """The award of a paper: a key of `WORDS`; empty for none, for a paper without a total and for one by a model."""
        if row.total is None or not row.contends:
            return ""
        for medal, total in self.lowest:
            if row.total >= total:
                return medal
        return MENTION if self.has_mentions and row.has_full else ""


def award_words(cutoffs: CutOffs, row: ResultRow) -> str:
    """The award of a paper in words; empty for none."""
    return WORDS.get(cutoffs.award(row), "")


def cutoffs_read(values: dict[str, str], *, has_mentions: bool, step: Decimal) -> CutOffs:
    """Cut-offs as people type them, by medal; empty for no such medal. `step`: the unit of points in the contest.

    Raises `CutOffsRefused`.
    """
    found = {medal: _points(medal, values.get(medal, ""), step) for medal in MEDALS}
    cutoffs = CutOffs(**found, has_mentions=has_mentions)
    lowest = cutoffs.lowest
    for (better, high), (medal, low) in pairwise(lowest):
        if high <= low:
            raise CutOffsRefused(
                f"The cut-off of {better} must be above that of {medal}: {points_text(high)} is not above {points_text(low)}."
            )
    return cutoffs


def cutoffs_suggested(rows: Sequence[ResultRow]) -> CutOffs:
    """The usual choice for these papers. Without a total above 0 there are no medals."""
    totals = sorted((row.total for row in rows if row.total is not None and row.contends), reverse=True)
    counted = [(total, sum(one >= total for one in totals)) for total in sorted(set(totals), reverse=True) if total > 0]
    given = [one for one in counted if one[1] * 2 <= len(totals)] or counted[:1]
    if not given:
        return CutOffs()
    medals = given[-1][1]
    gold = _nearest(given[:-1] or given, medals * _SHARES["gold"])
    between = [one for one in given[:-1] if one[0] < gold]
    silver = _nearest(between, medals * _SHARES["silver"]) if between else None
    return CutOffs(gold, silver, given[-1][0] if given[-1][0] < gold else None)


@dataclass(frozen=True)
class AwardCount:
    """How many papers get an award. `near`: papers at most `NEAR` points below the cut-off of a medal."""

    award: str
    papers: int
    share: float
    near: int = 0

    @property
    def words(self) -> str:
        return WORDS[self.award]


@dataclass(frozen=True)
class TotalBand:
    """The papers with one total. `above`: papers with this total or more; `mentions`: papers of it with a mention."""

    total: Decimal
    papers: int
    above: int
    share: float
    medal: str
    mentions: int

    @property
    def words(self) -> str:
        return WORDS.get(self.medal, "")


@dataclass(frozen=True)
class Outcome:
    """What cut-offs give. `ranked`: papers that count; `counts`: medals, then mentions; `bands`: by total, falling."""

    cutoffs: CutOffs
    ranked: int
    counts: list[AwardCount]
    bands: list[TotalBand]

    @property
    def medals(self) -> int:
        return sum(count.papers for count in self.counts if count.award != MENTION)


def outcome(rows: Sequence[ResultRow], cutoffs: CutOffs) -> Outcome:
    """What these cut-offs give to the papers with a total, except those by models."""
    ranked = [row for row in rows if row.contends]
    awards = [cutoffs.award(row) for row in ranked]
    given = [medal for medal, _ in cutoffs.lowest] + [MENTION] * cutoffs.has_mentions
    near = {medal: _near(ranked, total) for medal, total in cutoffs.lowest}
    counts = [
        AwardCount(award, awards.count(award), awards.count(award) / len(ranked) if ranked else 0.0, near.get(award, 0))
        for award in given
    ]
    return Outcome(cutoffs, len(ranked), counts, list(_bands(ranked, awards)))


def _bands(ranked: Sequence[ResultRow], awards: Sequence[str]) -> Iterator[TotalBand]:
    above = 0
    for total in sorted({row.total for row in ranked if row.total is not None}, reverse=True):
        here = [award for row, award in zip(ranked, awards, strict=True) if row.total == total]
        above += len(here)
        medal = next((award for award in here if award in MEDALS), "")
        yield TotalBand(total, len(here), above, above / len(ranked), medal, here.count(MENTION))


def _near(ranked: Sequence[ResultRow], cutoff: Decimal) -> int:
    return sum(row.total is not None and cutoff - NEAR <= row.total < cutoff for row in ranked)


def _nearest(counted: Sequence[tuple[Decimal, int]], target: Decimal) -> Decimal:
    """The total whose number of papers is nearest to the target, the higher total if two are equally near."""
    return min(counted, key=lambda one: (abs(one[1] - target), -one[0]))[0]


def _points(medal: str, typed: str, step: Decimal) -> Decimal | None:
    plain = typed.strip().replace(",", ".")
    if not plain:
        return None
    value = Decimal(plain) if _TYPED.fullmatch(plain) else Decimal(0)
    if not value:
        raise CutOffsRefused(f"The cut-off of {medal} must be a number of points above 0; leave it empty for no such medal.")
    if value % step:
        unit = "whole points" if step == 1 else f"steps of {points_text(step)} points"
        raise CutOffsRefused(f"The cut-off of {medal} must be a total of this contest, which counts in {unit}.")
    return value
