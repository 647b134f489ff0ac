"""Pieces are prepared from references by a run, edited and approved by people, used by graders, and become stale."""

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.graders.models import PieceVersion, ReferencePost
from apps.graders.pieces import pieces_approved
from apps.graders.references import references_of
from apps.preparation.state import state_of
from apps.problems.models import Problem
from apps.runs.models import Run
from tests.graders.answers import FOLLOWS
from tests.grading.problem_runs import played
from tests.grading.test_grade_command import MODELS
from tests.grading.test_pages_of_gradings import graded
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]
PREPARES = FOLLOWS | {key.replace("/C1/", "/C2/"): text for key, text in FOLLOWS.items()}


@pytest.fixture(autouse=True)
def models(settings: LazySettings, tmp_path: Path) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)


def page(client: Client, problem: Problem) -> str:
    return client.get(reverse("preparation:prepare", args=[problem.slug])).content.decode()


def edit_address(problem: Problem, name: str) -> str:
    return f"{reverse('preparation:piece', args=[problem.slug])}?piece={name}"


def command(client: Client, version: PieceVersion, verb: str) -> str:
    address = reverse("preparation:piece_command", args=[version.problem.slug, version.public_id, verb])
    return client.post(address, follow=True).content.decode()


def rubric_data(version: PieceVersion | None, *points: int, **more: str) -> dict[str, Any]:
    rows = {f"{name}-{number}": text for number, one in enumerate(points, 1)
            for name, text in (("title", f"Item {number}"), ("points", str(one)), ("full", "It is proved."))}  # fmt: skip
    return {"based_on": str(version.public_id) if version else "", **rows, **more}


def test_a_run_fills_the_page_and_its_estimate_equals_its_calls(alice: User, client_for: ClientFor) -> None:
    problem, client = make_problem(), client_for(alice)
    address = reverse("preparation:prepare", args=[problem.slug])
    form = {"alias": "served", "manners": ["ref5_approachability"], "groups": "3"}
    text = client.post(address, form | {"estimate": "1"}).content.decode()
    assert "About 5 calls" in text
    assert not Run.objects.exists()
    run = played(alice, problem, "prepare", PREPARES)
    assert run.calls == 5
    text = page(client, problem)
    assert text.count("by a model") == 5
    assert "One of two neighbours is even" in text
    assert "difficulty 4 of 5" in text
    assert "5 calls" in text
    assert reverse("explorations:run_detail", args=[run.public_id]) in text


def test_a_form_sent_twice_starts_one_run(alice: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.runs.services.orchestrate", type("Sent", (), {"delay": staticmethod(lambda _: None)}))
    problem, client = make_problem(), client_for(alice)
    address = reverse("preparation:prepare", args=[problem.slug])
    form = {"alias": "served", "manners": ["ref5_plain"], "groups": "1", "start_id": str(uuid.uuid4())}
    client.post(address, form)
    client.post(address, form)
    run = Run.objects.get()
    assert run.scaffold == "prepare"
    assert 'hx-trigger="every 3s"' in page(client, problem)
    result = client.get(reverse("graders:detail", args=[run.public_id]))
    assert result.headers["Location"] == address
    assert client.get(reverse("explorations:run_detail", args=[run.public_id])).status_code == 200
    assert client.get(reverse("explorations:fork", args=[run.public_id])).status_code == 404


def test_an_invalid_form_starts_nothing(alice: User, client_for: ClientFor) -> None:
    problem, client = make_problem(solutions=()), client_for(alice)
    address = reverse("preparation:prepare", args=[problem.slug])
    form = {"alias": "served", "manners": ["ref5_plain"], "groups": "1"}
    assert "There is no reference to prepare." in client.post(address, form).content.decode()
    assert client.post(address, form | {"alias": "oracle"}).status_code == 422
    assert not Run.objects.exists()


def test_an_unreadable_answer_is_shown_and_a_person_can_write_the_piece(alice: User, client_for: ClientFor) -> None:
    problem, client = make_problem(), client_for(alice)
    played(alice, problem, "prepare", {"*": "I like <b>turtles</b>."})
    text = page(client, problem)
    assert "The model’s answer was unreadable." in text
    assert "I like &lt;b&gt;turtles&lt;/b&gt;." in text
    data = {"group-1": "1", "group-2": "1", "steps-1": "Descend.\nStop.", "representative-1": "2", "based_on": ""}
    answer = client.post(edit_address(problem, "clusters"), data | {"approve": "1"})
    assert answer.status_code == 302
    text = page(client, problem)
    assert "References 1, 2; representative 2" in text
    assert "approved" in text
    assert "The model’s answer was unreadable." not in text


def test_graders_use_an_edited_and_approved_rubric(alice: User, client_for: ClientFor) -> None:
    problem, client = make_problem(), client_for(alice)
    played(alice, problem, "prepare", PREPARES)
    place = state_of(problem).groups[0].rubrics[0]
    assert place.current is not None
    answer = client.post(edit_address(problem, place.name), rubric_data(place.current, 5, 2))
    assert answer.status_code == 302
    assert not pieces_approved(problem.current.statement)
    edited = state_of(problem).groups[0].rubrics[0].current
    assert edited is not None
    assert edited.parent == place.current
    text = command(client, edited, "approve")
    assert "together with its inputs (3 pieces)" in text
    run = graded(alice, problem, "ref5_approachability", FOLLOWS)
    assert run.calls == 2
    result = client.get(reverse("graders:detail", args=[run.public_id])).content.decode()
    assert result.count("approved by a person") == 3
    prepared = [row.body for row in run.events.filter(kind="grading.prepared")]
    rubric = next(body["value"] for body in prepared if body["what"] == "rubric")
    assert [item["points"] for item in rubric["items"]] == [5, 2]


def test_an_approval_can_be_withdrawn_and_the_latest_of_two_counts(alice: User, client_for: ClientFor) -> None:
    problem, client = make_problem(), client_for(alice)
    played(alice, problem, "prepare", PREPARES)
    place = state_of(problem).groups[0].rubrics[0]
    first = place.current
    assert first is not None
    command(client, first, "approve")
    client.post(edit_address(problem, place.name), rubric_data(first, 1, 6, approve="1"))
    now = state_of(problem).groups[0].rubrics[0]
    assert now.current is not None
    assert now.current.is_approved
    assert [item.points for item in now.rubric.items] == [1, 6] if now.rubric else False
    assert [one.is_approved for one in now.earlier] == [False]
    command(client, now.current, "withdraw")
    approved = pieces_approved(problem.current.statement)
    assert not any(name.startswith("rubric/") for name in approved)
    assert any(name.startswith("analysis/") for name in approved)


def test_an_edit_of_the_main_steps_makes_the_rubric_stale_and_unused(alice: User, client_for: ClientFor) -> None:
    problem, client = make_problem(), client_for(alice)
    played(alice, problem, "prepare", PREPARES)
    group = state_of(problem).groups[0]
    rubric, analysis = group.rubrics[0].current, group.analyses[0]
    assert rubric is not None
    assert analysis.current is not None
    command(client, rubric, "approve")
    data = {"title-1": "Another idea", "approachability-1": "2", "title-2": "And its use", "approachability-2": "5"}
    client.post(edit_address(problem, analysis.name), data | {"based_on": str(analysis.current.public_id), "approve": "1"})
    place = state_of(problem).groups[0].rubrics[0]
    assert place.current is None
    assert place.stale == [rubric]
    assert "Other versions (1, 1 stale)" in page(client, problem)
    assert "this version is stale" in command(client, rubric, "approve")
    form = client.get(f"{edit_address(problem, place.name)}&from={rubric.public_id}").content.decode()
    assert "based on a stale version" in form
    assert 'value="Step 1"' in form
    run = graded(alice, problem, "ref5_approachability", FOLLOWS)
    assert run.calls == 3


def test_adding_a_reference_makes_the_groups_stale_and_removing_it_makes_them_current_again(
    alice: User, client_for: ClientFor
) -> None:
    problem, client = make_problem(), client_for(alice)
    played(alice, problem, "prepare", PREPARES)
    clusters = state_of(problem).clusters
    assert clusters is not None
    assert clusters.current is not None
    add = reverse("preparation:prepare_add", args=[problem.slug])
    page_text = client.post(add, {"text": "A third way.\n---\nA fourth.\n---\nA third way."}, follow=True).content.decode()
    assert "2 references added." in page_text
    assert [one.number for one in references_of(problem)] == [1, 2, 3, 4]
    now = state_of(problem)
    assert now.clusters is not None
    assert (now.clusters.current, now.groups) == (None, [])
    assert len(now.gone) == 4
    assert "All versions are stale, as their input has changed." in page(client, problem)
    for post in ReferencePost.objects.all():
        client.post(reverse("preparation:prepare_remove", args=[problem.slug, post.public_id]))
    back = state_of(problem)
    assert back.clusters is not None
    assert back.clusters.current == clusters.current
    assert not back.gone


def test_references_are_added_from_a_file_and_given_to_graders(alice: User, client_for: ClientFor) -> None:
    problem, client = make_problem(solutions=()), client_for(alice)
    add = reverse("preparation:prepare_add", args=[problem.slug])
    upload = SimpleUploadedFile("posts.txt", "First post: $1=1$.\n\n-----\n\nSecond — post.".encode())
    client.post(add, {"text": "", "origin": "A forum", "file": upload})
    assert [(one.text, one.title) for one in references_of(problem)] == [
        ("First post: $1=1$.", "A forum"),
        ("Second — post.", "A forum"),
    ]
    binary = SimpleUploadedFile("posts.bin", b"\xff\xfe\x00")
    assert "not UTF-8 text" in client.post(add, {"text": "", "file": binary}, follow=True).content.decode()
    assert "all texts exist already" in client.post(add, {"text": "Second — post."}, follow=True).content.decode()
    run = played(alice, problem, "prepare", PREPARES)
    assert "Second — post." in run.spec["params"]["references"]


@pytest.mark.parametrize(
    ("points", "more", "why"),
    [
        ((3, 3), {}, "No chain reaches 7"),
        ((0, 7), {}, "Item 1: points must be a whole number from 1 to 7."),
        ((3, 4), {"points-1": "three"}, "Item 1: points must be a whole number from 1 to 7."),
        ((3, 4), {"full-2": ""}, "Item 2 has no requirement for full credit."),
        ((3, 4), {"title-2": "x" * 4_001}, "Item 2: a text is longer than 4,000 characters."),
        ((), {}, "The rubric has no items."),
    ],
)
def test_an_invalid_rubric_is_not_saved_and_entries_are_kept_in_the_form(
    alice: User, client_for: ClientFor, points: tuple[int, ...], more: dict[str, str], why: str
) -> None:
    problem, client = make_problem(), client_for(alice)
    played(alice, problem, "prepare", PREPARES)
    place, before = state_of(problem).groups[0].rubrics[0], PieceVersion.objects.count()
    answer = client.post(edit_address(problem, place.name), rubric_data(place.current, *points, **more))
    assert answer.status_code == 422
    text = answer.content.decode()
    assert "your entries are kept" in text
    assert why in text
    assert not points or 'value="Item 1"' in text
    assert PieceVersion.objects.count() == before


def test_the_second_of_two_concurrent_edits_is_refused(alice: User, bob: User, client_for: ClientFor) -> None:
    problem = make_problem()
    played(alice, problem, "prepare", PREPARES)
    place = state_of(problem).groups[0].rubrics[0]
    first, second = (rubric_data(place.current, *points) for points in ((6, 1), (2, 5)))
    assert client_for(alice).post(edit_address(problem, place.name), first).status_code == 302
    answer = client_for(bob).post(edit_address(problem, place.name), second)
    assert answer.status_code == 422
    assert "Another user saved a newer version" in answer.content.decode()


def test_saving_an_earlier_content_makes_it_current_again(alice: User, client_for: ClientFor) -> None:
    problem, client = make_problem(), client_for(alice)
    played(alice, problem, "prepare", PREPARES)
    name = state_of(problem).groups[0].rubrics[0].name
    for points in ((6, 1), (2, 5), (6, 1)):
        place = state_of(problem).place(name)
        assert place is not None
        client.post(edit_address(problem, name), rubric_data(place.last, *points))
    place = state_of(problem).place(name)
    assert place is not None
    assert place.rubric is not None
    assert [item.points for item in place.rubric.items] == [6, 1]
    assert len(place.earlier) == 2


def test_pieces_prepared_by_a_grading_are_also_on_the_page(alice: User, client_for: ClientFor) -> None:
    problem = make_problem()
    graded(alice, problem, "ref5_approachability", FOLLOWS)
    text = page(client_for(alice), problem)
    assert text.count("by a model") == 3
    assert played(alice, problem, "prepare", PREPARES).calls == 2
