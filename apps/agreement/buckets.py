"""Buckets: each person's reason why grader and person disagree about a paper, and counts of pairs per reason."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.accounts.models import User
from apps.agreement.models import NAME_LENGTH, NOTE_LENGTH, Bucket, DisagreementBucket
from apps.reasoning.agreement.pairs import Pair
from apps.reasoning.agreement.scales import CLOSE
from apps.reasoning.domain.values import Unscored

#: Instead of a bucket: people chose different ones, or none was chosen.
SEVERAL, OPEN = "several", "open"
_KEPT = 150


class BucketRefused(Exception):
    """This pair cannot have a bucket; the message says why."""


@dataclass(frozen=True)
class BucketCounts:
    """Numbers of disagreeing pairs by bucket. `several`: people chose different ones; `open`: none was chosen."""

    disagreeing: int
    named: Mapping[Bucket, int]
    several: int

    @property
    def open(self) -> int:
        return self.disagreeing - self.several - sum(self.named.values())


def bucket_assign(*, user: User, source: str, grader: str, pair: Pair, bucket: str, note: str = "") -> None:
    """Store a person's bucket for a disagreeing pair; "" removes it. Raises `BucketRefused`."""
    if not disagrees(pair):
        raise BucketRefused(
            "The reason was not saved: grader and person give this paper the same points, or one of them gives none."
        )
    if bucket and bucket not in Bucket.values:
        raise BucketRefused("The reason was not saved: choose one of the listed reasons.")
    key: dict[str, Any] = {"source": source, "grader": name_key(grader), "paper": name_key(pair.paper), "by": user}
    if not bucket:
        DisagreementBucket.objects.filter(**key).delete()
        return
    DisagreementBucket.objects.update_or_create(**key, defaults={"bucket": bucket, "note": note.strip()[:NOTE_LENGTH]})


def disagrees(pair: Pair) -> bool:
    """Whether both sides have points and they differ. Contaminated pairs do not count."""
    if pair.contaminated or isinstance(pair.human, Unscored) or isinstance(pair.predicted, Unscored):
        return False
    return abs(pair.predicted - pair.human) >= CLOSE


def buckets_of(source: str, grader: str) -> dict[str, list[DisagreementBucket]]:
    """By paper (`name_key`): the buckets that people chose for the pairs of a grader."""
    found: dict[str, list[DisagreementBucket]] = defaultdict(list)
    for row in DisagreementBucket.objects.filter(source=source, grader=name_key(grader)).select_related("by"):
        found[row.paper].append(row)
    return found


def bucket_counts(source: str, grader: str, pairs: Iterable[Pair]) -> BucketCounts:
    """The counts over the pairs that disagree now; stored buckets of other pairs are not counted."""
    chosen = buckets_of(source, grader)
    named: Counter[Bucket] = Counter()
    disagreeing = several = 0
    for pair in pairs:
        if not disagrees(pair):
            continue
        disagreeing += 1
        name = bucket_of(chosen.get(name_key(pair.paper), []))
        several += name == SEVERAL
        named.update([Bucket(name)] if name in Bucket.values else [])
    return BucketCounts(disagreeing, {bucket: named[bucket] for bucket in Bucket}, several)


def bucket_of(chosen: Iterable[DisagreementBucket]) -> str:
    """The one bucket that all people chose, else `SEVERAL` or `OPEN`."""
    names = {row.bucket for row in chosen}
    return names.pop() if len(names) == 1 else SEVERAL if names else OPEN


def name_key(name: str) -> str:
    """A name for the key of a bucket: long names are cut and end in a digest."""
    if len(name) <= NAME_LENGTH:
        return name
    return f"{name[:_KEPT]}…{hashlib.sha256(name.encode()).hexdigest()[:32]}"
