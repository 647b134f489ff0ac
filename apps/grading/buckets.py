"""Why grader and person disagree about a paper: each person's word on a pair, and how many pairs have which."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.accounts.models import User
from apps.grading.agreement_models import NAME_LENGTH, NOTE_LENGTH, Bucket, DisagreementBucket
from apps.reasoning.agreement.pairs import Pair
from apps.reasoning.agreement.scales import CLOSE
from apps.reasoning.domain.values import Unscored

#: Instead of a bucket: people named different ones; nobody named one.
SEVERAL, OPEN = "several", "open"
_KEPT = 150


class BucketRefused(Exception):
    """This pair takes no bucket; the message says why."""


@dataclass(frozen=True)
class BucketCounts:
    """How many disagreeing pairs have which bucket. `several`: people named different ones; `open`: nobody named one."""

    disagreeing: int
    named: Mapping[Bucket, int]
    several: int

    @property
    def open(self) -> int:
        return self.disagreeing - self.several - sum(self.named.values())


def bucket_assign(*, user: User, source: str, grader: str, pair: Pair, bucket: str, note: str = "") -> None:
    """Keep the person's word on a disagreeing pair; an empty bucket takes it back. Raises `BucketRefused`."""
    if not disagrees(pair):
        raise BucketRefused("Grader and person give this paper the same points, or one of them none.")
    if bucket and bucket not in Bucket.values:
        raise BucketRefused("There is no such bucket.")
    key: dict[str, Any] = {"source": source, "grader": name_key(grader), "paper": name_key(pair.paper), "by": user}
    if not bucket:
        DisagreementBucket.objects.filter(**key).delete()
        return
    DisagreementBucket.objects.update_or_create(**key, defaults={"bucket": bucket, "note": note.strip()[:NOTE_LENGTH]})


def disagrees(pair: Pair) -> bool:
    """Both sides have points, and they differ. What is contaminated says nothing of a grader."""
    if pair.contaminated or isinstance(pair.human, Unscored) or isinstance(pair.predicted, Unscored):
        return False
    return abs(pair.predicted - pair.human) >= CLOSE


def buckets_of(source: str, grader: str) -> dict[str, list[DisagreementBucket]]:
    """By paper (`name_key`): what people said about the pairs of a grader."""
    found: dict[str, list[DisagreementBucket]] = defaultdict(list)
    for row in DisagreementBucket.objects.filter(source=source, grader=name_key(grader)).select_related("by"):
        found[row.paper].append(row)
    return found


def bucket_counts(source: str, grader: str, pairs: Iterable[Pair]) -> BucketCounts:
    """The counts over the pairs that disagree now; words on pairs that no longer do are kept and not counted."""
    said = buckets_of(source, grader)
    named: Counter[Bucket] = Counter()
    disagreeing = several = 0
    for pair in pairs:
        if not disagrees(pair):
            continue
        disagreeing += 1
        name = bucket_of(said.get(name_key(pair.paper), []))
        several += name == SEVERAL
        named.update([Bucket(name)] if name in Bucket.values else [])
    return BucketCounts(disagreeing, {bucket: named[bucket] for bucket in Bucket}, several)


def bucket_of(said: Iterable[DisagreementBucket]) -> str:
    """The bucket that all who spoke named, else `SEVERAL` or `OPEN`."""
    names = {row.bucket for row in said}
    return names.pop() if len(names) == 1 else SEVERAL if names else OPEN


def name_key(name: str) -> str:
    """A name as it stands in the key of a bucket: long ones end in a digest."""
    if len(name) <= NAME_LENGTH:
        return name
    return f"{name[:_KEPT]}…{hashlib.sha256(name.encode()).hexdigest()[:32]}"
