"""The ten acceptance tests of the design, each by its number. Other files test the details."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, models, transaction
from django.test import Client
from django.urls import get_resolver, reverse
from playwright.sync_api import expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.marks.models import Coordination, FinalGrade, KeyMap, Mark, MarkingTask, Suggestion
from apps.marks.office.statistics import figures
from apps.reasoning.agreement.report import agree
from apps.reasoning.marking.schemes.evaluation import evaluate
from apps.reasoning.marking.sheets.claims import claim_read
from apps.results.releasing import readiness
from tests.agreement.tables import pairs_of
from tests.browser.marking_pages import room_of, session_of, settled
from tests.cast import person
from tests.marking.test_hand_computed_cases import CASES, SCHEMES
from tests.marks.crawl import every_pattern, filled
from tests.marks.factory import marker, problem_to_mark
from tests.marks.office.test_scheme_change import CHEAPER, OLD, applied, scheme_of, written
from tests.marks.sealing.test_nothing_before_sealing import COLLEAGUE, NUMBER, World
from tests.marks.suggested import SECRET, sealed_mark, suggested
from tests.marks.test_marking_shows_no_name import SECRETS, problem_of, student_named, tasks_of
from tests.marks.workspace.test_many_claim_at_once import MARKERS, claim_until_none
from tests.results.factory import FOR_STUDENT, TEXT, case_of, marked, released, version_of
from tests.results.test_later_grades import page_of
from tests.results.test_revisions import fates, revised
from tests.ui.browser import needs_chromium

ClientFor = Callable[[User | None], Client]
MARKING = ("marks:", "office:", "contests:", "submissions:", "results:")


def lasting(page: str) -> str:
    """Return a page without its CSRF tokens, which differ in every response."""
    return re.sub(r"\b[A-Za-z0-9]{64}\b", "", page)


@pytest.fixture(autouse=True)
def _no_graders(settings: Settings) -> None:
    settings.MARKING_GRADERS = []


@pytest.mark.django_db
def test_1_the_schema_makes_it_impossible_for_an_ai_row_to_be_a_final_grade(bob: User) -> None:
    mark = sealed_mark(bob)
    row = suggested(mark)
    for model in (FinalGrade, Mark, Coordination):
        assert Suggestion not in {one.related_model for one in model._meta.get_fields() if isinstance(one, models.Field)}
    with pytest.raises(IntegrityError), transaction.atomic():
        FinalGrade.objects.create(case=mark.task.case, points=Decimal(3), sheet=row.body)
    grade = FinalGrade.objects.create(case=mark.task.case, mark=mark, points=Decimal(7), sheet={})
    with pytest.raises(IntegrityError), transaction.atomic():
        FinalGrade.objects.filter(pk=grade.pk).update(mark=None)


@pytest.mark.django_db
def test_2_a_marker_cannot_fetch_any_ai_field_before_sealing(bob: User, dana: User, client_for: ClientFor) -> None:
    world, client = World(bob, dana), client_for(dana)
    tried = 0
    for name, pattern in every_pattern(get_resolver().url_patterns):
        for arguments in filled(pattern, world.problem) if name.startswith("marks:") else ():
            answer = client.get(reverse(name, kwargs=arguments))
            text = f"{answer.headers}{answer.content.decode()}"
            tried += 1
            assert SECRET not in text, name
            assert NUMBER not in text, name
            assert COLLEAGUE not in text or "coordination" in name, name
    assert tried > 50


@pytest.mark.parametrize("scheme", SCHEMES)
def test_3_a_scheme_with_chains_and_caps_reproduces_the_table_computed_by_hand(scheme: str) -> None:
    rows = [case for case in CASES if case["scheme"] == scheme]
    assert rows
    for case in rows:
        claim = claim_read(SCHEMES[scheme], case["claim"])
        step = Decimal(case["step"]) if "step" in case else None
        found = evaluate(SCHEMES[scheme], claim.ticks, step=step, is_mixed=claim.is_mixed)
        assert found.points == Decimal(case["points"]), case


@pytest.mark.django_db
def test_4_editing_a_sentence_never_moves_a_verdict_to_another_sentence(bob: User, charlie: User) -> None:
    problem = marked(bob, charlie)
    released(problem.contest, bob)
    same = TEXT.replace("Then $p", "It follows that $p").replace("Similarly for $q$.", "Then $q \\equiv 1 \\pmod 4$.")
    found = fates(revised(problem, charlie, same))
    assert "kept" not in {found["v1"], found["v2"]}, "a verdict moves neither to the edited nor to the equal sentence"


@pytest.mark.django_db(transaction=True)
def test_5_fifty_markers_at_once_and_no_script_is_claimed_twice() -> None:
    people = [marker(f"m{number}") for number in range(MARKERS[connection.vendor])]
    problem = problem_to_mark(person("bob"), *people, scripts=60)
    with ThreadPoolExecutor(len(people)) as pool:
        keys = [key for part in pool.map(lambda user: claim_until_none(problem, user), people) for key in part]
    assert sorted(keys) == sorted(MarkingTask.objects.values_list("pk", flat=True))


@pytest.mark.django_db
def test_6_every_number_of_a_dashboard_excludes_contaminated_pairs(bob: User, charlie: User) -> None:
    problem = marked(bob, charlie)
    (before,) = figures([problem])[0].markers
    Mark.objects.filter(task__case=case_of(problem, charlie)).update(is_assisted=True)
    (after,) = figures([problem])[0].markers
    assert (before.marks, after.marks) == (3, 2)
    clean = pairs_of([0.0, 1.0, 7.0] * 10, [0.0, 2.0, 7.0] * 10, problems=5)
    seen = [pair.model_copy(update={"contaminated": "made after a reveal"}) for pair in pairs_of([0] * 10, [7] * 10)]
    assert agree(clean + seen, draws=0).estimates == agree(clean, draws=0).estimates
    assert agree(clean + seen, draws=0).counts == agree(clean, draws=0).counts


@pytest.mark.browser
@needs_chromium
@pytest.mark.django_db(transaction=True)
def test_7_a_full_case_by_keyboard_with_a_screen_reader(live_server: LiveServer, client_for: ClientFor, bob: User) -> None:
    """A screen reader uses single keys, so they are off: the marker uses names, Tab, Enter and words."""
    problem_to_mark(bob)
    KeyMap.objects.create(person=bob, single_keys=False)
    with room_of(live_server, session_of(client_for, bob)) as room:
        page = room.begin()
        keys = page.keyboard
        for name, value in (("Claim line", "A1"), ("Reason", "The second case is missing.")):
            box = page.get_by_label(name, exact=True)
            for _ in range(120):
                if box.evaluate("(one) => one === document.activeElement"):
                    break
                keys.press("Tab")
            expect(box).to_be_focused()
            keys.type(value)
        keys.press("Control+k")
        keys.type("what wrong")
        keys.press("Enter")
        expect(page.get_by_role("dialog", name="What is wrong with step 1?")).to_be_visible()
        while not page.evaluate("document.activeElement.value === 'missing-case'"):
            keys.press("Tab")
        keys.press("Enter")
        settled(page)
        expect(page.get_by_role("article", name="Verdict: missing case, independent")).to_be_visible()
        expect(page.get_by_role("status").filter(has_text="Saved")).to_be_visible()
        keys.press("Control+Enter")
        expect(page.locator('[data-part="grace-words"]')).to_contain_text("sealed with 3 points")
        settled(page)
    mark = Mark.objects.get(sealed_at__isnull=False)
    assert mark.points == 3
    assert (mark.sealed_sheet or {})["verdicts"][0]["fallacy"] == "missing-case"


@pytest.mark.django_db
def test_8_a_crawl_for_the_roster_finds_nothing(bob: User, dana: User, client_for: ClientFor, valkey: object) -> None:
    problem = problem_of(bob, dana, student_named())
    tasks_of(problem, dana, bob)
    client, tried = client_for(dana), 0
    for name, pattern in every_pattern(get_resolver().url_patterns):
        for arguments in filled(pattern, problem) if name.startswith(MARKING) else ():
            answer = client.get(reverse(name, kwargs=arguments), follow=True)
            said = f"{answer.headers}{b''.join(answer).decode(errors='replace')}".casefold()
            tried += 1
            assert not [word for word in SECRETS if word.casefold() in said], name
    assert tried > 60


@pytest.mark.django_db
def test_9_a_change_of_the_rubric_after_release_is_a_pending_revision_and_no_new_number(
    bob: User, charlie: User, client_for: ClientFor
) -> None:
    problem = marked(bob, charlie)
    scheme_before = scheme_of(problem)
    assert scheme_before.versions.get(status="active").content.items
    written(problem, bob, OLD)
    applied(problem, bob)
    released(problem.contest, bob)
    client, version = client_for(charlie), version_of(problem, charlie)
    shown = lasting(page_of(client, version))
    written(problem, bob, CHEAPER)
    assert applied(problem, bob).pending
    assert lasting(page_of(client, version)) == shown
    assert readiness(problem.contest).news > 0
    released(problem.contest, bob)
    assert lasting(page_of(client, version)) != shown


@pytest.mark.django_db
def test_10_a_new_upload_leaves_old_feedback_readable(bob: User, charlie: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie)
    released(problem.contest, bob)
    old = version_of(problem, charlie)
    newer = revised(problem, charlie, TEXT + "\n\nAnd one thing more.")
    client = client_for(charlie)
    assert FOR_STUDENT in page_of(client, old)
    assert "<strong>3</strong> of 7" in page_of(client, old)
    assert "No results are released for this version." in page_of(client, newer)
