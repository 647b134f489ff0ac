"""Reads of tags and saved views. All take runs that passed `apps.runs.access`."""

from collections.abc import Collection

from django.db.models import Exists, OuterRef, QuerySet

from apps.accounts.models import User
from apps.desk.models import SavedView, Tag
from apps.runs.models import Run


def tags_by_run(runs: Collection[int]) -> dict[int, list[Tag]]:
    """The tags of each run with one of these primary keys, in order of their names; those of its parts are left out."""
    found: dict[int, list[Tag]] = {}
    for tag in Tag.objects.filter(run__in=runs, kind=Tag.Kind.RUN).select_related("by"):
        found.setdefault(tag.run_id, []).append(tag)
    return found


def tag_written(name: str) -> str:
    """The name of a tag as it is stored: lower case, single spaces."""
    return " ".join(name.replace("\0", "").lower().split())


def runs_tagged(name: str) -> QuerySet[Tag, int]:
    """Primary keys of the runs with a tag, for a filter."""
    return Tag.objects.filter(kind=Tag.Kind.RUN, name=tag_written(name)).order_by().values_list("run", flat=True)


def tag_names(runs: QuerySet[Run]) -> list[str]:
    """The names of all tags on these runs, in order."""
    tags = Tag.objects.filter(Exists(runs.order_by().filter(pk=OuterRef("run"))), kind=Tag.Kind.RUN)
    return list(tags.order_by("name").values_list("name", flat=True).distinct())


def saved_views(user: User) -> list[SavedView]:
    """The views that the user saved, by name."""
    return list(SavedView.objects.filter(owner=user))
