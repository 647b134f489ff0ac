"""References are prepared in a browser by keyboard; its pages fit a telephone, light and dark, without serious faults."""

from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.graders.models import PieceVersion
from apps.preparation.contamination import benchmark_load
from apps.preparation.state import state_of
from apps.problems.models import Problem
from apps.runs.models import Run
from tests.browser.marking_pages import ClientFor, room_of, session_of
from tests.browser.test_after_sealing import shot
from tests.graders.answers import FOLLOWS
from tests.graders.grade import grading
from tests.graders.programs import PROOF, SCHEME, quality
from tests.grading.problem_runs import finished, played
from tests.grading.test_grade_command import MODELS
from tests.problems.factory import make_problem
from tests.ui.axe import faults
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]
PREPARES = FOLLOWS | {key.replace("/C1/", "/C2/"): said for key, said in FOLLOWS.items()}


@pytest.fixture(autouse=True)
def models(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)
    monkeypatch.setattr("apps.runs.services.orchestrate", type("Sent", (), {"delay": staticmethod(lambda _: None)}))


def test_a_rubric_is_prepared_edited_and_approved_by_keyboard(
    live_server: LiveServer, client_for: ClientFor, alice: User
) -> None:
    problem = make_problem()
    with room_of(live_server, session_of(client_for, alice), viewport={"width": 1280, "height": 900}) as room:
        page = room.page(f"/problems/{problem.slug}/")
        page.get_by_role("link", name="Prepared for graders").press("Enter")
        page.get_by_text("Add posts or solutions").press("Enter")
        page.get_by_label("Posts or solutions", exact=True).fill("A remark.\n---\nA third way: by cases.")
        page.get_by_role("button", name="Add", exact=True).press("Enter")
        expect(page.get_by_text("2 references added.")).to_be_visible()
        page.get_by_role("button", name="Estimate cost").press("Enter")
        expect(page.get_by_text("About 5 calls")).to_be_visible()
        page.get_by_role("button", name="Prepare", exact=True).press("Enter")
        expect(page.locator("#runs")).to_contain_text("queued")
    finished(Run.objects.get(), PREPARES)
    rubric = state_of(problem).groups[0].rubrics[0]
    with room_of(live_server, session_of(client_for, alice), viewport={"width": 1280, "height": 900}) as room:
        page = room.page(f"/problems/{problem.slug}/prepare/")
        group = page.get_by_role("region", name="Group C1")
        group.get_by_role("link", name="Edit").last.press("Enter")
        page.get_by_label("Points").first.fill("5")
        page.get_by_role("button", name="Save and approve").press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("more than 7")
        expect(page.get_by_label("Points").first).to_have_value("5")
        page.get_by_label("Points").nth(1).fill("2")
        page.get_by_role("button", name="Save and approve").press("Enter")
        expect(page.get_by_text("Approved: graders use it from now on.")).to_be_visible()
        expect(page.get_by_role("region", name="Group C1").get_by_text("approved", exact=True)).to_have_count(2)
    assert rubric.current is not None
    approved = PieceVersion.objects.filter(problem=problem, approved_by=alice, withdrawn_at=None)
    assert sorted(approved.values_list("what", flat=True)) == ["analysis", "clusters", "rubric"]


def _addresses(problem: Problem, alice: User) -> dict[str, str]:
    played(alice, problem, "prepare", {"rubric/C2/*": "I like turtles."} | PREPARES)
    played(alice, problem, "quality", {"*": quality("gaps")}, samples=3)
    table = {"*/solve": PROOF, "attempt/1/*": grading(7), "attempt/2/*": "turtles", "*": grading(2)}
    played(alice, problem, "difficulty", table, attempts=6, workflow="single_turn", references=())
    written = played(alice, problem, "scheme_writer", {"write": SCHEME})
    lost = played(alice, problem, "scheme_writer", {"*": "I like turtles. " * 40})
    benchmark_load(collection="Bench", texts=[("B1", problem.current.statement)])
    state, slug = state_of(problem), [problem.slug]
    group, edit = state.groups[0], reverse("preparation:piece", args=slug)
    version = PieceVersion.objects.filter(problem=problem, what="rubric").first()
    assert version is not None
    return {
        "prepare": reverse("preparation:prepare", args=slug),
        "clusters": f"{edit}?piece=clusters",
        "analysis": f"{edit}?piece={group.analyses[0].name}",
        "rubric": f"{edit}?piece={group.rubrics[0].name}",
        "version": reverse("preparation:piece_version", args=[problem.slug, version.public_id]),
        "writer": reverse("preparation:scheme_writer", args=slug),
        "proposal": reverse("preparation:proposal", args=[written.public_id]),
        "lost": reverse("preparation:proposal", args=[lost.public_id]),
        "quality": reverse("preparation:quality", args=slug),
        "problem": reverse("problems:detail", args=slug),
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_about_a_problem_have_no_serious_fault_and_fit_a_telephone(
    scheme: str, live_server: LiveServer, client_for: ClientFor, alice: User
) -> None:
    statement = "Let $n$ be an integer. Prove that the number $n^2+n$ is even, and that $n^3-n$ is divisible by 6."
    problem = make_problem(statement=statement)
    addresses = _addresses(problem, alice)
    session = session_of(client_for, alice)
    with room_of(live_server, session, viewport={"width": 1280, "height": 900}, color_scheme=scheme) as room:
        page = room.page()
        for name, address in addresses.items():
            for width in (1280, 390):
                page.set_viewport_size({"width": width, "height": 844})
                page.goto(address)
                for details in page.locator("main details:not(.menu)").all():
                    details.evaluate("(one) => { one.open = true; }")
                assert faults(page) == [], name
                shot(page, f"prepare-{name}-{scheme}-{width}")
