"""A COMMIT that fails is tried again whole; a run that cannot be written says so, and the others go on."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper

from apps.reasoning.domain.errors import JournalUnwritable
from apps.reasoning.domain.events import OutputUnread, RoundBegan
from apps.runs.journal import JournalWriter, RunJournal
from apps.runs.models import RunEvent, Step
from apps.runs.texts import texts_get
from apps.runs.threads import in_thread
from tests.runs.factory import ended, make_run, record, take, with_journal

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def _first_commit_fails(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    real = BaseDatabaseWrapper._commit  # type: ignore[attr-defined]
    failed: list[bool] = []

    def commit(wrapper: BaseDatabaseWrapper) -> None:
        if not failed:
            failed.append(True)
            raise OperationalError("server closed the connection unexpectedly")
        real(wrapper)

    with monkeypatch.context() as patch:
        patch.setattr(BaseDatabaseWrapper, "_commit", commit)
        yield
    assert failed


def test_the_texts_of_a_commit_that_failed_are_stored_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    run = take(make_run())

    async def story(journal: RunJournal) -> None:
        with _first_commit_fails(monkeypatch):
            await journal.append(record("a", "the answer"), [ended("a", "the answer")], ["a prompt"])
        await journal.append(record("b", "another"), [ended("b", "another")], ["a prompt"])

    with_journal(run, story)
    named = {sha for step in Step.objects.filter(run=run) for sha in (*step.prompt_shas, step.text_sha)}
    assert set(texts_get(named).values()) == {"", "a prompt", "the answer", "another"}


def test_a_run_that_cannot_be_written_stops_and_another_in_the_same_batch_goes_on() -> None:
    """A lone surrogate is no text that a database or a stream could keep."""
    good, bad = take(make_run()), take(make_run())
    writer = JournalWriter()

    async def story() -> None:
        one, two = await in_thread(RunJournal, good, writer), await in_thread(RunJournal, bad, writer)
        two.emit("odd", OutputUnread.model_construct(call="a", role="b", reason="\ud800"))
        one.emit("round", RoundBegan(rollout=0, round=1))
        await one.flush()
        with pytest.raises(JournalUnwritable, match="refused a write"):
            await two.flush()

    asyncio.run(story())
    writer.close()
    assert RunEvent.objects.filter(run=good, key="round").exists()
    assert not RunEvent.objects.filter(run=bad, key="odd").exists()
