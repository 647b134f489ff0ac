"""The published ranking: for students and coaches of the contest, after sign-off and release, with names or numbers only."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import Contest, ContestProblem, ContestState, Identity
from apps.contests.services import coach_add
from apps.marks.models import AuditEvent, ReleaseBatch
from apps.marks.office.office import result_list, results_sign
from apps.results.models import PublishedRanking
from apps.results.ranking import RankingRefused, ranking_publish, ranking_withdraw
from tests.answers import pdf_text
from tests.marks.office.listed import listed
from tests.marks.office.test_certificates_and_letters import HOSTILE, made_ready

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def problem(bob: User, dana: User, charlie: User) -> ContestProblem:
    """Four marked papers; Charlie is the student with 7 points; Dana coaches too."""
    problem = listed(bob)
    coach_add(contest=problem.contest, person=dana)
    Identity.objects.filter(name="Ada Ampere").update(person=charlie)
    return problem


def closed(problem: ContestProblem) -> Contest:
    Contest.objects.filter(pk=problem.contest_id).update(state=ContestState.CLOSED)
    return Contest.objects.get(pk=problem.contest_id)


def published(problem: ContestProblem, by: User, *, has_names: bool) -> PublishedRanking:
    contest = closed(problem)
    return ranking_publish(contest=contest, by=by, digest=result_list(contest).digest, has_names=has_names)


def at(problem: ContestProblem, name: str = "ranking", **more: str) -> str:
    return reverse(f"results:{name}", kwargs={"contest_id": problem.contest.public_id} | more)


def test_nothing_is_published_before_sign_off_and_release(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    contest, digest = problem.contest, result_list(problem.contest).digest
    with pytest.raises(RankingRefused, match="No ranking can be published until this list is signed off"):
        ranking_publish(contest=contest, by=bob, digest=digest, has_names=False)
    results_sign(contest=contest, by=bob, digest=digest)
    with pytest.raises(RankingRefused, match="Release the points or close the contest first"):
        ranking_publish(contest=contest, by=bob, digest=digest, has_names=False)
    ReleaseBatch.objects.create(contest=contest, parts=["points"], by=bob, undo_until=timezone.now() + timedelta(hours=1))
    ranking_publish(contest=contest, by=bob, digest=digest, has_names=False)
    with pytest.raises(RankingRefused, match="changed since you looked"):
        ranking_publish(contest=contest, by=bob, digest="0" * 64, has_names=False)
    with pytest.raises(RankingRefused, match="Open the identities"):
        ranking_publish(contest=contest, by=bob, digest=digest, has_names=True)


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
    assert at(problem) in client_for(charlie).get(reverse("results:own", args=[problem.contest.public_id])).content.decode()


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
    first = published(problem, bob, has_names=True)
    second = published(problem, bob, has_names=False)
    first.refresh_from_db()
    assert first.withdrawn_at is not None
    assert client_for(charlie).get(at(problem)).status_code == 200
    ranking_withdraw(contest=second.contest, by=bob)
    assert client_for(charlie).get(at(problem)).status_code == 404
    verbs = AuditEvent.objects.filter(verb__startswith="ranking.").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["ranking.published", "ranking.published", "ranking.withdrawn"]


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
    contest, client = closed(problem), client_for(bob)
    assert "Publish with names" in client.get(at(problem)).content.decode()
    sent = {"with": "names", "digest": result_list(contest).digest}
    page = client.post(at(problem, "ranking_change"), sent, follow=True).content.decode()
    assert "The ranking is published" in page
    assert "Withdraw" in page
    client.post(at(problem, "ranking_change"), {"withdraw": "yes"})
    assert not contest.rankings.filter(withdrawn_at=None).exists()
