"""Formulas of a lemma that a person lets a proof assistant check: the button, the job, the answer, the file, the rights."""

import html
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from apps.accounts.models import Role
from apps.lemmas.kernel import services
from apps.lemmas.kernel.models import KernelCheck, KernelState
from apps.lemmas.kernel.services import LOST_AFTER
from apps.lemmas.kernel.work import kernel_work
from apps.runs.models import Run
from tests.lemmas.checked import checked, finding
from tests.lemmas.factory import make_story_run, make_user
from tests.lemmas.story import story
from tests.mathcheck.kernel.fakes import fake_lean

pytestmark = pytest.mark.django_db
LEMMA, STEP, QUOTE = "s0.7", "step 1", "a^4 - 1 = (a^2 - 1)(a^2 + 1)"
CHECKED = "echo \"'claim' depends on axioms: [propext]\""


@pytest.fixture
def run(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Run:
    """A run with a formula that survived, and Lean as the only proof assistant; no job is sent."""
    settings.LEAN_BIN, settings.COQ_BIN = str(fake_lean(tmp_path, CHECKED)), "/nowhere/coqc"
    monkeypatch.setattr(services, "_send", lambda: None)
    client.force_login(make_user("ada"))
    return make_story_run([*story(), checked(LEMMA, finding(LEMMA, STEP, QUOTE))])


def page(client: Client, run: Run) -> str:
    return html.unescape(client.get(f"/runs/{run.public_id}/lemmas/{LEMMA}/").content.decode())


def place() -> dict[str, object]:
    anchor = finding(LEMMA, STEP, QUOTE).anchor
    return {"subject": LEMMA, "where": STEP, "start": anchor.start, "end": anchor.end, "tool": "lean"}


def ask(client: Client, run: Run, **changes: object) -> int:
    return client.post(f"/runs/{run.public_id}/kernel/", {**place(), **changes}, headers={"HX-Request": "true"}).status_code


def test_a_formula_is_asked_waits_is_checked_and_has_its_file(client: Client, run: Run) -> None:
    assert "Check with Lean" in page(client, run)
    assert "Check with Coq" not in page(client, run)
    assert ask(client, run) == 200
    row = KernelCheck.objects.get()
    state = client.get(f"/runs/{run.public_id}/kernel/{row.pk}/").content.decode()
    assert 'hx-trigger="every 2s"' in state
    assert "Check with Lean" not in state
    kernel_work()
    answered = html.unescape(client.get(f"/runs/{run.public_id}/kernel/{row.pk}/").content.decode())
    assert "hx-trigger" not in answered
    assert "Checked by Lean 4.9.0" in answered
    assert "theorem claim (a : ℝ)" in answered
    file = client.get(f"/runs/{run.public_id}/kernel/{row.pk}/file/")
    assert file["Content-Disposition"] == 'attachment; filename="claim.lean"'
    assert "import Mathlib" in file.content.decode()
    assert "Checked by Lean 4.9.0" in page(client, run)


def test_a_question_is_asked_once(client: Client, run: Run) -> None:
    assert (ask(client, run), ask(client, run)) == (200, 200)
    kernel_work()
    assert ask(client, run) == 200
    assert KernelCheck.objects.get().state == KernelState.DONE


def test_a_lost_request_may_be_made_again(client: Client, run: Run) -> None:
    ask(client, run)
    KernelCheck.objects.update(state=KernelState.RUNNING, asked_at=timezone.now() - 2 * LOST_AFTER)
    assert "Check with Lean" in page(client, run)
    ask(client, run)
    assert KernelCheck.objects.get().state == KernelState.QUEUED


@pytest.mark.parametrize(
    "changes", [{"start": "0"}, {"start": "x"}, {"subject": "s9.9"}, {"tool": "coq"}, {"tool": "sh"}, {"where": "step 9"}]
)
def test_only_a_tested_formula_of_the_run_and_a_configured_tool_are_accepted(
    client: Client, run: Run, changes: dict[str, str]
) -> None:
    assert ask(client, run, **changes) == 404
    assert not KernelCheck.objects.exists()


def test_the_rights_are_those_of_the_run(client: Client, run: Run) -> None:
    ask(client, run)
    kernel_work()
    row = KernelCheck.objects.get()
    client.force_login(make_user("stu", Role.STUDENT))
    for path in ("", "file/"):
        assert client.get(f"/runs/{run.public_id}/kernel/{row.pk}/{path}").status_code == 404
    assert ask(client, run) == 404
    client.force_login(make_user("bob"))
    other = make_story_run()
    assert client.get(f"/runs/{other.public_id}/kernel/{row.pk}/file/").status_code == 404


def test_without_a_proof_assistant_there_is_no_button_and_answers_stay(client: Client, run: Run, settings: Settings) -> None:
    ask(client, run)
    kernel_work()
    settings.LEAN_BIN = ""
    shown = page(client, run)
    assert "Checked by Lean 4.9.0" in shown
    assert "Check with" not in shown


def test_a_job_that_fails_says_so_and_may_be_repeated(client: Client, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(client, run)
    monkeypatch.setattr("apps.lemmas.kernel.work.parts_of", lambda *_: 1 / 0)
    kernel_work()
    shown = page(client, run)
    assert "The check failed; the server log has the error." in shown
    assert "Check with Lean" in shown
