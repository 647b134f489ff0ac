"""Every end of a run has a state, a sentence and a last event; a resumed run continues where it stopped."""

import uuid
from collections.abc import Collection, Sequence

import pytest
from django.core.exceptions import ValidationError
from django.db import OperationalError

from apps.accounts.models import User
from apps.reasoning.domain.errors import BackendUnavailable, CallFailed, RequestRejected
from apps.reasoning.inference.scripted import Faults, Pace, ScriptedBackend
from apps.reasoning.scaffolds.spec import Budget
from apps.runs.journal import run_journal as journal_module
from apps.runs.journal.run_journal import JournalWriter, RunJournal
from apps.runs.models import Run, RunStatus
from apps.runs.services import command_request, run_resume
from tests.runs.driving import drive, nonsense, quick_run, with_model

pytestmark = pytest.mark.django_db(transaction=True)


def kinds(run: Run) -> list[str]:
    return list(run.events.values_list("kind", flat=True))


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here has a broker; a task that is sent would fail loudly."""
    monkeypatch.setattr("apps.runs.services.orchestrate.delay", lambda pk: None)


def test_a_model_that_follows_no_format_ends_honestly_and_no_lemma_is_invented() -> None:
    run = quick_run()
    assert drive(run, with_model(nonsense())) == RunStatus.FINISHED
    run.refresh_from_db()
    assert run.outcome is not None
    assert (run.outcome["accepted"], run.outcome["ended_by"]) == (None, "nothing-readable")
    assert kinds(run)[-1] == "run.finished"
    assert "lemma.proposed" not in kinds(run)
    assert "output.unread" in kinds(run)
    assert run.finished_at is not None
    assert run.lease_owner == ""


def test_an_unreachable_model_server_fails_the_run_and_resume_continues_from_the_record(alice: User) -> None:
    run = quick_run()
    Run.objects.filter(pk=run.pk).update(owner=alice)
    asked: list[str] = []
    away = nonsense(asked)
    away._faults = Faults(fail=dict.fromkeys((2, 3, 4), BackendUnavailable("No server listens at 127.0.0.1:1.")))
    assert drive(run, with_model(away)) == RunStatus.FAILED
    run.refresh_from_db()
    assert "No server listens" in run.status_reason
    assert kinds(run)[-1] == "run.failed"
    run_resume(run=run, user=alice)
    again: list[str] = []
    assert drive(run, with_model(nonsense(again))) == RunStatus.FINISHED
    assert not set(asked) & set(again)
    assert "run.resumed" in kinds(run)


def test_a_request_rejected_by_the_model_is_recorded_and_the_scaffold_continues() -> None:
    run = quick_run()
    picky = ScriptedBackend(lambda request: "nothing", faults=Faults(fail={1: RequestRejected("The prompt is too long.")}))
    assert drive(run, with_model(picky)) == RunStatus.FINISHED
    failed = run.steps.exclude(failure="").get()
    assert failed.failure == "The prompt is too long."
    assert "call.failed" in kinds(run)
    assert str(CallFailed(failed.key, failed.failure)).endswith("too long.")


def test_prompts_that_changed_since_the_run_was_made_ask_for_a_fork(alice: User) -> None:
    run = quick_run()
    Run.objects.filter(pk=run.pk).update(owner=alice)
    broken = ScriptedBackend(lambda request: "x", faults=Faults(fail=dict.fromkeys((2, 3, 4), BackendUnavailable("away"))))
    assert drive(run, with_model(broken)) == RunStatus.FAILED
    run.refresh_from_db()
    run.spec["prompt_hashes"] = dict.fromkeys(run.spec["prompt_hashes"], "0" * 64)
    run.save(update_fields=["spec"])
    run_resume(run=run, user=alice)
    assert drive(run, with_model(nonsense())) == RunStatus.NEEDS_FORK
    run.refresh_from_db()
    assert "prompts" in run.status_reason


def test_a_budget_of_two_calls_is_two_calls_and_the_end_says_so() -> None:
    run = quick_run(Budget(calls=2))
    asked: list[str] = []
    assert drive(run, with_model(nonsense(asked))) == RunStatus.FINISHED
    assert len(asked) == 2
    run.refresh_from_db()
    assert run.calls == 2
    assert "budget.spent" in kinds(run)
    assert run.outcome is not None
    assert run.outcome["ended_by"] == "budget"


def test_a_cancelled_run_takes_no_more_commands(alice: User) -> None:
    run = quick_run()
    Run.objects.filter(pk=run.pk).update(owner=alice)
    command_request(run=run, user=alice, command_id=uuid.uuid4(), name="cancel")
    hanging = ScriptedBackend(lambda request: "x", faults=Faults(hang=frozenset(range(1, 99))))
    assert drive(run, with_model(hanging)) == RunStatus.CANCELLED
    assert kinds(run)[-1] == "run.cancelled"
    assert run.commands.get().state == "applied"
    with pytest.raises(ValidationError, match="accepts no commands"):
        command_request(run=run, user=alice, command_id=uuid.uuid4(), name="hint", args={"text": "Try small cases."})


def test_a_command_sent_twice_is_one_command_and_a_watcher_may_send_none(alice: User, bob: User) -> None:
    run = quick_run()
    Run.objects.filter(pk=run.pk).update(owner=alice)
    run.refresh_from_db()
    twice = uuid.uuid4()
    for _ in range(2):
        command_request(run=run, user=alice, command_id=twice, name="hint", args={"text": "Try small cases."})
    assert run.commands.count() == 1
    with pytest.raises(ValidationError, match="Only the owner"):
        command_request(run=run, user=bob, command_id=uuid.uuid4(), name="pause")
    with pytest.raises(ValidationError, match="needs a text"):
        command_request(run=run, user=alice, command_id=uuid.uuid4(), name="hint")


def test_a_hint_is_recorded_where_it_took_effect_and_marks_the_run_as_assisted(alice: User) -> None:
    run = quick_run()
    Run.objects.filter(pk=run.pk).update(owner=alice)
    run.refresh_from_db()
    command_request(run=run, user=alice, command_id=uuid.uuid4(), name="hint", args={"text": "Try small cases."})
    slow = ScriptedBackend(lambda request: "x", pace=Pace(latency_s=0.4, latency_sigma=0.0))
    assert drive(run, with_model(slow)) == RunStatus.FINISHED
    run.refresh_from_db()
    assert run.commands.get().state == "applied"
    assert run.is_assisted
    applied = run.events.get(kind="control.applied")
    assert run.steps.get(kind="decision").key == f"control/{applied.body['point']}"


def test_a_full_disk_fails_the_run_with_the_reason_and_leaves_no_half_state(monkeypatch: pytest.MonkeyPatch) -> None:
    run = quick_run()
    whole = JournalWriter._write

    def full(self: JournalWriter, plans: Sequence[object]) -> tuple[set[RunJournal], Collection[str]]:
        if any(plan.steps for plan in plans):  # type: ignore[attr-defined]
            raise OperationalError("database or disk is full")
        return whole(self, plans)  # type: ignore[arg-type]

    monkeypatch.setattr(journal_module.JournalWriter, "_write", full)
    assert drive(run, with_model(nonsense())) == RunStatus.FAILED
    run.refresh_from_db()
    assert "full" in run.status_reason
    assert run.steps.count() == 0
    monkeypatch.undo()
    Run.objects.filter(pk=run.pk).update(status=RunStatus.QUEUED)
    assert drive(run, with_model(nonsense())) == RunStatus.FINISHED


def test_a_busy_database_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    run = quick_run()
    whole = JournalWriter._write
    tries = iter(range(100))

    def busy(self: JournalWriter, plans: Sequence[object]) -> tuple[set[RunJournal], Collection[str]]:
        if next(tries) in {1, 2}:
            raise OperationalError("database is locked")
        return whole(self, plans)  # type: ignore[arg-type]

    monkeypatch.setattr(journal_module.JournalWriter, "_write", busy)
    assert drive(run, with_model(nonsense())) == RunStatus.FINISHED
    seqs = list(run.events.values_list("seq", flat=True))
    assert seqs == list(range(1, len(seqs) + 1))
