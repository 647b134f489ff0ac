"""Formulas that our check did not understand, read by a model: what counts, what is tested, what a page says, who may ask."""

import html
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from apps.accounts.models import Role
from apps.lemmas.readings.items import ReadItem
from apps.lemmas.readings.models import ModelReadings, ReadingState
from apps.lemmas.readings.work import readings_work
from apps.reasoning.domain.errors import BackendError, BackendRefused
from apps.reasoning.domain.generation import Final, GenerationRequest
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.ports import Dispatcher
from apps.runs.models import Run
from tests.lemmas.checked import checked
from tests.lemmas.factory import make_story_run, make_user
from tests.lemmas.story import story
from tests.reasoning.checked import CheckingDispatcher, verifier

pytestmark = pytest.mark.django_db
EVEN, REFUTED, UNTOUCHED = "s0.6", "s1.9", "s0.2"
MODELS = """
[small]
backend = "openvino"
title = "The small one"
model = "m"

[other]
backend = "openvino"
title = "The other one"
model = "m"
"""
SAME = {"comparison": "Both say it of all odd integers.", "verdict": "same"}

Answer = Callable[[GenerationRequest], dict[str, Any] | str | BackendError]


def reading(claim: str, *conditions: str, **names: str) -> dict[str, Any]:
    named = [{"name": name, "domain": domain.replace("_", " ")} for name, domain in names.items()]
    return {"names": named, "conditions": list(conditions), "claim": claim}


EVEN_READING = reading(r"2\mid a^2+1", a="odd_integer")


@pytest.fixture
def run(client: Client, tmp_path: Path, settings: Settings) -> Run:
    """A run in which the formulas of two lemmas were not understood, asked about by its owner."""
    settings.MODELS_FILE, settings.SANDBOX = tmp_path / "models.toml", "bare"
    settings.MODELS_FILE.write_text(MODELS)
    client.force_login(make_user("ada"))
    run = make_story_run([*story(), checked(EVEN, unread=2), checked(REFUTED, unread=1), checked(UNTOUCHED)])
    run.spec = {"roles": {"reasoner": {"alias": "other"}}}
    run.save()
    return run


def page(client: Client, run: Run, lemma: str = EVEN) -> str:
    return html.unescape(client.get(f"/runs/{run.public_id}/lemmas/{lemma}/").content.decode())


def ask(client: Client, run: Run, subject: str = EVEN, alias: str = "small", *, is_partial: bool = True) -> int:
    headers = {"HX-Request": "true"} if is_partial else {}
    sent = {"subject": subject, "alias": alias}
    return client.post(f"/runs/{run.public_id}/readings/", sent, headers=headers).status_code


class Model(CheckingDispatcher):
    """The real verifier as the sandbox, and a model that is a function."""

    def __init__(self, answer: Answer) -> None:
        super().__init__({}, verifier)
        self.answer = answer
        self.prompts: list[tuple[str, str]] = []

    async def dispatch(self, request: GenerationRequest) -> Final:
        if request.job != "generate":
            return await super().dispatch(request)
        self.prompts.append((request.role, request.messages[-1].content))
        said = self.answer(request)
        if isinstance(said, BackendError):
            raise said
        text = said if isinstance(said, str) else json.dumps(said)
        return Final(text=text, finish_reason="stop", duration_s=0.1)


def worked(read: dict[str, Any] | str | BackendError, compared: dict[str, Any] | str = SAME) -> Model:
    """Answer all requests by a model with one reading and one comparison."""
    model = Model(lambda request: read if request.role == "reader" else compared)

    @asynccontextmanager
    async def scripted(_run: str, _aliases: Sequence[Alias]) -> AsyncIterator[Dispatcher]:
        yield model

    readings_work(scripted)
    return model


def items() -> list[ReadItem]:
    return [ReadItem.model_validate(one) for one in ModelReadings.objects.get().items]


def test_a_reading_that_counts_is_tested_and_shown_apart(client: Client, run: Run) -> None:
    before = page(client, run)
    assert "Read with a model" in before
    assert before.index("The other one") < before.index("The small one"), "the model of the run comes first"
    assert ask(client, run) == 200
    row = ModelReadings.objects.get()
    state = client.get(f"/runs/{run.public_id}/readings/{row.pk}/").content.decode()
    assert 'hx-trigger="every 2s"' in state
    assert "Read with a model" not in state
    model = worked(EVEN_READING)
    read = page(client, run)
    assert "Readings by a model: small" in read
    assert "For all odd integers" in read
    assert "every residue" in read, "the certificate of the test"
    assert "an outcome is about the sentence only" in read
    assert "0 formulas proved" not in read
    assert "2 not understood" in read, "our own finding stays"
    found = {one.text_id: one for one in items()}
    assert found["statement"].state == "counts"
    assert found["statement"].finding is not None
    assert found["statement"].finding.outcome == "proved"
    assert [role for role, _ in model.prompts].count("judge") == 2
    assert ModelReadings.objects.get().calls == 4


def test_the_second_call_sees_the_text_and_the_sentence_only(client: Client, run: Run) -> None:
    ask(client, run)
    prompts = worked(EVEN_READING).prompts
    asked = next(prompt for role, prompt in prompts if role == "reader" and "the number" in prompt.split("## The sentence")[1])
    compared = next(prompt for role, prompt in prompts if role == "judge" and "[[$a^2 + 1$ is even]]" in prompt)
    assert "Prove that $240" in asked
    assert r"For all odd integers $a$: $2\mid a^2+1$." in compared
    assert '"names"' not in compared
    step = next(prompt for role, prompt in prompts if role == "reader" and "odd number plus one" in prompt)
    assert "For every odd integer $a$ the number" in step, "the statement of the lemma is the context of its proof"


def test_a_refutation_refutes_the_reading(client: Client, run: Run) -> None:
    ask(client, run, REFUTED)
    worked(reading(r"5\mid a^2-1", r"5\nmid a", a="integer"))
    read = page(client, run, REFUTED)
    assert "The reading is <strong>refuted</strong>" in read
    assert "refuted, in" not in read, "the formula check of the lemma is as it was"
    run.refresh_from_db()
    assert not run.events.filter(kind="formulas.checked", body__outcome="refuted").exists()


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("different", "a second call says that the sentence claims something else"),
        ("unsure", "a second call cannot say whether the sentence claims the same"),
    ],
)
def test_a_reading_that_changes_the_claim_is_not_tested(client: Client, run: Run, verdict: str, words: str) -> None:
    ask(client, run)
    model = worked(reading(r"4\mid a^2+1", a="odd_integer"), {"comparison": "Four is not two.", "verdict": verdict})
    assert [one.state for one in items()] == [verdict, verdict]
    assert [one.key for one in model.checks] == ["check"], "only our first check was made"
    read = page(client, run)
    assert words in read
    assert "No reading counts." in read
    assert "2 formulas without a reading that counts" in read


def test_a_claim_that_is_not_the_marked_formula_is_asked_for_again(client: Client, run: Run) -> None:
    ask(client, run, REFUTED)
    model = worked(reading(r"5\mid a^4-1", r"5\nmid a", a="integer"))
    assert [role for role, _ in model.prompts] == ["reader", "reader"], "and no second call compares it"
    assert "is not the marked formula" in model.prompts[1][1]
    assert items()[0].state == "unread"
    assert "is not the marked formula" in page(client, run, REFUTED)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("I am not sure.", "there is no JSON object with a claim"),
        (reading("f(a)=1", a="integer"), "unknown function"),
        (reading("a=b", a="integer"), "is used without a domain"),
        (reading("none"), "the model says that the claim has no such form"),
    ],
)
def test_an_unread_answer_is_said_with_its_reason(client: Client, run: Run, said: Any, reason: str) -> None:
    ask(client, run, EVEN)
    worked(said)
    assert {one.state for one in items()} == {"unread"}
    assert reason in page(client, run)


def test_a_comparison_that_cannot_be_read_does_not_count(client: Client, run: Run) -> None:
    ask(client, run)
    worked(EVEN_READING, "Perhaps.")
    assert {one.state for one in items()} == {"unsure"}
    assert "the comparison cannot be read" in page(client, run)


def test_a_model_that_is_down_ends_the_request_with_the_reason(client: Client, run: Run) -> None:
    ask(client, run)
    worked(BackendRefused("No worker serves small."))
    assert "No worker serves small." in page(client, run)
    assert ModelReadings.objects.get().state == ReadingState.FAILED
    assert "Read with a model" in page(client, run)
    assert ask(client, run) == 200
    assert ModelReadings.objects.get().state == ReadingState.QUEUED


def test_a_model_without_an_answer_is_given_up(client: Client, run: Run, settings: Settings) -> None:
    settings.HINT_WITHIN_S = 0.05
    ask(client, run)

    @asynccontextmanager
    async def silent(_run: str, _aliases: Sequence[Alias]) -> AsyncIterator[Dispatcher]:
        yield CheckingDispatcher({}, hangs=True)

    readings_work(silent)
    assert "Does an inference worker serve small?" in ModelReadings.objects.get().reason


def test_without_the_model_or_the_sandbox_nothing_is_asked(client: Client, run: Run, settings: Settings) -> None:
    ask(client, run)
    settings.SANDBOX = "off"
    worked(EVEN_READING)
    assert "The sandbox is off" in ModelReadings.objects.get().reason
    ask(client, run)
    settings.MODELS_FILE.write_text(MODELS.replace("[small]", "[gone]"))
    worked(EVEN_READING)
    assert "models.toml has no model small" in ModelReadings.objects.get().reason


def test_a_request_is_made_once_and_continued_after_its_process_died(client: Client, run: Run, settings: Settings) -> None:
    assert (ask(client, run), ask(client, run)) == (200, 200)
    worked(EVEN_READING)
    kept = ModelReadings.objects.get().items[:1]
    long_ago = timezone.now() - timedelta(seconds=3 * settings.HINT_WITHIN_S)
    ModelReadings.objects.update(state=ReadingState.RUNNING, touched_at=long_ago, items=kept)
    model = worked(EVEN_READING)
    assert [role for role, _ in model.prompts] == ["reader", "judge"], "the first formula is not read again"
    assert len(items()) == 2


@pytest.mark.parametrize(("subject", "alias"), [("s9.9", "small"), (UNTOUCHED, "small"), (EVEN, "gone"), (EVEN, "")])
def test_only_texts_with_such_formulas_and_models_that_may_be_used_are_accepted(
    client: Client, run: Run, subject: str, alias: str
) -> None:
    assert ask(client, run, subject, alias) == 404
    assert not ModelReadings.objects.exists()
    assert "Read with a model" not in page(client, run, UNTOUCHED)


def test_who_may_only_watch_sees_readings_and_no_button(client: Client, run: Run) -> None:
    ask(client, run)
    worked(EVEN_READING)
    row = ModelReadings.objects.get()
    client.force_login(make_user("coach", Role.COACH))
    assert ask(client, run, alias="other") == 403
    assert "For all odd integers" in page(client, run)
    assert "Read with a model" not in page(client, run)
    client.force_login(make_user("stu", Role.STUDENT))
    assert ask(client, run, alias="other") == 404
    assert client.get(f"/runs/{run.public_id}/readings/{row.pk}/").status_code == 404


def test_without_scripts_the_button_leads_back_and_readings_go_with_their_run(client: Client, run: Run) -> None:
    assert ask(client, run, is_partial=False) == 302
    other = make_story_run()
    row = ModelReadings.objects.get()
    assert client.get(f"/runs/{other.public_id}/readings/{row.pk}/").status_code == 404
    run.delete()
    assert not ModelReadings.objects.exists()
