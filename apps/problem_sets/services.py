"""Write operations: a set from problems, a new version, splits. Each is one transaction."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.db import transaction
from django.utils.text import slugify

from apps.accounts.models import User
from apps.problem_sets.models import NOTE_LENGTH, TITLE_LENGTH, ProblemSet, ProblemSetItem, ProblemSetVersion
from apps.problems.models import ProblemVersion

MOST_PROBLEMS = 5_000
_BATCH = 500


class SetRefused(Exception):
    """The change is not possible; the message says why."""


@dataclass(frozen=True)
class Named:
    """A problem with its name in a set and its split."""

    name: str
    problem: ProblemVersion
    split: str = ""


@transaction.atomic
def set_create(
    *,
    title: str,
    items: Sequence[Named],
    by: User | None,
    credit: str = "",
    licence: str = "",
    note: str = "",
    left_out: Sequence[Sequence[str]] = (),
) -> ProblemSetVersion:
    """Create a set with version 1. Raises `SetRefused` for a used title, or no or too many problems."""
    title = " ".join(title.split())
    if not any(character.isalnum() for character in title) or len(title) > TITLE_LENGTH:
        raise SetRefused(f"The title needs a letter or a digit, and at most {TITLE_LENGTH} characters.")
    slug = slugify(title) or f"set-{_sha(title)[:8]}"
    about = {"title": title, "credit": credit, "licence": licence, "created_by": by}
    is_used = ProblemSet.objects.filter(title=title).exists()
    made, is_new = (None, False) if is_used else ProblemSet.objects.get_or_create(slug=slug, defaults=about)
    if made is None or not is_new:
        raise SetRefused(f"There is already a set “{title}”. Choose another title, or add a version to that set.")
    return version_add(problem_set=made, items=items, by=by, note=note, left_out=left_out)


@transaction.atomic
def version_add(
    *,
    problem_set: ProblemSet,
    items: Sequence[Named],
    by: User | None,
    note: str = "",
    left_out: Sequence[Sequence[str]] = (),
) -> ProblemSetVersion:
    """Add a version. Equal content gives the newest version. Raises `SetRefused`."""
    if not items:
        raise SetRefused("A set needs at least one problem.")
    if len(items) > MOST_PROBLEMS:
        raise SetRefused(f"These are {len(items):,} problems; a set has at most {MOST_PROBLEMS:,}.")
    ProblemSet.objects.select_for_update().get(pk=problem_set.pk)
    newest = problem_set.versions.first()
    digest = digest_of(items)
    if newest is not None and newest.digest == digest:
        return newest
    number = newest.number + 1 if newest else 1
    version = ProblemSetVersion.objects.create(
        problem_set=problem_set,
        number=number,
        digest=digest,
        note=note[:NOTE_LENGTH],
        created_by=by,
        left_out=[list(row) for row in left_out],
    )
    rows = [
        ProblemSetItem(version=version, position=position, name=one.name, problem=one.problem, split=one.split)
        for position, one in enumerate(items, 1)
    ]
    ProblemSetItem.objects.bulk_create(rows, batch_size=_BATCH)
    return version


def digest_of(items: Sequence[Named]) -> str:
    """The digest of a version with these problems."""
    rows = [[one.name, one.split, _sha(one.problem.statement), _sha(one.problem.answer)] for one in items]
    return _sha(json.dumps(rows, ensure_ascii=False, separators=(",", ":")))


def items_of(version: ProblemSetVersion) -> list[Named]:
    """The problems of a version, in order."""
    rows = version.items.select_related("problem__problem")
    return [Named(row.name, row.problem, row.split) for row in rows]


def version_split(*, version: ProblemSetVersion, shares: Mapping[str, int], seed: int, by: User | None) -> ProblemSetVersion:
    """Add a version in which each problem belongs to a split. `shares`: percentages by name of the split, 100 in all.

    The same seed gives the same split, however many problems the set has in another order. Raises `SetRefused`.
    """
    if sum(shares.values()) != 100 or any(share <= 0 for share in shares.values()):
        raise SetRefused("The shares of the splits must be positive and add up to 100.")
    items = items_of(version)
    drawn = sorted(items, key=lambda one: _sha(f"{seed}/{one.name}"))
    split_of: dict[str, str] = {}
    done = begun = 0
    for name, share in shares.items():
        done += share
        end = round(len(items) * done / 100)
        split_of |= {one.name: name for one in drawn[begun:end]}
        begun = end
    words = ", ".join(f"{name} {share} %" for name, share in shares.items())
    split = [replace(one, split=split_of[one.name]) for one in items]
    return version_add(problem_set=version.problem_set, items=split, by=by, note=f"Split with seed {seed}: {words}")


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
