"""Writes of tags and saved views. Runs passed `apps.runs.access`; all readers of a run may tag it."""

from collections.abc import Collection

from django.core.exceptions import ValidationError
from django.db import transaction

from apps.accounts.models import User
from apps.desk.models import SavedView, Tag
from apps.desk.selectors import tag_written
from apps.runs.access import run_may_steer
from apps.runs.models import Run

LONGEST_TAG, LONGEST_NAME, LONGEST_QUERY = 40, 60, 1_000
TAGS_AT_MOST, VIEWS_AT_MOST = 20, 50


def tag_name_of(text: str) -> str:
    """The name as it is stored. Raises `ValidationError` for an unusable name."""
    name = tag_written(text)
    if not name or len(name) > LONGEST_TAG or "," in name:
        raise ValidationError(f"A tag is one to {LONGEST_TAG} characters without a comma. Nothing was changed.")
    return name


@transaction.atomic
def tag_add(*, user: User, runs: Collection[Run], name: str) -> int:
    """Tag runs. Returns how many did not have the tag. Raises `ValidationError` for an unusable name or a run full of tags."""
    name = tag_name_of(name)
    has = set(Tag.objects.filter(run__in=runs, kind=Tag.Kind.RUN, name=name).values_list("run", flat=True))
    new = [run for run in runs if run.pk not in has]
    full = [run for run in new if Tag.objects.filter(run=run, kind=Tag.Kind.RUN).count() >= TAGS_AT_MOST]
    if full:
        raise ValidationError(f"“{full[0].title}” already has {TAGS_AT_MOST} tags. Remove one first. Nothing was changed.")
    Tag.objects.bulk_create([Tag(run=run, name=name, by=user) for run in new], ignore_conflicts=True)
    return len(new)


@transaction.atomic
def tag_remove(*, user: User, runs: Collection[Run], name: str) -> tuple[int, int]:
    """Remove a tag: one's own from all runs, anybody's from runs that `user` may steer. Returns removed and kept tags."""
    tags = Tag.objects.filter(run__in=runs, kind=Tag.Kind.RUN, name=tag_name_of(name)).select_related("run")
    removable = [tag.pk for tag in tags if tag.by_id == user.pk or run_may_steer(user, tag.run)]
    Tag.objects.filter(pk__in=removable).delete()
    return len(removable), len(tags) - len(removable)


@transaction.atomic
def part_tag(*, user: User, run: Run, kind: str, target: str, name: str) -> None:
    """Tag a part of a run, once. Raises `ValidationError` for an unusable name or a part full of tags."""
    tags = Tag.objects.filter(run=run, kind=kind, target=target)
    name = tag_name_of(name)
    if not tags.filter(name=name).exists() and tags.count() >= TAGS_AT_MOST:
        raise ValidationError(f"This place already has {TAGS_AT_MOST} tags. Remove one first.")
    Tag.objects.bulk_create([Tag(run=run, kind=kind, target=target, name=name, by=user)], ignore_conflicts=True)


def part_untag(*, user: User, run: Run, kind: str, target: str, name: str) -> None:
    """Remove a tag from a part: one's own, or anybody's as a person who may steer. Raises `ValidationError` if it stays."""
    tag = Tag.objects.filter(run=run, kind=kind, target=target, name=tag_name_of(name)).first()
    if tag is not None and tag.by_id != user.pk and not run_may_steer(user, run):
        raise ValidationError("Another person set this tag. Only they, or a person who may steer the run, may remove it.")
    if tag is not None:
        tag.delete()


def view_save(*, user: User, name: str, query: str) -> SavedView:
    """Save a view; the same name replaces the former one. Raises `ValidationError`, which says what to do."""
    name = " ".join(name.replace("\0", "").split())
    if not name or len(name) > LONGEST_NAME:
        raise ValidationError(f"Give the view a name of one to {LONGEST_NAME} characters.")
    if len(query) > LONGEST_QUERY:
        raise ValidationError(f"The filters are longer than {LONGEST_QUERY:,} characters. Shorten the words of the search.")
    others = SavedView.objects.filter(owner=user).exclude(name=name)
    if others.count() >= VIEWS_AT_MOST:
        raise ValidationError(f"You already have {VIEWS_AT_MOST} saved views. Delete one first.")
    return SavedView.objects.update_or_create(owner=user, name=name, defaults={"query": query.replace("\0", "")})[0]


def view_delete(*, user: User, name: str) -> bool:
    """Delete one's own view; False if there is none of this name."""
    return bool(SavedView.objects.filter(owner=user, name=name).delete()[0])
