"""A newer version keeps remarks on unchanged steps; the others wait for a marker or are listed as gone."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem, ContestState
from apps.contests.services import contest_move
from apps.results.revisions import RevisionRefused, remark_decide, revision_of, revisions_for
from apps.submissions.models import Origin, Submission, SubmissionVersion, TextFormat
from apps.submissions.services import version_add
from tests.contests.factory import hand_in, moved
from tests.marks.factory import marker
from tests.results.factory import FOR_STUDENT, TEXT, VERDICT_WORDS, marked, released, version_of

ClientFor = Callable[[User | None], Client]
ROOT_WORDS = VERDICT_WORDS.split("$")[0].strip()


def revised(problem: ContestProblem, student: User, text: str) -> SubmissionVersion:
    """Hand in a newer version while the contest is open again, then return to marking."""
    contest = problem.contest
    contest.refresh_from_db()
    contest = contest_move(contest=contest, verb="reopen", based_on=contest.row_version)
    paper = version_of(problem, student).submission.paper
    paper = type(paper).objects.select_related("contest").get(pk=paper.pk)
    version = hand_in(paper, ContestProblem.objects.get(pk=problem.pk), text)
    moved(contest, ContestState.MARKING)
    return SubmissionVersion.objects.select_related("submission__paper__contest").get(pk=version.pk)


def fates(version: SubmissionVersion) -> dict[str, str]:
    revision = revision_of(version)
    assert revision is not None
    return {row.key: row.carried.fate for row in revision.rows}


@pytest.fixture
def problem(bob: User, charlie: User) -> ContestProblem:
    problem = marked(bob, charlie, marker("eve"))
    released(problem.contest, bob)
    return problem


def test_remarks_stay_where_their_steps_stayed(problem: ContestProblem, charlie: User) -> None:
    version = revised(problem, charlie, TEXT + "\n\nThe end.")
    assert fates(version) == {"v1": "kept", "v2": "kept", "c1": "kept", "c3": "needs confirmation"}


def test_an_edited_step_loses_its_remarks_and_their_consequences(problem: ContestProblem, charlie: User) -> None:
    version = revised(problem, charlie, TEXT.replace("Then $p", "It follows that $p"))
    found = fates(version)
    assert found["v1"] == "needs confirmation"
    assert found["c1"] == "needs confirmation"
    assert found["v2"] == "needs confirmation"


def test_remarks_on_a_deleted_step_are_listed_as_gone(problem: ContestProblem, charlie: User) -> None:
    version = revised(problem, charlie, TEXT.replace("Then $p \\equiv 1 \\pmod 4$.\n\n", ""))
    assert fates(version)["v1"] == "orphaned"
    assert fates(version)["v2"] == "needs confirmation"


def test_an_author_sees_kept_remarks_and_only_the_number_of_the_others(
    problem: ContestProblem, charlie: User, client_for: ClientFor
) -> None:
    version = revised(problem, charlie, TEXT.replace("Similarly", "In the same way"))
    page = client_for(charlie).get(reverse("results:result", kwargs={"version_id": version.public_id})).content.decode()
    earlier = page.split('id="earlier"')[1].split("</section>")[0]
    assert ROOT_WORDS in earlier
    assert FOR_STUDENT in earlier
    assert "This does not follow" not in earlier
    assert "2 remarks on what you changed" in earlier


def test_a_remark_is_current_once_a_marker_confirms_it(
    problem: ContestProblem, bob: User, charlie: User, client_for: ClientFor
) -> None:
    version = revised(problem, charlie, TEXT.replace("Then $p", "Hence $p"))
    own = reverse("results:result", kwargs={"version_id": version.public_id})
    assert ROOT_WORDS not in client_for(charlie).get(own).content.decode()
    client_for(bob).post(reverse("results:revision", kwargs={"version_id": version.public_id}), {"key": "v1", "holds": "yes"})
    assert ROOT_WORDS in client_for(charlie).get(own).content.decode()
    remark_decide(version=version, key="v1", holds=False, by=bob)
    assert ROOT_WORDS not in client_for(charlie).get(own).content.decode()
    with pytest.raises(RevisionRefused):
        remark_decide(version=version, key="nothing", holds=True, by=bob)


def test_a_colleague_reads_earlier_remarks_only_after_their_own_mark(
    problem: ContestProblem, bob: User, charlie: User, client_for: ClientFor
) -> None:
    version = revised(problem, charlie, TEXT.replace("Then $p", "Hence $p"))
    url = reverse("results:revision", kwargs={"version_id": version.public_id})
    assert client_for(marker("eve")).get(url).status_code == 404
    assert client_for(charlie).get(url).status_code == 404
    page = client_for(bob).get(url).content.decode()
    assert ROOT_WORDS in page
    assert "charlie" not in page.lower()


def test_unreleased_remarks_are_not_carried_over(bob: User, charlie: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie)
    version = revised(problem, charlie, TEXT + "\n\nThe end.")
    assert revision_of(version) is None
    url = reverse("results:revision", kwargs={"version_id": version.public_id})
    assert client_for(bob).get(url).status_code == 404


def test_the_number_of_queries_does_not_grow_with_unreadable_revised_texts(
    problem: ContestProblem, bob: User, charlie: User, django_assert_num_queries: Callable[..., AbstractContextManager[object]]
) -> None:
    version = revised(problem, charlie, TEXT.replace("Then $p", "Hence $p"))
    contest, eve = version.submission.paper.contest, marker("eve")
    with CaptureQueriesContext(connection) as one:
        assert revisions_for(eve, contest) == []
    for submission in Submission.objects.filter(problem=problem).exclude(pk=version.submission_id):
        version_add(submission=submission, text="Another way.", text_format=TextFormat.MARKDOWN, origin=Origin.TYPED)
    with django_assert_num_queries(len(one)):
        assert revisions_for(eve, contest) == []
    assert not any('"source"' in query["sql"] for query in one.captured_queries), "the list must not read their sources"
    assert version in [revision.new for revision in revisions_for(bob, contest)]
