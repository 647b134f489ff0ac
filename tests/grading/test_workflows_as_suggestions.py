"""A model grader runs on a sealed script: its result is a suggestion, and crashes repeat no call."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.graders.models import GradingCall
from apps.graders.suggestions.family import gradings_stop
from apps.marks.graders import GraderStopped
from apps.marks.graders.families import GraderUnknown, grader_of, label_of
from apps.marks.models import Suggestion, SuggestionState
from apps.marks.sealing.revealing import stage_show
from apps.marks.suggestions import answering
from apps.marks.suggestions import suggesting as marks_suggesting
from apps.marks.suggestions.answering import FAMILIES, suggestions_work
from apps.marks.suggestions.suggesting import suggestions_ask, suggestions_failed, suggestions_of
from apps.problems.models import ReferenceSolution
from apps.reasoning.domain.errors import BackendUnavailable
from apps.reasoning.marking.revealing import Stage
from apps.reasoning.marking.sheets.sheet import Fallacy
from apps.reasoning.marking.suggestion import SuggestionBody
from apps.runs.models import Run
from tests.graders.answers import FOLLOWS
from tests.graders.grade import finding, grading
from tests.graders.test_neutral_rewriting import EVEN, rewriting
from tests.grading import suggesting as played
from tests.grading.suggesting import Model, problem_with, sealed_with
from tests.grading.test_grade_command import MODELS
from tests.marks.factory import claimed, sealed

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
model = played.model
SINGLE, RUBRIC = "workflow:single_turn@served", "workflow:ref5_plain@served"


def only() -> Suggestion:
    return Suggestion.objects.get()


def body() -> SuggestionBody:
    return SuggestionBody.model_validate(only().body)


def test_sealing_a_mark_starts_a_grader_whose_result_is_a_complete_suggestion(bob: User, model: Model) -> None:
    model.answers |= FOLLOWS
    mark = sealed_with(bob, RUBRIC)
    assert (only().grader, only().state) == (RUBRIC, SuggestionState.QUEUED)
    assert not model.asked
    suggestions_work(FAMILIES)
    assert list(suggestions_of(mark)) == [only()]
    suggestion = body()
    (found,) = suggestion.findings
    assert (found.step, found.fallacy, found.anchor is not None) == (2, Fallacy.EXAMPLE, True)
    (chain,) = suggestion.chains
    assert [(link.name, link.step) for link in chain.links] == [("E1", 2), ("M2", 3)]
    assert {item.code: item.points for item in suggestion.given} == {"M1": Decimal("2.5"), "M2": Decimal(0)}
    assert [item.most for item in suggestion.given] == [Decimal(3), Decimal(4)]
    assert [(one.points, one.share) for one in suggestion.distribution] == [(Decimal("2.5"), 1.0)]
    assert suggestion.scale == 7
    assert suggestion.cost is not None
    assert (suggestion.cost.calls, suggestion.cost.prompt_tokens) == (5, 50)
    assert not Run.objects.exists(), "a run would have a page that reveals the result before others have sealed"


def test_the_second_script_of_a_problem_makes_two_calls(bob: User, model: Model) -> None:
    model.answers |= FOLLOWS
    problem = problem_with(bob, RUBRIC, scripts=2)
    for _ in range(2):
        sealed(claimed(problem, bob), bob)
        suggestions_work(FAMILIES)
    costs = [SuggestionBody.model_validate(row.body).cost for row in Suggestion.objects.order_by("pk")]
    assert [cost and (cost.calls, cost.reused) for cost in costs] == [(5, 0), (2, 3)]


def test_an_interrupted_grading_continues_where_it_stopped(bob: User, model: Model) -> None:
    model.answers |= {"rubric/*": BackendUnavailable(), **FOLLOWS}
    mark = sealed_with(bob, RUBRIC)
    suggestions_work(FAMILIES)
    assert only().state == SuggestionState.FAILED
    assert "cannot be reached" in only().reason
    assert list(suggestions_failed(mark)) == [only()]
    made = GradingCall.objects.count()
    assert made == 3
    model.answers = dict(FOLLOWS)
    model.asked.clear()
    suggestions_ask(mark.task.case, mark.scheme_version)
    suggestions_work(FAMILIES)
    assert only().state == SuggestionState.DONE
    assert model.asked == ["rubric/C1/plain/steps", "grade/ref5_plain"]
    cost = body().cost
    assert cost is not None
    assert cost.calls == 5


def test_an_unreadable_answer_is_a_suggestion_without_points(bob: User, model: Model) -> None:
    model.answers = {"*": "I like turtles."}
    mark = sealed_with(bob, SINGLE)
    suggestions_work(FAMILIES)
    suggestion = body()
    assert suggestions_of(mark).count() == 1
    assert suggestion.distribution == ()
    assert suggestion.expected is None
    assert "there is no <grading>" in suggestion.unscored
    assert suggestion.raw == "I like turtles."


def test_a_finding_without_a_step_is_unplaced_and_an_unknown_quote_is_reported(bob: User, model: Model) -> None:
    model.answers["grade"] = grading(1, finding(1, step=0, quote=""), finding(2, step=1, quote="words not in the script"))
    sealed_with(bob, SINGLE)
    suggestions_work(FAMILIES)
    suggestion = body()
    assert [one.id for one in suggestion.unplaced] == ["E1"]
    assert [(one.id, one.step, one.anchor) for one in suggestion.findings] == [("E2", 1, None)]
    assert "the quote does not appear in the script" in suggestion.findings[0].words


def test_a_scheme_grader_ticks_items_of_the_scheme_version(bob: User, model: Model) -> None:
    ticks = "".join(
        f'<item code="{code}" met="{met}">Seen.</item>'
        for code, met in (("A1", "true"), ("A2", "false"), ("B1", "false"), ("K5", "false"), ("D1", "false"))
    )
    model.answers["*"] = f"<grading>{ticks}</grading>"
    mark = sealed_with(bob, "workflow:scheme@served")
    suggestions_work(FAMILIES)
    assert only().scheme_version == mark.scheme_version
    assert [one.code for one in body().items] == ["A1"]
    assert body().expected == 3


def test_a_removed_model_gives_a_failure_reason_and_sealing_still_works(
    bob: User, model: Model, settings: LazySettings
) -> None:
    mark = sealed_with(bob, SINGLE)
    settings.MODELS_FILE.write_text(MODELS.replace("[served]", "[other]"))
    suggestions_work(FAMILIES)
    assert only().state == SuggestionState.FAILED
    assert "No grading model served" in only().reason
    Suggestion.objects.all().delete()
    suggestions_ask(mark.task.case, mark.scheme_version)
    assert not Suggestion.objects.exists()


def test_the_settings_name_graders_for_problems_without_their_own(bob: User, model: Model, settings: LazySettings) -> None:
    settings.MARKING_GRADERS = ["computational", SINGLE]
    problem = problem_with(bob)
    problem.setup.graders = None
    problem.setup.save()
    sealed(claimed(problem, bob), bob)
    assert set(Suggestion.objects.values_list("grader", flat=True)) == {"computational", SINGLE}


def test_other_references_change_the_digest_of_a_grader(bob: User, model: Model) -> None:
    stated = problem_with(bob).version
    before = grader_of(SINGLE, stated, None).revision
    assert grader_of(SINGLE, stated, None).revision == before
    ReferenceSolution.objects.filter(problem=stated.problem).first().delete()  # type: ignore[union-attr]
    assert grader_of(SINGLE, stated, None).revision != before


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("workflow:oracle@served", "No grader oracle"),
        ("workflow:single_turn@big", "No grading model big"),
        ("workflow:scheme@served", "needs a marking scheme"),
        ("nonsense", "no grader nonsense"),
        ("other:thing", "no grader other"),
    ],
)
def test_an_unusable_grader_is_refused_with_the_reason(bob: User, model: Model, name: str, why: str) -> None:
    with pytest.raises(GraderUnknown, match=why):
        grader_of(name, problem_with(bob).version, None)


def test_a_neutral_rewriting_can_be_chosen_and_is_judged_and_stored(bob: User, model: Model, client_for: ClientFor) -> None:
    model.answers |= {"rewrite": rewriting(*EVEN), "grade": grading(2, finding(quote="asserted for all $n$"))}
    problem = problem_with(bob)
    url = reverse("marks:setup", kwargs={"problem_id": problem.public_id})
    values = {"scheme": problem.setup.scheme.pk if problem.setup.scheme else "", "markers": "1", "unrevealed_percent": "0"}
    chosen = {"remark_percent": "0", "grader_one": SINGLE, "is_neutral": "on"}
    assert client_for(bob).post(url, values | chosen).status_code == 302
    problem.setup.refresh_from_db()
    assert problem.setup.graders == ["workflow:single_turn+neutral@served"]
    assert label_of(problem.setup.graders[0]) == "Single turn in a neutral rewriting · A server"
    mark = sealed(claimed(problem, bob), bob)
    suggestions_work(FAMILIES)
    assert body().rewriting == EVEN
    assert (body().findings[0].step, body().findings[0].anchor) == (2, None)
    stage_show(mark=mark, stage=Stage.LOCATIONS)
    reveal = reverse("marks:reveal", kwargs={"task_id": mark.task.public_id})
    assert "The grader judged this neutral rewriting" not in client_for(bob).get(reveal).content.decode()
    stage_show(mark=mark, stage=Stage.FINDINGS)
    assert "The grader judged this neutral rewriting" in client_for(bob).get(reveal).content.decode()


def test_pages_name_a_workflow_by_its_title_and_its_model(model: Model) -> None:
    assert label_of(RUBRIC) == "Rubric · A server"
    assert label_of("workflow:gone@gone") == "gone · gone"


def test_an_expired_suggestion_is_answered_and_a_leased_one_is_left_alone(bob: User, model: Model) -> None:
    model.answers["grade"] = grading(2)
    sealed_with(bob, SINGLE)
    now = timezone.now()
    Suggestion.objects.update(state=SuggestionState.RUNNING, started_at=now, lease_until=now + timedelta(minutes=1))
    suggestions_work(FAMILIES)
    assert only().state == SuggestionState.RUNNING
    Suggestion.objects.update(lease_until=now - timedelta(seconds=1))
    suggestions_work(FAMILIES)
    assert only().state == SuggestionState.DONE


def test_a_suggestion_lost_with_its_process_is_sent_again(bob: User, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    sealed_with(bob, SINGLE)
    sent: list[str] = []
    monkeypatch.setattr(marks_suggesting, "suggestions_send", sent.append)
    marks_suggesting.suggestions_resend()
    assert sent == [], "it was requested just now"
    Suggestion.objects.update(created_at=timezone.now() - timedelta(minutes=3))
    marks_suggesting.suggestions_resend()
    assert sent == [FAMILIES]
    Suggestion.objects.update(state=SuggestionState.RUNNING, lease_until=timezone.now() - timedelta(seconds=1))
    marks_suggesting.suggestions_resend()
    assert sent == [FAMILIES, FAMILIES]


def test_a_slow_grader_renews_its_lease(bob: User, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    sealed_with(bob, SINGLE)
    renewed = []
    monkeypatch.setattr(answering, "RENEWED_EVERY_S", 0.01)
    monkeypatch.setattr(answering, "lease_renew", lambda pk: renewed.append(pk))
    with answering.held(only().pk):
        while len(renewed) < 2:
            pass
    assert set(renewed) == {only().pk}


def test_an_exiting_process_returns_the_suggestion_to_the_queue(
    bob: User, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    from apps.graders.suggestions import family as suggesting

    sealed_with(bob, SINGLE)
    gradings_stop()
    try:
        suggestions_work(FAMILIES)
    finally:
        suggesting._stopping.clear()
    assert only().state == SuggestionState.QUEUED
    assert issubclass(GraderStopped, Exception)


def test_an_organiser_chooses_a_workflow_and_a_model(bob: User, model: Model, client_for: ClientFor) -> None:
    problem = problem_with(bob, "computational")
    url = reverse("marks:setup", kwargs={"problem_id": problem.public_id})
    client = client_for(bob)
    page = client.get(url).content.decode()
    assert "A server" in page
    values = {
        "scheme": problem.setup.scheme.pk if problem.setup.scheme else "",
        "markers": "1",
        "unrevealed_percent": "0",
        "remark_percent": "0",
        "grader_one": RUBRIC,
    }
    assert client.post(url, values).status_code == 302
    problem.setup.refresh_from_db()
    assert problem.setup.graders == [RUBRIC]
    assert f'value="{RUBRIC}" selected' in client.get(url).content.decode()
    ReferenceSolution.objects.all().delete()
    refused = client.post(url, values)
    assert refused.status_code == 422
    assert "needs a reference solution" in refused.content.decode()


def test_suggestions_are_hidden_before_sealing(bob: User, dana: User, model: Model, client_for: ClientFor) -> None:
    model.answers["grade"] = grading(2, finding())
    mark = sealed_with(bob, SINGLE)
    suggestions_work(FAMILIES)
    client = client_for(dana)
    for name, argument in (("marks:reveal", mark.task.public_id),):
        assert client.get(reverse(name, kwargs={"task_id": argument})).status_code == 404
    assert "Three instances" not in client.get(reverse("explorations:run_list")).content.decode()
