"""Creating and editing: versions, solutions, stale edits, the preview."""

from collections.abc import Callable

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.problems.drafts import draft_of
from apps.problems.models import Problem
from apps.problems.services import problem_state
from tests.problems.factory import form_data, make_problem

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def client(client_for: ClientFor, bob: User) -> Client:
    return client_for(bob)


def edit_data(problem: Problem, **changes: str) -> dict[str, str]:
    """The unchanged form of a problem as a browser sends it, with `changes`."""
    draft = draft_of(problem)
    names = ("title", "topic", "subtopic", "source", "level", "statement", "answer", "scheme_text")
    data = form_data(**{name: getattr(draft, name).replace("\n", "\r\n") for name in names})
    data |= {"year": str(draft.year or ""), "based_on": problem_state(problem)}
    data["solutions-TOTAL_FORMS"] = str(len(draft.solutions))
    for number, row in enumerate(draft.solutions):
        data |= {f"solutions-{number}-approach": row.approach, f"solutions-{number}-text": row.text.replace("\n", "\r\n")}
    data |= {f"hint_{number}": text for number, text in enumerate(draft.hints, 1)}
    return {**data, **changes}


def test_a_coach_adds_a_problem(client: Client, bob: User) -> None:
    response = client.post("/problems/new/", form_data(**{"solutions-0-text": "It is so.", "solutions-0-approach": "look"}))
    problem = Problem.objects.get()
    assert response.headers["Location"] == f"/problems/{problem.slug}/"
    assert (problem.slug, problem.created_by, problem.current.statement) == ("a-title", bob, "Prove $1=1$.")
    assert [(row.approach, row.text) for row in problem.reference_solutions.all()] == [("look", "It is so.")]


@pytest.mark.parametrize("title", ["New", "Import", "Export", "Preview"])
def test_reserved_slugs_are_not_used(client: Client, title: str) -> None:
    client.post("/problems/new/", form_data(title=title))
    assert Problem.objects.get().slug == f"{title.lower()}-2"


def test_two_problems_may_have_one_title(client: Client) -> None:
    for _ in range(2):
        client.post("/problems/new/", form_data(title="Ω"))
    assert sorted(Problem.objects.values_list("slug", flat=True)) == ["problem", "problem-2"]


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("statement", "  \n ", "required"),
        ("title", "", "required"),
        ("topic", "X", "valid choice"),
        ("year", "99999", "less than or equal"),
        ("solutions-0-approach", "a name without a text", "no text"),
        ("statement", "x" * 20_001, "at most 20000"),
    ],
)
def test_errors_are_shown_and_the_input_is_kept(client: Client, field: str, value: str, words: str) -> None:
    response = client.post("/problems/new/", form_data(**{"scheme_text": "A1 (7) kept", field: value}))
    assert response.status_code == 422
    assert words in response.content.decode()
    assert "A1 (7) kept" in response.content.decode()
    assert not Problem.objects.exists()


def test_saving_an_unchanged_form_creates_no_version(client: Client) -> None:
    problem = make_problem(statement="One line.\n\nAnother line.")
    ids = list(problem.reference_solutions.values_list("public_id", flat=True))
    assert client.post(f"/problems/{problem.slug}/edit/", edit_data(problem)).status_code == 302
    assert problem.versions.count() == 1
    assert list(problem.reference_solutions.values_list("public_id", flat=True)) == ids


def test_only_a_changed_text_creates_a_version(client: Client, bob: User) -> None:
    problem = make_problem()
    client.post(f"/problems/{problem.slug}/edit/", edit_data(problem, source="Euler", year=""))
    problem.refresh_from_db()
    assert (problem.source, problem.year, problem.versions.count()) == ("Euler", None, 1)
    client.post(f"/problems/{problem.slug}/edit/", edit_data(problem, statement="A clearer text."))
    assert [row.statement == "A clearer text." for row in problem.versions.all()] == [False, True]
    assert problem.current.created_by == bob
    assert problem.slug == "sums-of-two-squares"


def test_a_cleared_solution_is_removed(client: Client) -> None:
    problem = make_problem()
    client.post(f"/problems/{problem.slug}/edit/", edit_data(problem, **{"solutions-0-text": "", "solutions-0-approach": ""}))
    assert [row.approach for row in problem.reference_solutions.all()] == ["rings"]


def test_an_outdated_edit_is_refused_but_kept_in_the_editor(client: Client) -> None:
    problem = make_problem()
    stale = edit_data(problem, statement="Mine.")
    client.post(f"/problems/{problem.slug}/edit/", edit_data(problem, statement="Theirs."))
    response = client.post(f"/problems/{problem.slug}/edit/", stale)
    assert response.status_code == 409
    assert "Mine." in response.content.decode()
    assert problem.current.statement == "Theirs."
    problem.refresh_from_db()
    client.post(f"/problems/{problem.slug}/edit/", {**stale, "based_on": response.context["based_on"]})
    assert problem.current.statement == "Mine."


def test_the_preview_formats_the_text_and_stores_nothing(client: Client) -> None:
    data = form_data(title="", statement="Let $x>0$ <script>alert(1)</script>")
    page = client.post("/problems/preview/", data).content.decode()
    assert '<span class="math inline">x&gt;0</span>' in page
    assert "<script" not in page
    assert not Problem.objects.exists()


def test_preview_and_adding_a_solution_work_without_javascript(client: Client) -> None:
    shown = client.post("/problems/new/", form_data(action="preview", title=""))
    assert shown.status_code == 200
    assert "field__error" not in shown.content.decode()
    more = client.post("/problems/new/", form_data(**{"action": "add", "solutions-0-text": "First."}))
    assert "Reference solution 2" in more.content.decode()
    assert "First." in more.content.decode()
    assert not Problem.objects.exists()


def test_a_tampered_number_of_solutions_is_refused(client: Client) -> None:
    for count in ("9999", "-1", "x", ""):
        response = client.post("/problems/new/", form_data(**{"solutions-TOTAL_FORMS": count}))
        assert response.status_code in (302, 422), count
        assert client.post("/problems/preview/", form_data(**{"solutions-TOTAL_FORMS": count})).status_code == 200
