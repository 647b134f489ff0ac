"""Rows for tests about lemmas: people, a problem, and a run whose events are stored and projected as the journal does it."""

from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import Role, User
from apps.lemmas.projection import StoredEvent, project
from apps.problems.models import Problem, Topic
from apps.runs.models import Run, RunEvent, RunStatus
from tests.lemmas.story import STATEMENT, KeyedEvent, story


def make_user(name: str, role: Role = Role.RESEARCHER) -> User:
    """A person with a role, without a password; tests use `client.force_login`."""
    return User.objects.create(username=name, role=role)


def make_run(status: RunStatus = RunStatus.FINISHED) -> Run:
    """A run without events."""
    problem, _ = Problem.objects.get_or_create(
        slug="p4-minus-1", defaults={"title": "240 divides p⁴ − 1", "topic": Topic.NUMBER_THEORY}
    )
    version = problem.versions.first() or problem.versions.create(number=1, statement=STATEMENT)
    return Run.objects.create(
        title="240 divides p⁴ − 1", problem_version=version, scaffold="intern_s1_mo", preset="quick", spec={}, status=status
    )


def stored(events: Sequence[KeyedEvent], start: int = 1) -> list[StoredEvent]:
    """The events as the journal's writer hands them to `project`, numbered from `start`."""
    return [(seq, key, timezone.now(), event) for seq, (key, event) in enumerate(events, start)]


def write_events(run: Run, events: Sequence[StoredEvent], batch: int = 50) -> None:
    """Store and project `events` in batches, each in one transaction."""
    for start in range(0, len(events), batch):
        part = events[start : start + batch]
        with transaction.atomic():
            RunEvent.objects.bulk_create(
                RunEvent(run=run, seq=seq, key=key, kind=event.kind, at=at, body=event.model_dump(mode="json"))
                for seq, key, at, event in part
            )
            run.last_seq = part[-1][0]
            run.save(update_fields=["last_seq"])
            project(run, part)


def make_story_run(events: Sequence[KeyedEvent] | None = None, status: RunStatus = RunStatus.FINISHED) -> Run:
    """A run with these events; by default, those of the story."""
    run = make_run(status)
    write_events(run, stored(story() if events is None else events))
    return run
