"""A script that exceeds a model's context: the estimate warns of it, and its grading fails instead of being unscored."""

import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.agreement.cards import cards_for
from apps.agreement.sources.sets import SetSource
from apps.agreement.sources.sources import Chosen
from apps.experiments.models import CellState
from apps.experiments.services import experiment_retry
from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.graders.grading import Grading, as_pass, failure_in
from tests.experiments.driving import Stage, is_over, make_experiment, make_set
from tests.graders.grade import grading
from tests.grading.test_grade_command import MODELS

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]
TOO_LONG = "The prompt has 4661 tokens; the model's context holds 2048. Choose a model with a longer context."


def refused(_: GenerationRequest) -> str:
    raise RequestRejected(TOO_LONG)


def estimate(client: Client, **changes: object) -> str:
    data = {
        "title": "Trial", "workflows": ["single_turn"], "aliases": ["served"], "at_once": 4, "seed": 0,
        "start_id": str(uuid.uuid4()), **changes,
    }  # fmt: skip
    return client.post(reverse("experiments:new"), data, headers={"HX-Request": "true"}).content.decode()


def test_the_estimate_warns_of_scripts_that_exceed_the_context_of_a_model(
    alice: User, client_for: ClientFor, settings: LazySettings
) -> None:
    graded_set, client = make_set(3), client_for(alice)
    graded_set.scripts.filter(position=1).update(text="Even. " * 2_000)
    source = f"set:{graded_set.public_id}"
    assert "will not fit" not in estimate(client, source=source)
    Path(settings.MODELS_FILE).write_text(MODELS + MODELS.replace("served", "short").replace("32768", "3000"))
    content = estimate(
        client,
        source=source,
        aliases=["served", "short"],
        workflows=["single_turn", "ref5_plain"],
        judged=["script", "neutral"],
    )
    assert "1 of 3 sampled scripts will not fit into the 3,000 tokens of short" in content
    assert "tokens of served" not in content
    Path(settings.MODELS_FILE).write_text(MODELS.replace("32768", "100"))
    assert "3 of 3 sampled scripts will not fit into the 100 tokens of served" in estimate(client, source=source)


def test_a_grading_without_an_answer_fails_and_does_not_count_as_unscored(
    alice: User, stage: Stage, answers: dict[str, object], client_for: ClientFor
) -> None:
    answers["*"] = lambda request: refused(request) if "Version 0." not in str(request.messages) else "I like turtles."
    experiment = stage.play(make_experiment(alice, make_set(9), at_once=2))
    assert is_over(experiment), "a script that is too long does not count towards pausing"
    failed = experiment.cells.filter(state=CellState.FAILED)
    assert set(failed.values_list("trouble", "unscored", "points")) == {(TOO_LONG, "", None)}
    assert (failed.count(), experiment.cells.filter(state=CellState.UNSCORED).count()) == (8, 1)
    assert experiment.graded_set is not None
    source = SetSource(experiment.graded_set)
    (pairs,) = source.gather(Chosen(human="people")).graders.values()
    assert [one.paper for one in pairs] == ["S1"]
    assert source.about.endswith("Excluded: 8 failed experiment gradings.")
    (card,) = cards_for(alice)
    assert (len(card.gradings), card.unscored) == (1, 1)
    run = failed[0].run
    assert run is not None
    page = client_for(alice).get(reverse("graders:detail", args=[run.public_id])).content.decode()
    assert "<strong>Not graded.</strong> No answer came: The prompt has 4661 tokens" in page
    assert "Unscored" not in page
    answers["*"] = grading(4)
    assert experiment_retry(experiment=experiment) == 8
    assert is_over(stage.play(experiment))
    assert experiment.cells.filter(state=CellState.SCORED).count() == 8


def test_a_combined_grading_fails_only_if_no_call_was_answered() -> None:
    lost = Grading(workflow="single_turn", unscored="the call failed: It is away.")
    read, unread = (
        Grading(workflow="single_turn", points=Decimal(3)),
        Grading(workflow="single_turn", unscored="there are no points"),
    )
    assert (lost.failure, lost.sentence) == ("It is away.", "Not graded: no model answered. It is away.")
    assert (read.failure, unread.failure) == ("", "")
    for passes, failure in (((lost, lost), "It is away."), ((lost, unread), ""), ((lost, read), "")):
        reasons = [as_pass("one", one).unscored for one in passes]
        assert failure_in("0 of 2 gradings could be read", reasons) == failure
    assert failure_in("", ["the call failed: It is away."]) == "", "it has points"
