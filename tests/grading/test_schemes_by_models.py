"""A scheme is written by a run, tried out on texts, edited, and approved as a draft with its origin."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.graded_sets.models import GradedScript, GradedSet, HumanScore
from apps.preparation.models import SchemeProposal, SchemeTryout
from apps.preparation.proposals import proposal_of
from apps.problems import holding
from apps.problems.models import Problem
from apps.runs.models import Run
from apps.schemes.models import MarkingScheme, SchemeVersion, VersionStatus
from tests.graders.programs import SCHEME
from tests.grading.problem_runs import finished, played
from tests.grading.test_grade_command import MODELS
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]
TICKS = "<grading>" + "".join(
    f'<item code="{code}" met="{"yes" if code == "A1" else "no"}">Seen.</item>' for code in ("A1", "A2", "Z1", "D1")
) + "</grading>"  # fmt: skip


@pytest.fixture(autouse=True)
def models(settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)
    monkeypatch.setattr("apps.runs.services.orchestrate", type("Sent", (), {"delay": staticmethod(lambda _: None)}))


@pytest.fixture
def written(alice: User) -> Run:
    return played(alice, make_problem(), "scheme_writer", {"write": SCHEME})


def address(run: Run) -> str:
    return reverse("preparation:proposal", args=[run.public_id])


def sent(run: Run, action: str, **changes: Any) -> dict[str, Any]:
    return {"action": action, "alias": "served", "text": proposal_of(run).latest, "title": "Neighbours"} | changes


def test_a_run_writes_a_scheme_and_its_cost_is_estimated_before(alice: User, client_for: ClientFor) -> None:
    problem, client = make_problem(), client_for(alice)
    page = reverse("preparation:scheme_writer", args=[problem.slug])
    assert "2 references" in client.get(page).content.decode()
    assert "About 1 call and" in client.post(page, {"alias": "served", "estimate": "1"}).content.decode()
    assert not Run.objects.exists()
    answer = client.post(page, {"alias": "served"})
    run = Run.objects.get()
    assert answer.headers["Location"] == address(run)
    assert "The model is writing the scheme" in client.get(address(run)).content.decode()
    wait = {"HX-Request": "true"}
    assert "HX-Refresh" not in client.get(f"{address(run)}?wait=1", headers=wait).headers
    finished(run, {"write": SCHEME})
    assert client.get(f"{address(run)}?wait=1", headers=wait).headers["HX-Refresh"] == "true"
    text = client.get(address(run)).content.decode()
    assert "checkpoint A2, 5 points, needs A1" in text
    assert "No issues found." in text
    assert "needs your approval" in client.get(page).content.decode()
    assert client.get(reverse("graders:detail", args=[run.public_id])).headers["Location"] == address(run)


def test_an_unreadable_answer_is_shown_with_its_text(alice: User, client_for: ClientFor) -> None:
    run = played(alice, make_problem(), "scheme_writer", {"*": "I like <b>turtles</b>."})
    text = client_for(alice).get(address(run)).content.decode()
    assert "The model’s answer was unreadable." in text
    assert "I like &lt;b&gt;turtles&lt;/b&gt;." in text
    assert "Make it a draft" not in text
    page = client_for(alice).get(reverse("preparation:scheme_writer", args=[run.problem_version.problem.slug]))
    assert "unreadable answer" in page.content.decode()


def test_texts_are_graded_with_the_scheme_and_listed_with_points(alice: User, client_for: ClientFor, written: Run) -> None:
    client = client_for(alice)
    answer = client.post(address(written), sent(written, "try", pasted="First try.\n---\nSecond try."))
    assert answer.headers["Location"] == address(written)
    tryouts = list(SchemeTryout.objects.all())
    assert [one.label for one in tryouts] == ["First try.", "Second try."]
    assert "queued" in client.get(address(written)).content.decode()
    finished(tryouts[0].run, {"*": TICKS})
    finished(tryouts[1].run, {"*": "turtles"})
    text = client.get(address(written), headers={"HX-Request": "true"}).content.decode()
    assert "2 of 7" in text
    assert "unscored" in text
    assert not MarkingScheme.objects.exists()


def test_scripts_of_imported_sets_are_offered_with_points_by_people(alice: User, client_for: ClientFor, written: Run) -> None:
    problem = written.problem_version.problem
    graded_set = GradedSet.objects.create(title="A set", shape="x", credit="A team", licence="CC", digest="d")
    script = GradedScript.objects.create(
        graded_set=graded_set,
        position=1,
        name="P1",
        problem=problem.current,
        problem_name="p",
        text="A partial proof.",
        digest="e",
    )
    HumanScore.objects.create(script=script, rater="R", points=3, out_of=7)
    client = client_for(alice)
    assert "A set: P1, points by people: 3 of 7" in client.get(address(written)).content.decode()
    client.post(address(written), sent(written, "try", scripts=[str(script.public_id)]))
    finished(SchemeTryout.objects.get().run, {"*": TICKS})
    page_text = client.get(address(written)).content.decode()
    assert page_text.count("3 of 7") == 2
    assert "2 of 7" in page_text


def test_an_edited_text_is_kept_by_its_try_out_and_earlier_try_outs_are_marked(
    alice: User, client_for: ClientFor, written: Run
) -> None:
    client = client_for(alice)
    client.post(address(written), sent(written, "try", pasted="One."))
    changed = proposal_of(written).text.replace("2 points", "3 points").replace("5 points", "4 points")
    client.post(address(written), sent(written, "try", pasted="Two.", text=changed))
    page_text = client.get(address(written)).content.decode()
    assert "checkpoint A1, 3 points" in page_text
    assert page_text.count("earlier scheme text") == 1


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"pasted": ""}, "choose or paste 1 to 10 texts"),
        ({"pasted": "\n---\n".join(f"text {number}" for number in range(11))}, "choose or paste 1 to 10 texts"),
        ({"pasted": "x", "text": "checkpoint A1, 3 points: It."}, "No chain reaches 7"),
        ({"pasted": "x", "text": "nonsense here"}, "line 1"),
        ({"pasted": "x", "alias": "oracle"}, "Select a valid choice"),
    ],
)
def test_an_invalid_try_out_starts_nothing(
    alice: User, client_for: ClientFor, written: Run, changes: dict[str, Any], why: str
) -> None:
    answer = client_for(alice).post(address(written), sent(written, "try", **changes))
    assert answer.status_code == 422
    assert why in answer.content.decode()
    assert not SchemeTryout.objects.exists()


def test_an_approved_scheme_is_an_inactive_draft_with_its_origin(alice: User, client_for: ClientFor, written: Run) -> None:
    client = client_for(alice)
    answer = client.post(address(written), sent(written, "approve"))
    version = SchemeVersion.objects.get()
    assert version.status == VersionStatus.DRAFT
    assert (version.scheme.title, version.created_by) == ("Neighbours", alice)
    assert version.reason == f"Written by served in run {written.public_id} and approved by alice."
    assert answer.headers["Location"] == reverse("schemes:detail", args=[version.scheme.public_id])
    assert "Written by served" in client.get(answer.headers["Location"]).content.decode()
    assert "open the draft" in client.get(address(written)).content.decode()
    again = client.post(address(written), sent(written, "approve"))
    assert "This scheme is already approved." in again.content.decode()
    assert (SchemeProposal.objects.count(), MarkingScheme.objects.count()) == (1, 1)


def test_the_origin_mentions_an_edit_and_an_invalid_text_is_not_approved(
    alice: User, client_for: ClientFor, written: Run
) -> None:
    client, text = client_for(alice), proposal_of(written).text
    wrong = client.post(address(written), sent(written, "approve", text=text.replace("5 points", "4 points")))
    assert wrong.status_code == 422
    assert not MarkingScheme.objects.exists()
    client.post(address(written), sent(written, "approve", text=text.replace("Checks some values", "Only tries values")))
    assert "changed and approved by alice" in SchemeVersion.objects.get().reason.replace(", changed", " changed")


def test_students_and_users_without_access_to_the_solutions_cannot_open_it(
    alice: User, bob: User, charlie: User, client_for: ClientFor, written: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = reverse("preparation:scheme_writer", args=[written.problem_version.problem.slug])
    for where in (address(written), page):
        assert client_for(bob).get(where).status_code == 200
        assert client_for(charlie).get(where).status_code == 404
    rules = {text: [*given, lambda _: Problem.objects.all()] for text, given in holding._RULES.items()}
    monkeypatch.setattr(holding, "_RULES", rules)
    for where in (address(written), page):
        assert client_for(alice).get(where).status_code == 404
        assert client_for(alice).post(where, sent(written, "approve")).status_code == 404
    assert not MarkingScheme.objects.exists()
