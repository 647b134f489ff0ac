"""The journal in memory: numbering, first record wins, and what a kill leaves behind."""

from apps.reasoning.domain.events import RoundBegan
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.journal.keys import sha_of
from apps.reasoning.journal.memory import InMemoryJournal
from tests.reasoning.play import final


async def test_events_are_numbered_without_gaps_and_recorded_once() -> None:
    journal = InMemoryJournal()
    journal.emit("a", RoundBegan(rollout=0, round=1))
    journal.emit("a", RoundBegan(rollout=0, round=2))
    await journal.append(StepRecord(key="k"), [("a", RoundBegan(rollout=0, round=3)), ("b", RoundBegan(rollout=0, round=1))])
    assert [(seq, key) for seq, key, _ in journal.events] == [(1, "a"), (2, "b")]


async def test_the_first_record_under_a_key_stays() -> None:
    journal = InMemoryJournal()
    await journal.append(StepRecord(key="k", final=final("first")))
    await journal.append(StepRecord(key="k", final=final("second")))
    record = journal.recorded("k")
    assert record is not None
    assert record.final == final("first")
    assert journal.recorded("other") is None


async def test_prompt_texts_are_kept_once_under_their_names() -> None:
    journal = InMemoryJournal()
    await journal.append(StepRecord(key="k"), texts=["problem", "library", ""])
    await journal.append(StepRecord(key="l"), texts=["problem"])
    assert journal.texts == {sha_of("problem"): "problem", sha_of("library"): "library"}


async def test_a_cut_journal_replays_what_was_committed_and_has_forgotten_the_rest() -> None:
    journal = InMemoryJournal()
    for number in (1, 2, 3):
        journal.emit(f"before/{number}", RoundBegan(rollout=0, round=number))
        await journal.append(StepRecord(key=f"k{number}", final=final("x")))
    kept = journal.cut(2)
    assert [key for _, key, _ in kept.events] == ["before/1", "before/2"]
    assert kept.unread == 2
    assert kept.recorded("k1") is not None
    assert kept.unread == 1
    assert kept.recorded("k3") is None
    assert kept.spent.calls == 2
    assert kept.spent.tokens == 30
