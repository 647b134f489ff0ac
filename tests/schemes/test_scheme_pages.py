"""Pages of marking schemes: list, editor with live check, import, try-out and downloads."""

from collections.abc import Callable

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.reasoning.marking.schemes.json_form import json_read
from apps.reasoning.marking.schemes.lineage import without_lineage
from apps.reasoning.marking.schemes.text_form import text_read
from apps.schemes.models import MarkingScheme
from apps.schemes.services import scheme_activate
from apps.schemes.starter import STARTER
from tests.problems.factory import make_problem
from tests.schemes.factory import TEXT, content, make_scheme

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def client(client_for: ClientFor, bob: User) -> Client:
    return client_for(bob)


def edit_data(scheme: MarkingScheme, **changes: str) -> dict[str, str]:
    return {
        "title": scheme.title,
        "text": TEXT.replace("\n", "\r\n"),
        "based_on": str(scheme.row_version),
        "action": "save",
        **changes,
    }


def page(client: Client, address: str, status: int = 200) -> str:
    response = client.get(address)
    assert response.status_code == status
    return response.content.decode()


def test_a_coach_writes_a_scheme_and_tries_it_out(client: Client) -> None:
    problem = make_problem()
    assert "checkpoint S1" in page(client, f"/problems/{problem.slug}/schemes/new/")
    response = client.post(f"/problems/{problem.slug}/schemes/new/", {"title": " Our  scheme", "text": TEXT, "action": "save"})
    scheme = MarkingScheme.objects.get()
    assert response.headers["Location"] == f"/schemes/{scheme.public_id}/"
    assert (scheme.title, scheme.problem) == ("Our scheme", problem)
    shown = page(client, f"/schemes/{scheme.public_id}/?tick=A1&tick=A2&tick=D1")
    assert "Chain A: A1 3 + A2 4 = 7; cap 5 inactive; −1 (D1 1) → 6" in shown
    assert 'value="A1 A2 -D1"' in shown


def test_the_starter_scheme_is_valid(client: Client) -> None:
    problem = make_problem()
    shown = client.post("/schemes/check/", {"text": STARTER}).content.decode()
    assert "No issues found." in shown
    client.post(f"/problems/{problem.slug}/schemes/new/", {"title": "x", "text": STARTER, "action": "save"})
    assert MarkingScheme.objects.exists()


def test_the_live_check_lists_errors_and_stores_nothing(client: Client) -> None:
    faults = client.post("/schemes/check/", {"text": "scale 7\nbonus", "tick": "A1"}).content.decode()
    assert "line 2" in faults
    assert '<input type="hidden" name="tick" value="A1">' in faults
    errors = client.post("/schemes/check/", {"text": "checkpoint a, 6 points: x"}).content.decode()
    assert "No chain reaches 7: the best is 6." in errors
    broken = client.post("/schemes/check/", {"text": "checkpoint a, 7 points, needs a: x", "tick": "a"}).content.decode()
    assert "Points cannot be computed" in broken
    assert not MarkingScheme.objects.exists()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"tick": ["A1", "gone"]}, "Chain A: A1 3 = 3"),
        ({"source": "claim", "claim": "B1 !K5"}, "Chain B: B1 7 = 7; cap 5 → 5"),
        ({"source": "claim", "claim": "B1 q", "tick": ["A1"]}, "q is no item of this scheme."),
        ({"source": "claim", "claim": "B1 q", "tick": ["A1"]}, "Chain A: A1 3 = 3"),
        ({"tick": ["A2"]}, "does not count: needs A1"),
        ({"tick": ["A1"], "step": "0.5"}, "Chain A: A1 3 = 3"),
        ({"tick": ["A1"], "step": "0"}, "Chain A: A1 3 = 3"),
    ],
)
def test_the_try_out_uses_the_ticks_or_the_claim_line(client: Client, data: dict[str, str | list[str]], words: str) -> None:
    assert words in client.post("/schemes/check/", {"text": TEXT, **data}).content.decode()
    scheme = make_scheme()
    assert words in client.get(f"/schemes/{scheme.public_id}/try/", data).content.decode()


def test_a_person_decides_points_between_two_steps(client: Client) -> None:
    text = "step 0.5\ncheckpoint a, 2.5 points: x\ncheckpoint b, 4.5 points: y"
    shown = client.post("/schemes/check/", {"text": text, "tick": "a", "step": "1"}).content.decode()
    assert "2.5 is not on the step of 1: 2 or 3 is to be decided" in shown


def test_an_unreadable_scheme_is_not_saved_but_stays_in_the_editor(client: Client) -> None:
    problem = make_problem()
    response = client.post(f"/problems/{problem.slug}/schemes/new/", {"title": "x", "text": "half a line", "action": "save"})
    assert response.status_code == 422
    assert "half a line" in response.content.decode()
    assert not MarkingScheme.objects.exists()


def test_the_check_without_javascript_stores_nothing_and_shows_no_form_errors(client: Client) -> None:
    problem = make_problem()
    response = client.post(
        f"/problems/{problem.slug}/schemes/new/", {"title": "", "text": TEXT, "action": "check", "tick": "B1"}
    )
    assert response.status_code == 200
    assert "Chain B: B1 7 = 7" in response.content.decode()
    assert "This field is required" not in response.content.decode()
    assert not MarkingScheme.objects.exists()


def test_editing_an_active_scheme_announces_and_creates_a_version(client: Client, bob: User) -> None:
    scheme = make_scheme(bob)
    address = f"/schemes/{scheme.public_id}/"
    client.post(f"{address}activate/", {"based_on": scheme.row_version})
    scheme.refresh_from_db()
    assert "Saving creates the next version" in page(client, f"{address}edit/")
    response = client.post(f"{address}edit/", edit_data(scheme, text=TEXT.replace("at most 5", "at most 4")))
    assert response.headers["Location"] == f"{address}?version=2"
    assert "There is a draft" in page(client, address)
    shown = page(client, f"{address}?version=2")
    assert "points changed" in shown
    assert "Marks may differ" in shown
    assert "at most 4" not in page(client, f"{address}download/?version=1")


def test_saving_over_another_change_is_refused_and_keeps_the_text(client: Client, bob: User) -> None:
    scheme = make_scheme(bob)
    stale = edit_data(scheme, text=TEXT.replace("A slip.", "My own words."))
    client.post(f"/schemes/{scheme.public_id}/edit/", edit_data(scheme, text=TEXT.replace("A slip.", "Theirs.")))
    response = client.post(f"/schemes/{scheme.public_id}/edit/", stale)
    assert response.status_code == 409
    assert "My own words." in response.content.decode()
    scheme.refresh_from_db()
    assert f'name="based_on" value="{scheme.row_version}"' in response.content.decode()
    assert scheme.versions.get().content.items[-1].text == "Theirs."


def test_a_change_of_points_is_not_saved_as_wording_only(client: Client, bob: User) -> None:
    scheme = make_scheme(bob)
    scheme_activate(scheme=scheme, by=bob, based_on=scheme.row_version)
    scheme.refresh_from_db()
    data = edit_data(scheme, text=TEXT.replace("at most 5", "at most 4"), is_wording_only="on", reason="nicer")
    response = client.post(f"/schemes/{scheme.public_id}/edit/", data)
    assert response.status_code == 422
    assert "More than the wording changed" in response.content.decode()
    without_reason = client.post(f"/schemes/{scheme.public_id}/edit/", edit_data(scheme, is_wording_only="on"))
    assert "Describe the change of wording" in without_reason.content.decode()


def test_a_draft_with_errors_cannot_be_activated(client: Client, bob: User) -> None:
    scheme = make_scheme(bob)
    client.post(f"/schemes/{scheme.public_id}/edit/", edit_data(scheme, text=TEXT.replace("7 points", "8 points")))
    scheme.refresh_from_db()
    address = f"/schemes/{scheme.public_id}/"
    shown = client.post(f"{address}activate/", {"based_on": scheme.row_version}, follow=True).content.decode()
    assert "Correct its errors first: Chain B reaches 8" in shown
    assert scheme.versions.get().status == "draft"


def test_a_command_on_an_outdated_state_is_refused(client: Client, bob: User) -> None:
    scheme = make_scheme(bob)
    address = f"/schemes/{scheme.public_id}/"
    for based_on in ("0", "", "x", "7"):
        shown = client.post(f"{address}discard/", {"based_on": based_on}, follow=True).content.decode()
        assert "Your command was not run" in shown
    assert client.post(f"{address}explode/", {"based_on": scheme.row_version}).status_code == 404
    assert scheme.versions.get().status == "draft"


def test_discarding_the_only_draft_redirects_to_the_list(client: Client, bob: User) -> None:
    scheme = make_scheme(bob)
    response = client.post(f"/schemes/{scheme.public_id}/discard/", {"based_on": scheme.row_version})
    assert response.headers["Location"] == f"/problems/{scheme.problem.slug}/schemes/"


def test_the_guidelines_of_the_problem_open_in_the_editor(client: Client) -> None:
    problem = make_problem(scheme_text="(Partial)\n1. Guessed it.\n(Almost)\n1. One slip.")
    assert f"/problems/{problem.slug}/schemes/import/?from=problem" in page(client, f"/problems/{problem.slug}/schemes/")
    shown = page(client, f"/problems/{problem.slug}/schemes/import/?from=problem")
    assert "checkpoint p1, 1 point, one of tier: Guessed it." in shown
    assert "No issues found." in shown
    assert not MarkingScheme.objects.exists()


def test_a_pasted_scheme_is_read_or_refused_with_a_reason(client: Client) -> None:
    address = f"/problems/{make_problem().slug}/schemes/import/"
    shown = client.post(address, {"source": "1. All of it (7 points)"}).content.decode()
    assert "checkpoint c1, 7 points: All of it" in shown
    refused = client.post(address, {"source": "Just prose."})
    assert refused.status_code == 422
    assert "Just prose." in refused.content.decode()
    assert client.post(address, {"source": " "}).status_code == 422


def test_downloads_can_be_read_back(client: Client, bob: User) -> None:
    address = f"/schemes/{make_scheme(bob).public_id}/download/"
    text = client.get(address, {"form": "text"})
    assert text.headers["Content-Disposition"] == 'attachment; filename="selection-test-v1.txt"'
    assert text_read(text.content.decode()) == content()
    assert without_lineage(json_read(client.get(address, {"form": "json"}).content.decode())) == content()
    assert client.get(address, {"form": "pdf"}).status_code == 404


def test_an_unknown_version_is_not_found(client: Client, bob: User) -> None:
    scheme = make_scheme(bob)
    for number in ("2", "x", "-1", "99999999", "²"):
        page(client, f"/schemes/{scheme.public_id}/?version={number}", 404)


def test_the_text_of_a_scheme_is_escaped(client: Client) -> None:
    text = "checkpoint a, 7 points: <script>alert(1)</script> <img src=x onerror=y>\n  note: <b hx-get=/x>n</b>"
    shown = client.post("/schemes/check/", {"text": text}).content.decode()
    assert "<script" not in shown
    assert "<img" not in shown
    assert "<b " not in shown


def test_students_see_no_scheme(client_for: ClientFor, charlie: User, bob: User) -> None:
    scheme = make_scheme(bob)
    student = client_for(charlie)
    base = f"/schemes/{scheme.public_id}/"
    listed = f"/problems/{scheme.problem.slug}/schemes/"
    for address in (base, f"{base}try/", f"{base}download/", f"{base}edit/", listed, f"{listed}new/", f"{listed}import/"):
        response = student.get(address)
        assert response.status_code == 404
        assert "Selection test" not in response.content.decode()
    for address, data in (
        (f"{base}edit/", edit_data(scheme)),
        (f"{base}activate/", {"based_on": "1"}),
        ("/schemes/check/", {"text": TEXT}),
    ):
        assert student.post(address, data).status_code == 404
    assert "/schemes/" not in page(student, f"/problems/{scheme.problem.slug}/")
    scheme.refresh_from_db()
    assert scheme.row_version == 1


def test_the_problem_links_to_its_schemes(client: Client) -> None:
    problem = make_problem()
    assert f"/problems/{problem.slug}/schemes/" in page(client, f"/problems/{problem.slug}/")
