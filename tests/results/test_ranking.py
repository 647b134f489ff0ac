"""The published ranking: for students and coaches of the contest, after sign-off and release, with names or numbers only."""

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import AuthorKind, ContestProblem, ContestState, Identity
from apps.contests.services import coach_add
from apps.marks.models import AuditEvent, FinalGrade, ReleasePart
from apps.marks.office.office import result_list, results_sign
from apps.results.models import PublishedRanking
from apps.results.ranking import RankingRefused, ranking_publish, ranking_withdraw
from apps.results.releasing import batch_undo
from apps.submissions.models import SubmissionVersion
from tests.answers import pdf_text
from tests.contests.factory import make_contest, moved
from tests.marks.factory import script_add
from tests.marks.office.listed import listed
from tests.marks.office.test_certificates_and_letters import HOSTILE, made_ready
from tests.results.factory import released

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def problem(bob: User, dana: User, charlie: User) -> ContestProblem:
    """Four marked papers; Charlie is the student with 7 points; Dana coaches too."""
    problem = listed(bob)
    coach_add(contest=problem.contest, person=dana)
    Identity.objects.filter(name="Ada Ampere").update(person=charlie)
    return problem


def published(problem: ContestProblem, by: User, *, has_names: bool) -> PublishedRanking:
    """Release the points and publish the ranking."""
    released(problem.contest, by, ReleasePart.POINTS)
    return ranking_publish(contest=problem.contest, by=by, digest=result_list(problem.contest).digest, has_names=has_names)


def regraded(problem: ContestProblem, by: User) -> None:
    """Give the paper with no points one point, and sign off the new list."""
    grade = FinalGrade.objects.get(points=0)
    FinalGrade.objects.create(
        case=grade.case, mark=grade.mark, points=1, scheme_version=grade.scheme_version, sheet=grade.sheet, supersedes=grade
    )
    results_sign(contest=problem.contest, by=by, digest=result_list(problem.contest).digest)


def at(problem: ContestProblem, name: str = "ranking", **more: str) -> str:
    return reverse(f"results:{name}", kwargs={"contest_id": problem.contest.public_id} | more)


def test_nothing_is_published_before_sign_off_and_release(problem: ContestProblem, bob: User) -> None:
    contest, digest = problem.contest, result_list(problem.contest).digest
    with pytest.raises(RankingRefused, match="No ranking can be published until this list is signed off"):
        ranking_publish(contest=contest, by=bob, digest=digest, has_names=False)
    results_sign(contest=contest, by=bob, digest=digest)
    released(contest, bob, ReleasePart.COMMENTS)
    with pytest.raises(RankingRefused, match="Release the points first: 4 grades of this list are new to students"):
        ranking_publish(contest=contest, by=bob, digest=digest, has_names=False)
    released(contest, bob, ReleasePart.POINTS)
    with pytest.raises(RankingRefused, match="changed since you looked"):
        ranking_publish(contest=contest, by=bob, digest="0" * 64, has_names=False)
    with pytest.raises(RankingRefused, match="Open the identities"):
        ranking_publish(contest=contest, by=bob, digest=digest, has_names=True)
    assert ranking_publish(contest=contest, by=bob, digest=digest, has_names=False).body["rows"]


def test_closing_the_contest_releases_nothing(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    made_ready(problem, bob)
    contest = moved(problem.contest, ContestState.CLOSED)
    with pytest.raises(RankingRefused, match="Release the points first"):
        ranking_publish(contest=contest, by=bob, digest=result_list(contest).digest, has_names=False)
    page = client_for(bob).get(at(problem)).content.decode()
    assert "Release the points first" in page
    assert "Publish with" not in page


def test_before_marking_the_page_has_no_link_that_fails(bob: User, client_for: ClientFor) -> None:
    contest, client = make_contest(bob), client_for(bob)
    page = client.get(reverse("results:ranking", args=[contest.public_id])).content.decode()
    assert "No ranking can be published until this list is signed off" in page
    links = set(re.findall('href="(/[^"]*)"', page.split("<main")[1].split("</main>")[0]))
    assert {link: client.get(link).status_code for link in links} == dict.fromkeys(links, 200)
    assert links


def test_a_later_grade_is_not_published_before_it_is_released(problem: ContestProblem, bob: User) -> None:
    made_ready(problem, bob, fixes=False)
    contest = problem.contest
    released(contest, bob, ReleasePart.POINTS)
    regraded(problem, bob)
    digest = result_list(contest).digest
    with pytest.raises(RankingRefused, match="1 grade of this list is new to students"):
        ranking_publish(contest=contest, by=bob, digest=digest, has_names=False)
    released(contest, bob, ReleasePart.COMMENTS)
    with pytest.raises(RankingRefused, match="1 grade of this list is new to students"):
        ranking_publish(contest=contest, by=bob, digest=digest, has_names=False)
    released(contest, bob, ReleasePart.POINTS)
    assert ranking_publish(contest=contest, by=bob, digest=digest, has_names=False).body["rows"][-1]["total"] == "1"


def test_a_text_that_is_not_marked_blocks_the_ranking(problem: ContestProblem, bob: User) -> None:
    made_ready(problem, bob)
    released(problem.contest, bob, ReleasePart.POINTS)
    script_add(problem, "Late")
    with pytest.raises(RankingRefused, match="signed off"):
        ranking_publish(contest=problem.contest, by=bob, digest=result_list(problem.contest).digest, has_names=False)


def test_taking_the_release_back_takes_the_ranking_back(
    problem: ContestProblem, bob: User, charlie: User, client_for: ClientFor
) -> None:
    made_ready(problem, bob)
    published(problem, bob, has_names=False)
    later = released(problem.contest, bob, ReleasePart.SOLUTION)
    batch_undo(batch=later, by=bob)
    assert client_for(charlie).get(at(problem)).status_code == 200, "its points are still released"
    batch_undo(batch=problem.contest.releases.get(undone_at=None), by=bob)
    assert client_for(charlie).get(at(problem)).status_code == 404
    assert client_for(charlie).get(at(problem, "ranking_file", form="csv")).status_code == 404
    assert AuditEvent.objects.filter(verb="ranking.withdrawn", actor=bob).count() == 1


def test_a_paper_by_a_model_is_not_in_the_ranking(problem: ContestProblem, bob: User, charlie: User) -> None:
    Identity.objects.filter(name="Bo Bohr").update(kind=AuthorKind.MODEL)
    made_ready(problem, bob)
    rows = published(problem, bob, has_names=True).body["rows"]
    assert [(row["rank"], row["total"]) for row in rows] == [(1, "7"), (2, "2"), (3, "0")]


def test_a_ranking_by_number_names_no_student(problem: ContestProblem, bob: User, charlie: User, client_for: ClientFor) -> None:
    made_ready(problem, bob)
    published(problem, bob, has_names=False)
    page = client_for(charlie).get(at(problem)).content.decode()
    for identity in Identity.objects.all():
        assert identity.paper.number in page
        assert identity.name not in page.replace("charlie", "")
    assert page.count(">you<") == 1
    assert "Gold medal" in page


def test_a_ranking_with_names_shows_no_numbers_and_orders_equal_ranks_by_name(
    problem: ContestProblem, bob: User, charlie: User, client_for: ClientFor
) -> None:
    made_ready(problem, bob)
    published(problem, bob, has_names=True)
    page = client_for(charlie).get(at(problem)).content.decode()
    assert page.index("Ada Ampere") < page.index("Bo Bohr") < page.index("Cy Curie")
    assert "Gymnasium Hohenstein" in page
    assert not [one for one in Identity.objects.all() if one.paper.number in page]


@pytest.mark.parametrize("page", ["results:own", "submissions:own", "results:result", "home"])
def test_students_find_the_ranking_where_they_see_their_contest_once_it_is_published(
    problem: ContestProblem, bob: User, charlie: User, client_for: ClientFor, page: str
) -> None:
    version = SubmissionVersion.objects.get(submission__paper_id=problem.contest.identities.get(person=charlie).paper_id)
    argument = {"home": [], "results:result": [version.public_id]}.get(page, [problem.contest.public_id])
    address, client = reverse(page, args=argument), client_for(charlie)
    made_ready(problem, bob)
    assert at(problem) not in client.get(address).content.decode()
    published(problem, bob, has_names=True)
    assert at(problem) in client.get(address).content.decode()
    ranking_withdraw(contest=problem.contest, by=bob)
    assert at(problem) not in client.get(address).content.decode()


def test_a_coach_who_has_not_opened_the_identities_reads_numbers(
    problem: ContestProblem, bob: User, dana: User, client_for: ClientFor
) -> None:
    made_ready(problem, bob)
    published(problem, bob, has_names=True)
    for address in (at(problem), at(problem, "ranking_file", form="csv")):
        page = client_for(dana).get(address).content.decode()
        assert "Ampere" not in page
        assert Identity.objects.get(name="Ada Ampere").paper.number in page
    assert "Ada Ampere" in client_for(bob).get(at(problem)).content.decode()


def test_the_published_list_stays_as_it_was_until_it_is_published_again_or_withdrawn(
    problem: ContestProblem, bob: User, charlie: User, client_for: ClientFor
) -> None:
    made_ready(problem, bob, fixes=False)
    first, contest = published(problem, bob, has_names=False), problem.contest
    csv = at(problem, "ranking_file", form="csv")
    before = client_for(charlie).get(csv).content.decode()
    regraded(problem, bob)
    assert client_for(charlie).get(csv).content.decode() == before
    assert "The results changed after this ranking was published" in client_for(bob).get(at(problem)).content.decode()
    released(contest, bob, ReleasePart.POINTS)
    assert client_for(charlie).get(csv).content.decode() == before, "a release publishes no ranking"
    ranking_publish(contest=contest, by=bob, digest=result_list(contest).digest, has_names=False)
    *others, last = client_for(charlie).get(csv).content.decode().splitlines()
    assert others == before.splitlines()[:-1]
    assert (before.splitlines()[-1][-4:], last[-4:]) == (",0,0", ",1,1")
    first.refresh_from_db()
    assert first.withdrawn_at is not None
    ranking_withdraw(contest=contest, by=bob)
    assert client_for(charlie).get(csv).status_code == 404
    verbs = AuditEvent.objects.filter(verb__startswith="ranking.").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["ranking.published", "ranking.published", "ranking.withdrawn"]


@pytest.mark.parametrize("has_names", [True, False])
def test_names_and_numbers_are_never_both_published_as_equal_points_would_join_them(
    problem: ContestProblem, bob: User, client_for: ClientFor, has_names: bool
) -> None:
    made_ready(problem, bob)
    published(problem, bob, has_names=has_names)
    ranking_withdraw(contest=problem.contest, by=bob)
    digest = result_list(problem.contest).digest
    with pytest.raises(RankingRefused, match="join both lists by their points"):
        ranking_publish(contest=problem.contest, by=bob, digest=digest, has_names=not has_names)
    page = client_for(bob).get(at(problem)).content.decode()
    assert ("Publish with names" in page, "Publish with paper numbers only" in page) == (has_names, not has_names)
    assert ranking_publish(contest=problem.contest, by=bob, digest=digest, has_names=has_names)


def test_strangers_and_students_before_publication_get_404(
    problem: ContestProblem, alice: User, charlie: User, client_for: ClientFor
) -> None:
    assert client_for(charlie).get(at(problem)).status_code == 404
    assert client_for(alice).get(at(problem)).status_code == 404
    assert client_for(charlie).post(at(problem, "ranking_change"), {"with": "names"}).status_code == 404


def test_files_of_a_ranking_guard_cells_and_set_names_as_text(
    problem: ContestProblem, bob: User, charlie: User, client_for: ClientFor
) -> None:
    Identity.objects.filter(name="Bo Bohr").update(name=HOSTILE)
    made_ready(problem, bob)
    published(problem, bob, has_names=True)
    client = client_for(charlie)
    assert "'=SUM(1)" in client.get(at(problem, "ranking_file", form="csv")).content.decode()
    text = " ".join(pdf_text(client.get(at(problem, "ranking_file", form="pdf")).content).split())
    assert "Ada Ampere" in text
    assert "#panic(" in text
    assert client.get(at(problem, "ranking_file", form="exe")).status_code == 404


def test_an_organiser_publishes_on_the_page(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    made_ready(problem, bob)
    contest, client = problem.contest, client_for(bob)
    released(contest, bob, ReleasePart.POINTS)
    assert "Publish with names" in client.get(at(problem)).content.decode()
    sent = {"with": "names", "digest": result_list(contest).digest}
    page = client.post(at(problem, "ranking_change"), sent, follow=True).content.decode()
    assert "The ranking is published" in page
    assert "Withdraw" in page
    client.post(at(problem, "ranking_change"), {"withdraw": "yes"})
    assert not contest.rankings.filter(withdrawn_at=None).exists()
