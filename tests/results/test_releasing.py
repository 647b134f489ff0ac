"""Releases: one batch for all students, one part at a time, undone for a while, refused when stale or incomplete."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.marks.grades import grade_give, grade_of
from apps.marks.models import AuditEvent, CaseState, MarkingCase, ReleaseBatch, ReleasePart
from apps.results.models import Notice
from apps.results.notices import notices_send
from apps.results.releasing import ReleaseRefused, batch_release, batch_undo, readiness
from tests.contests.factory import moved
from tests.marks.factory import claimed, past_grace, problem_to_mark, script_add, sealed
from tests.results.factory import (
    ABOUT_WHOLE,
    FOR_MARKERS,
    FOR_STUDENT,
    VERDICT_WORDS,
    case_of,
    marked,
    passed,
    released,
    states,
    version_of,
)

ClientFor = Callable[[User | None], Client]


def result(client: Client, problem: object, student: User) -> str:
    version = version_of(problem, student)  # type: ignore[arg-type]
    return client.get(reverse("results:result", kwargs={"version_id": version.public_id})).content.decode()


def regraded(case: MarkingCase) -> None:
    """Create a later grade from the same mark."""
    grade = grade_of(case)
    assert grade is not None
    assert grade.mark is not None
    grade_give(case=case, mark=grade.mark, by=None, reason="Another one")


def test_readiness_is_listed_for_each_problem(bob: User, charlie: User) -> None:
    problem = marked(bob, charlie)
    ready = readiness(problem.contest)
    assert [(row.texts, row.settled, row.news) for row in ready.rows] == [(3, 3, 3)]
    assert ready.missing == 0
    released(problem.contest, bob)
    assert readiness(problem.contest).news == 0


def test_students_see_only_the_released_comments(bob: User, charlie: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie)
    client = client_for(charlie)
    assert FOR_STUDENT not in result(client, problem, charlie)
    url = reverse("results:release", kwargs={"contest_id": problem.contest.public_id})
    answer = client_for(bob).post(url, {"parts": ["comments"], "expected": readiness(problem.contest).token})
    assert answer.status_code == 302
    page = result(client, problem, charlie)
    assert FOR_STUDENT in page
    assert ABOUT_WHOLE in page
    assert FOR_MARKERS not in page
    assert "was not looked at" not in page
    assert "of 7" not in page
    assert states(problem) == {CaseState.RELEASED}
    assert AuditEvent.objects.filter(verb="results.released").exists()


def test_points_are_shown_with_their_derivation_and_without_unused_caps(
    bob: User, charlie: User, client_for: ClientFor
) -> None:
    problem = marked(bob, charlie)
    released(problem.contest, bob, ReleasePart.POINTS)
    page = result(client_for(charlie), problem, charlie)
    assert "<strong>3</strong> of 7" in page
    assert "Chain A: A1 3 = 3" in page
    assert "cap 5" not in page
    assert "The case of two is missing" not in page
    assert "Sketches count" not in page
    assert VERDICT_WORDS[:10] not in page


def test_the_scheme_is_shown_to_students_without_notes(bob: User, charlie: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie)
    released(problem.contest, bob, ReleasePart.SCHEME)
    page = result(client_for(charlie), problem, charlie)
    assert "The case of two is missing" in page
    assert "Uses unique factorisation" in page
    assert "Sketches count" not in page


def test_solutions_and_statistics_are_shown_when_they_are_released(bob: User, charlie: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie, scripts=4)
    url = reverse("results:own", kwargs={"contest_id": problem.contest.public_id})
    client = client_for(charlie)
    released(problem.contest, bob, ReleasePart.POINTS)
    before = client.get(url).content.decode()
    assert "Descend from the smallest solution" not in before
    assert "Points of all" not in before
    released(problem.contest, bob, ReleasePart.POINTS, ReleasePart.SOLUTION, ReleasePart.STATISTICS)
    page = client.get(url).content.decode()
    assert "Descend from the smallest solution" in page
    assert "Points of all 5 texts" in page


def test_statistics_of_few_texts_are_not_shown(bob: User, charlie: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie, scripts=2)
    released(problem.contest, bob, ReleasePart.STATISTICS)
    page = client_for(charlie).get(reverse("results:own", kwargs={"contest_id": problem.contest.public_id})).content.decode()
    assert "Points of all" not in page
    assert "too few texts" in page


def test_a_release_is_undone_in_time_and_not_later(bob: User, charlie: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie)
    batch = released(problem.contest, bob)
    where = {"contest_id": problem.contest.public_id, "batch_id": batch.public_id}
    client_for(bob).post(reverse("results:release_undo", kwargs=where))
    assert FOR_STUDENT not in result(client_for(charlie), problem, charlie)
    assert states(problem) == {CaseState.SETTLED}
    with pytest.raises(ReleaseRefused, match="once"):
        batch_undo(batch=batch, by=bob)
    late = passed(released(problem.contest, bob), minutes=16)
    with pytest.raises(ReleaseRefused, match="over"):
        batch_undo(batch=late, by=bob)
    assert FOR_STUDENT in result(client_for(charlie), problem, charlie)


def test_only_the_newest_release_is_undone_and_the_previous_one_shows_again(
    bob: User, charlie: User, client_for: ClientFor
) -> None:
    problem = marked(bob, charlie)
    first = released(problem.contest, bob, ReleasePart.COMMENTS)
    second = released(problem.contest, bob, ReleasePart.POINTS)
    with pytest.raises(ReleaseRefused, match="newest"):
        batch_undo(batch=first, by=bob)
    batch_undo(batch=second, by=bob)
    page = result(client_for(charlie), problem, charlie)
    assert FOR_STUDENT in page
    assert "of 7" not in page
    assert states(problem) == {CaseState.RELEASED}


def test_unsettled_texts_are_left_out_only_after_confirmation(bob: User, charlie: User) -> None:
    problem = problem_to_mark(bob, scripts=2)
    past_grace(sealed(claimed(problem, bob), bob))
    with pytest.raises(ReleaseRefused, match="Texts without a settled grade: 1"):
        released(problem.contest, bob)
    batch = released(problem.contest, bob, leaves_out=True)
    assert batch.grades.count() == 1


@pytest.mark.parametrize("parts", [(), ("everything",), ("comments", "grades")])
def test_unknown_parts_are_refused(bob: User, charlie: User, parts: tuple[str, ...]) -> None:
    problem = marked(bob, charlie)
    with pytest.raises(ReleaseRefused, match="Choose"):
        batch_release(contest=problem.contest, parts=parts, by=bob, expected=readiness(problem.contest).token)


def test_a_release_is_refused_when_the_grades_changed(bob: User, charlie: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie)
    url = reverse("results:release", kwargs={"contest_id": problem.contest.public_id})
    seen = readiness(problem.contest).token
    assert f'name="expected" value="{seen}"' in client_for(bob).get(url).content.decode()
    regraded(case_of(problem, charlie))
    assert len(readiness(problem.contest).grades) == 3, "the same number, but different grades"
    answer = client_for(bob).post(url, {"parts": ["comments"], "expected": seen})
    assert answer.status_code == 422
    assert "grades have changed meanwhile" in answer.content.decode()
    assert not ReleaseBatch.objects.exists()


def test_an_equal_second_release_is_refused(bob: User, charlie: User) -> None:
    problem = marked(bob, charlie)
    released(problem.contest, bob)
    with pytest.raises(ReleaseRefused, match="seen all"):
        released(problem.contest, bob)


def test_a_later_grade_of_which_students_saw_only_a_part_is_released_with_the_others(bob: User, charlie: User) -> None:
    problem = marked(bob, charlie)
    released(problem.contest, bob, ReleasePart.POINTS)
    regraded(case_of(problem, charlie))
    released(problem.contest, bob, ReleasePart.COMMENTS)
    assert readiness(problem.contest).news == 0
    assert released(problem.contest, bob, ReleasePart.POINTS)
    with pytest.raises(ReleaseRefused, match="already seen"):
        released(problem.contest, bob, ReleasePart.POINTS, ReleasePart.COMMENTS)


def test_nothing_is_released_while_students_write(bob: User, charlie: User) -> None:
    problem = marked(bob, charlie)
    contest = problem.contest
    type(contest).objects.filter(pk=contest.pk).update(state=ContestState.OPEN)
    with pytest.raises(ReleaseRefused, match="being marked"):
        released(contest, bob)


def test_a_closed_contest_is_released_too(bob: User, charlie: User) -> None:
    problem = marked(bob, charlie)
    moved(problem.contest, ContestState.CLOSED)
    assert released(problem.contest, bob).grades.count() == 3


def test_an_unmarked_text_is_left_out_of_a_release(bob: User, charlie: User, dana: User) -> None:
    problem = marked(bob, charlie)
    script_add(problem, "Late", "Another text.")
    assert readiness(problem.contest).missing == 1
    released(problem.contest, bob, leaves_out=True)
    assert set(MarkingCase.objects.filter(grades__releases__isnull=True).values_list("state", flat=True)) <= {CaseState.OPEN}


def test_a_preview_shows_the_author_s_page_and_releases_nothing(bob: User, charlie: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie)
    where = {"contest_id": problem.contest.public_id, "case_id": case_of(problem, charlie).public_id}
    url = reverse("results:preview", kwargs=where)
    page = client_for(bob).get(url, {"part": ["comments"]}).content.decode()
    assert FOR_STUDENT in page
    assert FOR_MARKERS not in page
    assert "of 7" not in page
    assert "Charlie" not in page
    assert not ReleaseBatch.objects.exists()
    assert client_for(charlie).get(url).status_code == 404


def test_a_marker_who_organises_nothing_cannot_release(bob: User, charlie: User, dana: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie, dana)
    url = reverse("results:release", kwargs={"contest_id": problem.contest.public_id})
    assert client_for(dana).get(url).status_code == 404
    assert client_for(dana).post(url, {"parts": ["comments"], "expected": readiness(problem.contest).token}).status_code == 404
    assert not ReleaseBatch.objects.exists()


def test_emails_without_results_are_sent_once_a_release_is_permanent(bob: User, charlie: User) -> None:
    problem = marked(bob, charlie)
    batch = released(problem.contest, bob, address="https://example.org/contests/1/results/")
    assert notices_send() == 0
    passed(batch, minutes=16)
    assert notices_send() == 1
    assert notices_send() == 0
    letter = mail.outbox[0]
    assert letter.to == ["charlie@example.org"]
    assert "https://example.org/contests/1/results/" in letter.body
    assert "3" not in letter.body.replace("contests/1", "")
    assert "point" not in letter.body.lower()


def test_an_undone_release_sends_no_email(bob: User, charlie: User) -> None:
    problem = marked(bob, charlie)
    batch_undo(batch=released(problem.contest, bob), by=bob)
    assert not Notice.objects.exists()
    assert notices_send(now=timezone.now() + timedelta(days=1)) == 0
    assert mail.outbox == []


def test_release_and_undo_ask_for_confirmation_with_the_new_parts(bob: User, charlie: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie)
    address = reverse("results:release", kwargs={"contest_id": problem.contest.public_id})
    page = client_for(bob).get(address).content.decode()
    assert 'name="ask" value="|Release|Release 3 results to their authors? 3 of them are new to them.' in page
    assert "Take this release back?" not in page
    released(problem.contest, bob)
    page = client_for(bob).get(address).content.decode()
    assert "0 of them are new to them." in page
    assert "No grade in it is new to students" in page
    assert 'name="ask" value="|Take back|Take this release back?' in page
