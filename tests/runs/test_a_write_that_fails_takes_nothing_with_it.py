"""A failed COMMIT is retried as a whole; a run that cannot be written says so, and the others continue."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper

from apps.processes.threads import in_thread
from apps.reasoning.domain.errors import FenceLost, JournalUnwritable
from apps.reasoning.domain.events import OutputUnread, RoundBegan
from apps.runs.journal import writer as journal_writer
from apps.runs.journal.batch import Item
from apps.runs.journal.run_journal import JournalWriter, RunJournal
from apps.runs.journal.texts import texts_get
from apps.runs.models import Run, RunEvent, Step
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


def test_a_run_that_cannot_be_written_stops_and_another_in_the_same_batch_continues() -> None:
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


@contextmanager
def _first_answer_is_lost(monkeypatch: pytest.MonkeyPatch, *, down_for: int) -> Iterator[list[str]]:
    """The first COMMIT works and its answer does not come; the next `down_for` attempts to connect find no server."""
    real = BaseDatabaseWrapper._commit  # type: ignore[attr-defined]
    faults: list[str] = []

    def commit(wrapper: BaseDatabaseWrapper) -> None:
        real(wrapper)
        if not faults:
            faults.append("commit")
            raise OperationalError("server closed the connection unexpectedly")

    def ensure(wrapper: BaseDatabaseWrapper) -> None:
        if wrapper.connection is None and 0 < len(faults) <= down_for:
            faults.append("down")
            raise OperationalError("connection refused")
        real_ensure(wrapper)

    real_ensure = BaseDatabaseWrapper.ensure_connection
    with monkeypatch.context() as patch:
        patch.setattr(BaseDatabaseWrapper, "_commit", commit)
        patch.setattr(BaseDatabaseWrapper, "ensure_connection", ensure)
        yield faults


@pytest.mark.parametrize("down_for", [0, 1, 3])
def test_a_commit_whose_answer_was_lost_is_not_written_twice(monkeypatch: pytest.MonkeyPatch, down_for: int) -> None:
    """Also where the server is still down when it is asked for the first time."""
    run = take(make_run())

    async def story(journal: RunJournal) -> None:
        with _first_answer_is_lost(monkeypatch, down_for=down_for) as faults:
            await journal.append(record("a", "the answer"), [ended("a", "the answer")], ["a prompt"])
        assert faults == ["commit"] + ["down"] * down_for
        await journal.append(record("b", "another"), [ended("b", "another")])

    with_journal(run, story)
    assert list(Step.objects.filter(run=run).values_list("key", flat=True)) == ["a", "b"]
    assert list(RunEvent.objects.filter(run=run).order_by("seq").values_list("seq", flat=True)) == [1, 2, 3]


def test_a_commit_without_an_answer_is_not_taken_for_ours_when_another_owner_wrote_the_same_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both runs are in one batch that failed; the other owner's step must not tell that the first run's part is there."""
    mine, other = take(make_run()), take(make_run())
    writer = JournalWriter()
    real = BaseDatabaseWrapper._commit  # type: ignore[attr-defined]
    failed: list[bool] = []

    def commit(wrapper: BaseDatabaseWrapper) -> None:
        if failed:
            real(wrapper)
            return
        failed.append(True)
        wrapper.rollback()
        wrapper.set_autocommit(True)
        Run.objects.filter(pk=other.pk).update(fence=other.fence + 1)
        another = JournalWriter(own_thread=False)
        owner = RunJournal(Run.objects.get(pk=other.pk), another)
        another.write_now([Item(owner, [], record("a", "the answer"), [])])
        raise OperationalError("server closed the connection unexpectedly")

    async def story() -> None:
        one, two = await in_thread(RunJournal, mine, writer), await in_thread(RunJournal, other, writer)
        monkeypatch.setattr(BaseDatabaseWrapper, "_commit", commit)
        kept, refused = await asyncio.gather(
            one.append(record("a", "mine"), [ended("a", "mine")]),
            two.append(record("a", "the answer"), [ended("a", "the answer")]),
            return_exceptions=True,
        )
        assert kept is None
        assert isinstance(refused, FenceLost)

    asyncio.run(story())
    writer.close()
    assert Step.objects.filter(run=mine, key="a").exists()


def test_a_commit_that_the_server_ends_only_while_we_try_again_is_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    """The database says that nothing is there yet, and refuses the second writing a moment later."""
    run = take(make_run())
    answers = iter([False])
    is_there = journal_writer._is_there
    monkeypatch.setattr(journal_writer, "_is_there", lambda plans: next(answers, None) is None and is_there(plans))

    async def story(journal: RunJournal) -> None:
        with _first_answer_is_lost(monkeypatch, down_for=0):
            await journal.append(record("a", "the answer"), [ended("a", "the answer")])

    with_journal(run, story)
    assert next(answers, None) is None
    assert Step.objects.filter(run=run).count() == 1


def test_what_the_owner_before_still_appends_is_not_written_under_the_fence_of_the_next_one() -> None:
    """Both drive the run in one process, as after a lease that ran out, and so share its writer and a batch."""
    run = take(make_run())
    writer = JournalWriter()

    async def story() -> None:
        before = await in_thread(RunJournal, run, writer)
        await in_thread(lambda: Run.objects.filter(pk=run.pk).update(lease_owner="", lease_until=None))
        now = await in_thread(RunJournal, await in_thread(take, run), writer)
        now.emit("round", RoundBegan(rollout=0, round=1))
        with pytest.raises(FenceLost):
            await before.append(record("a", "the answer"), [ended("a", "the answer")])
        await now.append(record("a", "the answer"), [ended("a", "the answer")])

    asyncio.run(story())
    writer.close()
    assert list(RunEvent.objects.filter(run=run).order_by("seq").values_list("key", flat=True)) == [
        "run.created",
        "round",
        "a/ended",
    ]
    assert Step.objects.filter(run=run).count() == 1


def test_a_connection_that_is_lost_in_a_projection_takes_the_batch_with_it_and_it_is_written_again() -> None:
    """The savepoint of the projection cannot be rolled back then; nothing may be acknowledged that was not committed."""
    run = take(make_run())
    lost: list[str] = []

    def projection(*_: object) -> None:
        if not lost:
            lost.append("connection")
            connection.connection.close()
            Run.objects.exists()

    writer = JournalWriter(sinks=[projection])

    async def story() -> None:
        journal = await in_thread(RunJournal, run, writer)
        await journal.append(record("a", "the answer"), [ended("a", "the answer")])

    asyncio.run(story())
    writer.close()
    assert lost
    assert list(Step.objects.filter(run=run).values_list("key", flat=True)) == ["a"]
