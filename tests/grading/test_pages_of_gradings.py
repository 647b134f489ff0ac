"""A pasted script is graded in a run and shown with findings at its steps; its pieces are reused by the next script."""

import contextlib
import uuid
from collections.abc import AsyncIterator, Callable
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.graders import starting
from apps.graders.models import PreparedPiece
from apps.graders.planning.plans import GradingPlan
from apps.problems.models import Problem
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.reasoning.ports import Dispatcher
from apps.runs.journal.run_journal import RunJournal
from apps.runs.models import Run, RunStatus
from tests.graders.answers import FOLLOWS
from tests.graders.grade import SCRIPT, finding, grading
from tests.grading.test_grade_command import MODELS
from tests.problems.factory import ANSWER, make_problem
from tests.reasoning.checked import verifier
from tests.runs.driving import drive

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]


@pytest.fixture(autouse=True)
def models(settings: LazySettings, tmp_path: Path) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)


def graded(
    user: User, problem: Problem, workflow: str, texts: dict[str, str], script: str = SCRIPT, **overrides: object
) -> Run:
    """Start a grader's run and play it to its end."""

    def answer(request: GenerationRequest) -> str:
        return next(text for pattern, text in texts.items() if fnmatchcase(request.key, pattern))

    @contextlib.asynccontextmanager
    async def scripted(_run: Run, _journal: RunJournal) -> AsyncIterator[Dispatcher]:
        yield LocalDispatcher({"served": ScriptedBackend(answer), "sandbox": ScriptedBackend(checked)})

    plan = GradingPlan(workflow, {"": starting.models_for_grading()["served"]}, overrides)
    run = starting.grading_start(user=user, problem=problem, plan=plan, script=script, start_id=None, start=False)
    assert drive(run, scripted) == RunStatus.FINISHED
    run.refresh_from_db()
    return run


def checked(request: GenerationRequest) -> str:
    return verifier(request).model_dump_json()


def page(client: Client, run: Run) -> str:
    return client.get(reverse("graders:detail", args=[run.public_id])).content.decode()


def test_a_form_sent_twice_starts_one_run(alice: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.runs.services.orchestrate", type("Sent", (), {"delay": staticmethod(lambda _: None)}))
    problem, client = make_problem(), client_for(alice)
    address = reverse("graders:start", args=[problem.slug])
    assert "only people grade" in client.get(address).content.decode()
    data = {"workflow": "single_turn", "alias": "served", "script": SCRIPT, "start_id": str(uuid.uuid4())}
    first, second = client.post(address, data), client.post(address, data)
    run = Run.objects.get()
    assert first.headers["Location"] == second.headers["Location"] == f"/gradings/{run.public_id}/"
    assert run.is_grading
    assert ANSWER not in str(run.spec["problem"])
    assert "is being graded" in page(client, run)


def test_the_cost_is_estimated_before_anything_is_started(alice: User, client_for: ClientFor) -> None:
    problem = make_problem()
    data = {"workflow": "ref5_plain", "alias": "served", "script": SCRIPT, "estimate": "1"}
    text = client_for(alice).post(reverse("graders:start", args=[problem.slug]), data).content.decode()
    assert "About 5 calls" in text
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"script": "  "}, "The script is empty."),
        ({"script": ""}, "This field is required."),
        ({"workflow": "scheme"}, "needs a marking scheme."),
        ({"alias": "oracle"}, "Select a valid choice"),
    ],
)
def test_an_invalid_form_starts_nothing(alice: User, client_for: ClientFor, changes: dict[str, str], why: str) -> None:
    data = {"workflow": "single_turn", "alias": "served", "script": SCRIPT} | changes
    text = client_for(alice).post(reverse("graders:start", args=[make_problem().slug]), data).content.decode()
    assert why in text
    assert not Run.objects.exists()


def test_the_result_shows_points_and_each_finding_at_its_step(alice: User, client_for: ClientFor) -> None:
    run = graded(alice, make_problem(), "single_turn", {"grade": grading(2, finding())})
    text = page(client_for(alice), run)
    assert "<strong>2</strong> of 7 points are proposed. A person decides." in text
    step = text[text.index('id="step-2"') : text.index('id="step-3"')]
    assert "proof-by-example" in step
    assert "Three instances prove nothing." in step


def test_marks_of_the_formula_check_are_shown_at_their_steps(alice: User, client_for: ClientFor) -> None:
    slip = "We add: $2+2=5$.\n\nHere $3+3=6$."
    run = graded(alice, make_problem(), "single_turn", {"grade": grading(2)}, slip, marks=True)
    text = page(client_for(alice), run)
    assert "Single turn with marks of formulas" in text
    assert "The grader also read 2 marks of the formula check, which are shown at their steps." in text
    first = text[text.index('id="step-1"') : text.index('id="step-2"')]
    assert "checked__formula--refuted" in first
    assert "the sides are" in first
    assert "checked__formula--proved" in text[text.index('id="step-2"') :]
    call = client_for(alice).get(reverse("explorations:call", args=[run.public_id, "formulas"])).content.decode()
    assert "refuted" in call


def test_without_a_mark_the_page_says_so(alice: User, client_for: ClientFor) -> None:
    plain = graded(alice, make_problem(), "single_turn", {"grade": grading(2)}, "It is so.", marks=True)
    assert "The grader read no mark of the formula check." in page(client_for(alice), plain)
    without = graded(alice, plain.problem_version.problem, "single_turn", {"grade": grading(2)})
    assert "mark of the formula check" not in page(client_for(alice), without)


def test_the_call_of_a_grader_shows_the_points_that_were_read(alice: User, client_for: ClientFor) -> None:
    run = graded(alice, make_problem(), "single_turn", {"grade": "Hm.", "grade/again": grading(2, finding())})
    for key in ("grade", "grade/again"):
        said = client_for(alice).get(reverse("explorations:call", args=[run.public_id, key])).content.decode()
        assert "Points: 2 of 7" in said


def test_an_unreadable_answer_is_unscored_and_shown(alice: User, client_for: ClientFor) -> None:
    run = graded(alice, make_problem(), "single_turn", {"*": "I like <b>turtles</b>."})
    text = page(client_for(alice), run)
    assert "<strong>Unscored.</strong>" in text
    assert "I like &lt;b&gt;turtles&lt;/b&gt;." in text
    assert "points are proposed" not in text


def test_the_second_script_of_a_problem_reuses_the_pieces_of_the_first(alice: User, client_for: ClientFor) -> None:
    problem = make_problem()
    first = graded(alice, problem, "ref5_plain", FOLLOWS)
    assert (first.calls, PreparedPiece.objects.count()) == (5, 3)
    second = graded(alice, problem, "ref5_plain", FOLLOWS, SCRIPT + "\n\nDone.")
    assert second.calls == 2
    text = page(client_for(alice), second)
    assert text.count("made before, reused without a call") == 3
    assert "M2" in text
    assert "E1 (step 2) → main step 2 (step 3) → the conclusion falls" in text
    assert "Groups of the references:" in text
    assert "Rubric, by main steps:" in text
    assert "Full credit for: It is proved.<br>No reason: ½." in text
    assert f'<a href="{reverse("preparation:prepare", args=[problem.slug])}#reference-1">reference 1</a> of 2' in text
    assert "solution C1" not in text
    parts = text[text.index("Outline of the script") : text.index("Error chains")]
    assert [words in parts for words in ("Main step 2", "Hence by the examples", "Claim 1", "F9", "no letter")] == [
        True, True, True, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("params", "title", "whose"),
    [
        ({"strict": True}, "Marking scheme", "computed by the scheme"),
        ({"strict": False}, "Marking scheme, advisory", "by the model itself"),
        ({"strict": False, "neutral": True}, "Marking scheme, advisory in a neutral rewriting", "by the model itself"),
    ],
)
def test_the_page_shows_the_manner_of_a_grader_and_the_origin_of_its_points(
    alice: User, client_for: ClientFor, params: dict[str, bool], title: str, whose: str
) -> None:
    run = graded(alice, make_problem(), "single_turn", {"grade": grading(2)})
    assert "computed by the scheme" not in page(client_for(alice), run)
    Run.objects.filter(pk=run.pk).update(scaffold="scheme", spec=run.spec | {"params": run.spec["params"] | params})
    text = page(client_for(alice), run)
    assert f'<p class="eyebrow">Proposed by a model · {title}</p>' in text
    assert whose in text


def test_the_page_of_its_calls_links_back_and_cannot_be_forked(alice: User, client_for: ClientFor) -> None:
    run = graded(alice, make_problem(), "single_turn", {"grade": grading(2)})
    client = client_for(alice)
    text = client.get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()
    assert reverse("graders:detail", args=[run.public_id]) in text
    assert "Single turn" in text
    assert client.get(reverse("explorations:fork", args=[run.public_id])).status_code == 404
    assert client.get(reverse("explorations:run_list")).status_code == 200
    assert client.get(reverse("home")).status_code == 200


def test_students_cannot_open_gradings(alice: User, charlie: User, client_for: ClientFor) -> None:
    problem = make_problem()
    run = graded(alice, problem, "single_turn", {"grade": grading(2)})
    client = client_for(charlie)
    assert client.get(reverse("graders:detail", args=[run.public_id])).status_code == 404
    assert client.get(reverse("graders:start", args=[problem.slug])).status_code == 404
    assert "Grade a script" not in client.get(reverse("problems:detail", args=[problem.slug])).content.decode()
