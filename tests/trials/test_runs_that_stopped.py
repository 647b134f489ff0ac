"""Failed, cancelled and unwatched runs of a trial, on its page and on the command line."""

import io
from collections.abc import Callable

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.reasoning.inference.aliases import load_aliases
from apps.runs.models import Run, RunStatus
from apps.trials.management.commands import try_model
from apps.trials.report import trial_table
from apps.trials.selectors import trials_of, weak_roles
from apps.trials.services import TrialPlan, trial_start
from tests.trials.test_the_trial_of_a_model import tried

pytestmark = pytest.mark.django_db(transaction=True)


def stopping(settings: Settings, status: RunStatus, reason: str, *, problems: int = 1, calls: int = 0) -> list[Run]:
    """A trial whose runs ended early; with `calls`, after all answers."""
    if calls:
        runs = tried(settings, problems=problems)
    else:
        plan = TrialPlan(load_aliases(settings.MODELS_FILE)["prover"], problems, ("self_check",))
        runs = trial_start(user=None, plan=plan, start=False)
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(status=status, status_reason=reason)
    return runs


def test_the_page_shows_failed_runs_with_their_reason_next_to_the_result(
    settings: Settings, client_for: Callable[[User | None], Client], bob: User
) -> None:
    (run,) = stopping(settings, RunStatus.FAILED, "The model server cannot be reached.")
    page = " ".join(client_for(bob).get(reverse("trials:trial", args=["prover"])).content.decode().split())
    assert "No answer yet, on 1 problem; 1 of 1 runs failed." in page
    shown = page.partition("<summary>Runs (1)")[0]
    assert reverse("explorations:run_detail", args=[run.public_id]) in shown
    assert "failed. The model server cannot be reached." in shown
    assert "This model has not been tried yet" not in page


def test_a_result_mentions_cancelled_runs(settings: Settings, client_for: Callable[[User | None], Client], bob: User) -> None:
    stopping(settings, RunStatus.CANCELLED, "The run was cancelled.", calls=1)
    page = " ".join(client_for(bob).get(reverse("trials:trial", args=["prover"])).content.decode().split())
    assert "3 of 6</strong> answers were read, on 1 problem; 1 of 1 runs was cancelled early." in page
    assert trial_table(trials_of(None, "prover")[0]).splitlines()[0].endswith("; 1 of 1 runs was cancelled early.")


def test_a_failed_run_is_hidden_once_a_newer_run_exists(settings: Settings) -> None:
    stopping(settings, RunStatus.FAILED, "The model server cannot be reached.")
    tried(settings)
    (trial,) = trials_of(None, "prover")
    assert trial.stopped == []


def test_failed_runs_do_not_hide_the_result_of_an_earlier_revision(settings: Settings, models: Callable[[str], None]) -> None:
    tried(settings)
    models("two")
    stopping(settings, RunStatus.FAILED, "The model server cannot be reached.")
    assert {one.role for one in weak_roles("prover", "self_check")} == {"solver", "improver", "corrector"}


def test_the_list_of_runs_shows_start_times_and_limits(
    settings: Settings, client_for: Callable[[User | None], Client], bob: User
) -> None:
    tried(settings, problems=2)
    newest = Run.objects.latest("pk")
    newest.spec["roles"]["model"]["sampling"]["max_new_tokens"] = 300
    newest.save(update_fields=["spec"])
    page = " ".join(client_for(bob).get(reverse("trials:trial", args=["prover"])).content.decode().split())
    assert "Runs (2), with different limits on new tokens" in page
    for limit in ("2,048", "300"):
        assert f"at most {limit} new tokens a call" in page
    assert "finished, started <time" in page


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Callable[[RunStatus, str], None]:
    """A stack that gives every run of a trial this status as soon as it starts."""

    def ends(status: RunStatus, reason: str) -> None:
        def start(*, user: User | None, plan: TrialPlan) -> list[Run]:
            runs = trial_start(user=user, plan=plan, start=False)
            Run.objects.filter(pk__in=[run.pk for run in runs]).update(status=status, status_reason=reason)
            return runs

        monkeypatch.setattr(try_model, "trial_start", start)
        monkeypatch.setattr(try_model, "is_stack_up", lambda: True)

    return ends


def test_the_command_prints_why_a_run_failed_and_what_to_do(stack: Callable[[RunStatus, str], None]) -> None:
    stack(RunStatus.FAILED, "The model server cannot be reached.")
    out, err = io.StringIO(), io.StringIO()
    with pytest.raises(SystemExit):
        call_command("try_model", "prover", "--problems", "1", "--method", "self_check", stdout=out, stderr=err)
    run = Run.objects.get()
    assert "failed. The model server cannot be reached." in err.getvalue()
    assert reverse("explorations:run_detail", args=[run.public_id]) in err.getvalue()
    assert "Check the entry of prover in models.toml and its server, then run this command again." in err.getvalue()
    assert "1 of 1 runs failed" in out.getvalue()
    assert "not been tried" not in out.getvalue() + err.getvalue()


def test_an_interrupted_command_reports_that_the_run_continues(
    stack: Callable[[RunStatus, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    stack(RunStatus.RUNNING, "")

    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", interrupted)
    with pytest.raises(CommandError) as error:
        call_command("try_model", "prover", "--problems", "1", "--method", "self_check", stdout=io.StringIO())
    address = reverse("explorations:run_detail", args=[Run.objects.get().public_id])
    assert str(error.value).startswith("Stopped watching; the run continues. To cancel it, open its page and choose Cancel.")
    assert address in str(error.value)
