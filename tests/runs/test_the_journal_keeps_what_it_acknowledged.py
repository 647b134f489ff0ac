"""The durable journal and the one in memory keep the same promises; the durable one also keeps them across processes."""

import asyncio

import pytest

from apps.processes.threads import in_thread
from apps.reasoning.domain.errors import FenceLost
from apps.reasoning.domain.events import RoundBegan
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.ports import Journal
from apps.runs.journal.run_journal import RunJournal
from apps.runs.journal.texts import text_get
from apps.runs.models import Blob, Run, RunEvent, Step
from apps.runs.selectors import event_page
from tests.runs.factory import began, ended, make_run, record, take, with_journal

pytestmark = pytest.mark.django_db(transaction=True)


async def a_small_story(journal: Journal) -> None:
    """Two calls, one of them emitted twice, and a round event emitted twice."""
    journal.emit("round/1", RoundBegan(rollout=0, round=1))
    journal.emit(*began("a"))
    await journal.append(record("a", "first"), [ended("a", "first")], ["a prompt"])
    journal.emit("round/1", RoundBegan(rollout=0, round=1))
    journal.emit(*began("b"))
    await journal.append(record("b", "second"), [ended("b", "second")], ["a prompt"])
    await journal.flush()


def test_events_are_numbered_without_gaps_and_a_repeated_event_is_kept_once() -> None:
    run = take(make_run())
    with_journal(run, a_small_story)
    rows = event_page(run)
    assert [row["seq"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert [row["key"] for row in rows] == ["run.created", "round/1", "a/began", "a/ended", "b/began", "b/ended"]
    assert Run.objects.get(pk=run.pk).last_seq == 6


def test_the_journal_in_memory_keeps_the_same_events() -> None:
    run = take(make_run())
    with_journal(run, a_small_story)
    in_memory = InMemoryJournal()
    asyncio.run(a_small_story(in_memory))
    durable = [(row["key"], row["kind"], row["body"]) for row in event_page(run, after=1)]
    assert durable == [(key, event.kind, event.model_dump(mode="json")) for _, key, event in in_memory.events]


def test_what_was_acknowledged_is_there_when_the_run_is_opened_again() -> None:
    run = take(make_run())
    with_journal(run, a_small_story)

    async def read(journal: RunJournal) -> None:
        assert journal.unread == 2
        found = journal.recorded("b")
        assert found is not None
        assert found.final is not None
        assert (found.final.text, found.usage.completion, found.place.round) == ("second", 5, 1)
        assert journal.recorded("c") is None
        assert journal.unread == 1
        assert (journal.spent.calls, journal.spent.tokens) == (2, 30)

    with_journal(Run.objects.get(pk=run.pk), read)


def test_a_record_that_is_appended_twice_is_kept_once_also_by_the_next_owner() -> None:
    run = take(make_run())

    async def twice(journal: RunJournal) -> None:
        for _ in range(2):
            await journal.append(record("a", "first"), [ended("a", "first")])

    with_journal(run, twice)
    with_journal(Run.objects.get(pk=run.pk), twice)
    assert Step.objects.filter(run=run).count() == 1
    assert Run.objects.get(pk=run.pk).calls == 1


def test_counters_of_the_run_are_sums_over_its_records() -> None:
    run = take(make_run())
    with_journal(run, a_small_story)
    run.refresh_from_db()
    assert (run.calls, run.prompt_tokens, run.completion_tokens) == (2, 20, 10)


def test_a_prompt_that_two_calls_share_is_stored_once() -> None:
    run = take(make_run())
    with_journal(run, a_small_story)
    shas = set(Step.objects.filter(run=run).values_list("prompt_shas__0", flat=True))
    assert len(shas) == 1
    assert text_get(shas.pop()) == "a prompt"
    assert Blob.objects.count() == 3


def test_an_owner_whose_fence_has_moved_writes_nothing_more() -> None:
    run = take(make_run())

    async def lose_it(journal: RunJournal) -> None:
        await journal.append(record("a"), [ended("a")])
        await in_thread(lambda: Run.objects.filter(pk=run.pk).update(fence=run.fence + 1))
        with pytest.raises(FenceLost):
            await journal.append(record("b"), [ended("b")])
        with pytest.raises(FenceLost):
            await journal.flush()

    with_journal(run, lose_it)
    assert list(Step.objects.filter(run=run).values_list("key", flat=True)) == ["a"]
    assert not RunEvent.objects.filter(run=run, key="b/ended").exists()


def test_two_hundred_concurrent_calls_are_committed_in_groups_and_in_order() -> None:
    run = take(make_run())

    async def many(journal: RunJournal) -> None:
        async def one(number: int) -> None:
            journal.emit(*began(f"c{number}"))
            await journal.append(record(f"c{number}", f"text {number}"), [ended(f"c{number}", f"text {number}")])

        await asyncio.gather(*(one(number) for number in range(200)))

    with_journal(run, many)
    seqs = list(RunEvent.objects.filter(run=run).values_list("seq", flat=True))
    assert seqs == list(range(1, 402))
    at = {event.key: event.seq for event in RunEvent.objects.filter(run=run)}
    assert all(at[f"c{number}/began"] < at[f"c{number}/ended"] for number in range(200))


def test_a_projection_that_fails_does_not_stop_the_journal(caplog: pytest.LogCaptureFixture) -> None:
    from apps.runs.journal.run_journal import JournalWriter

    def broken(*_: object) -> None:
        raise ValueError("no such lemma")

    run = take(make_run())
    writer = JournalWriter(sinks=[broken])
    journal = RunJournal(run, writer)
    asyncio.run(journal.append(record("a"), [ended("a")]))
    writer.close()
    assert Step.objects.filter(run=run, key="a").exists()
    assert "rebuild_lemmas" in caplog.text
