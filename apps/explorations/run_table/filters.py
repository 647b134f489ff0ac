"""Filters of the list of runs, read from the address."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from hashlib import sha256
from typing import Any, cast

from django.core.cache import caches
from django.db.models import Max, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.http import QueryDict
from django.utils import timezone
from django.utils.dateparse import parse_date

from apps.accounts.models import User
from apps.desk.models import Tag
from apps.desk.selectors import runs_tagged, tag_names
from apps.problems.models import Problem
from apps.runs.access import run_visible_to, runs_hidden_from
from apps.runs.models import ACCEPTED, APART, LIVE, NOT_ACCEPTED, NOT_JUDGED, NOTHING_READABLE, Run, RunStatus
from apps.runs.selectors import run_list

FINISHED = (ACCEPTED, NOT_ACCEPTED, NOT_JUDGED, NOTHING_READABLE)
#: Value of the filter, its words, and the endings (`Run.ending`) that it includes.
OUTCOMES: dict[str, tuple[str, tuple[str, ...]]] = {
    **{name: (name, (name,)) for name in FINISHED},
    RunStatus.FINISHED.value: ("finished, with any outcome", FINISHED),
    "live": ("in progress", tuple(status.value for status in LIVE)),
    **{status.value: (status.label, (status.value,)) for status in RunStatus if status != RunStatus.FINISHED},
}
#: Hidden runs that a query names by their keys.
HIDDEN_AT_MOST = 5_000
#: Seconds for which the choices of the filters are kept.
KEPT_S = 10
NAMES = ("q", "outcome", "scaffold", "topic", "problem", "model", "owner", "tag", "since", "until")


@dataclass
class Wanted:
    """The filters in force by name (`NAMES`; empty: all), and a sentence for each that could not be read."""

    chosen: dict[str, str]
    wrong: list[str] = field(default_factory=list)

    @property
    def is_filtered(self) -> bool:
        return any(self.chosen.values())


def listed_for(user: User) -> QuerySet[Run]:
    """The runs that the list shows `user`, for counting, sorting and offering.

    The access rules join many tables, so they are asked once a request: hidden runs are named by their keys, where they are
    few. The keys are part of the SQL, because Django would prepare a thousand parameters again for every query.
    """
    runs = Run.objects.exclude(preset__in=APART)
    hidden = list(runs_hidden_from(user, ~Q(preset__in=APART))[: HIDDEN_AT_MOST + 1])
    if len(hidden) > HIDDEN_AT_MOST:
        return run_visible_to(user).exclude(preset__in=APART)
    return runs.exclude(pk__in=RawSQL(",".join(map(str, hidden)), ())) if hidden else runs  # noqa: S611  (keys of ours)


def wanted_from(given: QueryDict, user: User) -> Wanted:
    """Read the filters. `status` and `mine` are the names of older addresses of the list."""
    chosen = {name: given.get(name, "").replace("\0", "").strip() for name in NAMES}
    wanted = Wanted(chosen)
    chosen["outcome"] = chosen["outcome"] or given.get("status", "").replace("\0", "")
    chosen["owner"] = chosen["owner"] or (user.username if given.get("mine") else "")
    if chosen["outcome"] not in OUTCOMES:
        chosen["outcome"] = ""
    for name, words in (("since", "first"), ("until", "last")):
        if chosen[name] and _day(chosen[name]) is None:
            wanted.wrong.append(
                f"The {words} day “{chosen[name][:20]}” is not a date, so all days are listed. Write 2026-11-26."
            )
            chosen[name] = ""
    return wanted


def filtered(runs: QuerySet[Run], wanted: Wanted) -> QuerySet[Run]:
    """Those of the visible runs that match all filters."""
    chosen = wanted.chosen
    found = run_list(runs, query=chosen["q"], scaffold=chosen["scaffold"], topic=chosen["topic"])
    for name, matches in _MATCHES.items():
        if chosen[name]:
            found = found.filter(matches(chosen[name]))
    return found


def _of_problem(text: str) -> Q:
    """A problem's slug, or words of its title."""
    words = Q()
    for word in text.split():
        words &= Q(title__icontains=word)
    return Q(problem_version__problem__in=Problem.objects.filter(Q(slug=text) | words).order_by().values("pk"))


def _of_owner(name: str) -> Q:
    return Q(owner=None) if name == "-" else Q(owner__username=name)


def _day(text: str) -> date | None:
    """A day whose next day exists; None for any other text."""
    try:
        day = parse_date(text)
    except ValueError:
        return None
    return day if day and day < date.max else None


def _midnight(text: str, days: int = 0) -> datetime:
    """The start of a day in the reader's time zone."""
    day = _day(text) or timezone.localdate()
    return timezone.make_aware(datetime.combine(day + timedelta(days=days), time.min))


_MATCHES: dict[str, Callable[[str], Q]] = {
    "outcome": lambda name: Q(ending__in=OUTCOMES[name][1]),
    "problem": _of_problem,
    "model": lambda name: Q(aliases__contains=f"\n{name}\n"),
    "owner": _of_owner,
    "tag": lambda name: Q(pk__in=runs_tagged(name)),
    "since": lambda text: Q(created_at__gte=_midnight(text)),
    "until": lambda text: Q(created_at__lt=_midnight(text, 1)),
}


@dataclass(frozen=True)
class Choices:
    """What the selects of the filter line offer: names that occur among the visible runs."""

    scaffolds: list[str]
    models: list[str]
    owners: list[tuple[str, str]]
    tags: list[str]


def choices(listed: QuerySet[Run]) -> Choices:
    """Scaffolds, models, owners (username, displayed name) and tags of the runs that the list shows.

    They are kept for some seconds, but not if other runs are hidden or a tag was added meanwhile.
    """
    newest_tag = Tag.objects.aggregate(newest=Max("pk"))["newest"]
    key = sha256(repr((listed.order_by().query.sql_with_params(), newest_tag)).encode()).hexdigest()
    found: Any = caches["local"].get_or_set(f"run-table:1:{key}", lambda: _choices(listed), KEPT_S)
    return cast(Choices, found)


def _choices(listed: QuerySet[Run]) -> Choices:
    runs = listed.order_by()
    made_with = list(runs.values_list("scaffold", "aliases", "owner").distinct())
    owners = User.objects.filter(pk__in={owner for *_, owner in made_with}).values_list("username", "first_name")
    return Choices(
        sorted({scaffold for scaffold, *_ in made_with}),
        sorted({name for _, aliases, _ in made_with for name in aliases.split("\n") if name}),
        sorted(((username, short or username) for username, short in owners), key=lambda one: one[1].casefold()),
        tag_names(runs),
    )
