"""A fork asks again only what changed; what it takes over from its parent is not its own cost."""

import pytest

from apps.runs.models import Run, RunStatus
from tests.runs.driving import drive, nonsense, quick_run, with_model

pytestmark = pytest.mark.django_db(transaction=True)


def fork_of(parent: Run, **changes: object) -> Run:
    fork = quick_run()
    Run.objects.filter(pk=fork.pk).update(forked_from=parent, spec={**parent.spec, **changes})
    fork.refresh_from_db()
    return fork


def test_an_unchanged_fork_asks_no_model_and_costs_nothing() -> None:
    parent = quick_run()
    assert drive(parent, with_model(nonsense())) == RunStatus.FINISHED
    fork = fork_of(parent)
    asked: list[str] = []
    assert drive(fork, with_model(nonsense(asked))) == RunStatus.FINISHED
    parent.refresh_from_db()
    fork.refresh_from_db()
    assert asked == []
    assert (fork.calls, fork.tokens) == (0, 0)
    assert parent.calls > 0
    assert set(fork.steps.values_list("key", flat=True)) == set(parent.steps.values_list("key", flat=True))
    assert set(fork.steps.values_list("attempt", flat=True)) == {0}


def test_a_fork_with_another_seed_asks_everything_again() -> None:
    parent = quick_run()
    assert drive(parent, with_model(nonsense())) == RunStatus.FINISHED
    fork = fork_of(parent, seed=99)
    asked: list[str] = []
    assert drive(fork, with_model(nonsense(asked))) == RunStatus.FINISHED
    fork.refresh_from_db()
    assert len(asked) == fork.calls > 0
