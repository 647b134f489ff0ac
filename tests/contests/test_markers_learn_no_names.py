"""Anonymity: pages of markers show no names, number order reveals nothing, and each opened identity is recorded."""

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Role, User
from apps.contests import services
from apps.contests.models import Contest, ContestState, IdentityReveal, Paper
from apps.contests.services import ContestRefused
from tests.contests.factory import enter, hand_in, make_contest, moved

ClientFor = Callable[[User | None], Client]
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ROSTER = ("Zebulon Quartermaine", "quartermaine7", "Gymnasium Hohenstein", "zq@example.org")


@pytest.fixture
def student(db: None) -> User:
    return User.objects.create_user(
        ROSTER[1], ROSTER[3], "x", role=Role.STUDENT, first_name="Zebulon", last_name="Quartermaine"
    )


@pytest.fixture
def marked(bob: User, dana: User, student: User) -> Contest:
    """A contest being marked, with one paper; Dana marks in it and may not open identities."""
    contest = make_contest(bob, state=ContestState.OPEN)
    services.coach_add(contest=contest, person=dana)
    hand_in(*enter(contest, student, ROSTER[2]))
    return moved(contest, ContestState.MARKING)


def crawl(client: Client, start: str) -> dict[str, str]:
    """Headers and text of every page of contests and scripts that is linked from `start`."""
    pages: dict[str, str] = {}
    waiting = [start]
    while waiting:
        address = waiting.pop()
        if address in pages:
            continue
        answer = client.get(address)
        pages[address] = f"{answer.headers}\n{answer.content.decode()}"
        for piece in pages[address].split('href="')[1:]:
            link = piece.split('"')[0].replace("&amp;", "&")
            if link.startswith(("/contests/", "/scripts/", "/submissions/", "?")):
                waiting.append(link if link.startswith("/") else address.split("?")[0] + link)
    return pages


def test_no_page_of_a_marker_shows_a_name(marked: Contest, dana: User, student: User, client_for: ClientFor) -> None:
    pages = crawl(client_for(dana), reverse("contests:list"))
    assert any(address.startswith("/scripts/") for address in pages), "the crawl did not reach a script"
    for address, page in pages.items():
        for word in (*ROSTER, "Zebulon", "Quartermaine", str(student.public_id)):
            assert word.lower() not in page.lower(), f"{address} shows {word}"


def test_only_the_roster_shows_names_to_an_organiser(marked: Contest, bob: User, client_for: ClientFor) -> None:
    number = marked.papers.get().number
    pages = crawl(client_for(bob), reverse("contests:list"))
    with_name = {address for address, page in pages.items() if "Quartermaine" in page}
    assert with_name == {reverse("contests:roster", kwargs={"contest_id": marked.public_id})}
    assert all(number not in pages[address] for address in with_name)


def test_a_script_shows_neither_its_time_nor_its_origin(marked: Contest, dana: User, client_for: ClientFor) -> None:
    version = marked.papers.get().submissions.get().versions.get()
    page = client_for(dana).get(reverse("submissions:script", kwargs={"version_id": version.public_id})).content.decode()
    assert "<time" not in page
    assert str(version.handed_in_at.year) + "-" not in UUID.sub("", page)
    assert "Imported" not in page


def test_coaches_read_papers_from_marking_on(bob: User, charlie: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, state=ContestState.OPEN)
    version = hand_in(*enter(contest, charlie))
    client = client_for(bob)
    papers = reverse("submissions:paper_list", kwargs={"contest_id": contest.public_id})
    script = reverse("submissions:script", kwargs={"version_id": version.public_id})
    assert (client.get(papers).status_code, client.get(script).status_code) == (404, 404)
    moved(contest, ContestState.MARKING)
    assert (client.get(papers).status_code, client.get(script).status_code) == (200, 200)


def numbers_listed(client: Client, contest: Contest) -> list[str]:
    page = client.get(reverse("submissions:paper_list", args=[contest.public_id])).content.decode()
    return re.findall(r'class="contest-number" scope="row">(\w+)<', page)


def test_a_new_name_adds_no_number_to_the_list(marked: Contest, bob: User, charlie: User, client_for: ClientFor) -> None:
    client, roster = client_for(bob), reverse("contests:roster", args=[marked.public_id])
    before = numbers_listed(client, marked)
    assert before == [marked.papers.get().number]
    assert 'name="students"' not in client.get(roster).content.decode()
    refused = client.post(roster, {"students": charlie.username})
    assert refused.status_code == 422
    assert "The contest is being marked. Reopen it first. No students were added." in refused.content.decode()
    assert marked.papers.count() == 1
    services.contest_move(contest=marked, verb="reopen", based_on=marked.row_version)
    assert 'name="students"' in client.get(roster).content.decode()
    assert client.post(roster, {"students": charlie.username}).status_code == 302
    moved(marked, ContestState.MARKING)
    assert marked.papers.count() == 2
    assert numbers_listed(client, marked) == before, "no list shows a paper without a text"


def test_paper_numbers_are_random(bob: User) -> None:
    contest = make_contest(bob)
    people = [User.objects.create_user(f"s{n}", role=Role.STUDENT) for n in range(30)]
    numbers = [services.student_add(contest=contest, person=person).number for person in people]
    assert len(set(numbers)) == 30
    assert numbers != sorted(numbers)
    assert not set("".join(numbers)) & set("AEIOU01")


def test_only_the_identity_links_a_paper_to_a_person() -> None:
    names = {field.name for field in Paper._meta.get_fields()}
    assert names == {"id", "public_id", "contest", "number", "reveals", "submissions", "sheet_code", "scanned_pages"}


def test_opening_an_identity_requires_a_recorded_reason(marked: Contest, bob: User, client_for: ClientFor) -> None:
    paper = marked.papers.get()
    url = reverse("contests:identity_reveal", kwargs={"contest_id": marked.public_id, "paper_id": paper.public_id})
    client = client_for(bob)
    assert "Quartermaine" not in client.get(url).content.decode()
    refused = client.post(url, {"reason": "   "})
    assert refused.status_code == 422
    assert "Quartermaine" not in refused.content.decode()
    assert not IdentityReveal.objects.exists()
    assert "Zebulon Quartermaine" in client.post(url, {"reason": "The jury asked."}).content.decode()
    reveal = IdentityReveal.objects.get()
    assert (reveal.paper, reveal.by, reveal.reason) == (paper, bob, "The jury asked.")
    roster = client.get(reverse("contests:roster", kwargs={"contest_id": marked.public_id})).content.decode()
    assert "The jury asked." in roster


def test_a_marker_without_permission_opens_no_identity(marked: Contest, dana: User, client_for: ClientFor) -> None:
    paper = marked.papers.get()
    url = reverse("contests:identity_reveal", kwargs={"contest_id": marked.public_id, "paper_id": paper.public_id})
    assert client_for(dana).post(url, {"reason": "Curious."}).status_code == 404
    assert client_for(dana).get(reverse("contests:roster", kwargs={"contest_id": marked.public_id})).status_code == 404
    assert not IdentityReveal.objects.exists()


def test_a_researcher_organises_without_learning_names(alice: User, charlie: User, client_for: ClientFor) -> None:
    contest = make_contest(alice, state=ContestState.OPEN)
    paper, problem = enter(contest, charlie)
    hand_in(paper, problem)
    moved(contest, ContestState.MARKING)
    client = client_for(alice)
    assert client.get(reverse("contests:roster", kwargs={"contest_id": contest.public_id})).status_code == 404
    reveal = reverse("contests:identity_reveal", kwargs={"contest_id": contest.public_id, "paper_id": paper.public_id})
    assert client.get(reveal).status_code == 404
    with pytest.raises(ContestRefused, match="Only coaches"):
        services.coach_add(contest=contest, person=alice, may_reveal=True)


def test_a_student_sees_a_contest_from_its_opening_on(bob: User, charlie: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, title="Secret test")
    enter(contest, charlie)
    client = client_for(charlie)
    own = reverse("submissions:own", kwargs={"contest_id": contest.public_id})
    assert "Secret test" not in client.get(reverse("contests:list")).content.decode()
    assert client.get(own).status_code == 404
    moved(contest, ContestState.OPEN)
    assert "Secret test" in client.get(reverse("contests:list")).content.decode()
    assert client.get(own).status_code == 200


def test_only_coaches_see_names_in_a_contest_that_is_not_anonymous(
    bob: User, alice: User, student: User, client_for: ClientFor
) -> None:
    contest = make_contest(bob, state=ContestState.OPEN, is_anonymous=False)
    services.coach_add(contest=contest, person=alice)
    version = hand_in(*enter(contest, student))
    moved(contest, ContestState.MARKING)
    addresses = (
        reverse("submissions:paper_list", kwargs={"contest_id": contest.public_id}),
        reverse("submissions:script", kwargs={"version_id": version.public_id}),
    )
    for address in addresses:
        assert "Zebulon Quartermaine" in client_for(bob).get(address).content.decode()
        assert "Quartermaine" not in client_for(alice).get(address).content.decode(), "a researcher learns no names"
