"""Before sealing a marker reads no suggestion, mark, claim or precedent of another source.

The tests request every address of marking with every stored id.
"""

from collections.abc import Callable, Iterator
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import get_resolver, reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.contests.services import coach_add
from apps.marks.coordination.comparing import fresh_open
from apps.marks.coordination.coordination import claim_make
from apps.marks.coordination.precedents import Ruling, precedent_write
from apps.marks.models import Coordination, CoordinationRemark, Mark, Pass, PassReason, Phrase, Precedent, Reveal, RevealKind
from apps.marks.sealing.sealing import cases_settle
from apps.marks.urls import urlpatterns
from tests.marks.crawl import every_pattern, filled
from tests.marks.factory import claimed, commanded, marker, past_grace, problem_to_mark, sealed
from tests.marks.suggested import SECRET, suggested
from tests.results.hinted import hinted

ClientFor = Callable[[User | None], Client]
COLLEAGUE = "Colleagueword"
NUMBER = "9753.25"
POSTED = {
    "stage": "locations",
    "answer": "accept",
    "decision": "keep",
    "claim": "A1",
    "reason": "slip",
    "words": "x",
    "based_on": "0",
    "id": "5e1f0a3c-9c1b-4b43-8f2d-0b8f6f1f7c11",
    "verb": "undo",
    "row_version": "0",
    "points": "3",
    "fallacy": "gap",
    "is_on": "1",
}
JSON = {"id": "5e1f0a3c-9c1b-4b43-8f2d-0b8f6f1f7c12", "verb": "points", "args": {"points": 7}, "row_version": 99}


class World:
    """One script that Bob has sealed and Dana is marking; a second one in dispute, with a claim, a remark and a precedent."""

    def __init__(self, bob: User, dana: User) -> None:
        self.problem = problem_to_mark(bob, dana, scripts=2, markers=2, unrevealed_percent=0)
        said = {"id": "v1", "step": 1, "fallacy": "gap", "words": f"{COLLEAGUE} one"}
        comment = {"id": "c1", "step": 2, "words": f"{COLLEAGUE} two"}
        shared = [
            sealed(claimed(self.problem, bob), bob, ("claim", {"line": "A1"}), ("verdict", said), ("comment", comment))
            for _ in range(2)
        ]
        for mark in shared:
            suggested(past_grace(mark))
        disputed = claimed(self.problem, dana)
        past_grace(sealed(disputed, dana, ("claim", {"line": "A1 A2"})))
        cases_settle(self.problem.contest)
        self.coordination = Coordination.objects.filter(outcome="").first()
        self.open = claimed(self.problem, dana)
        commanded(self.open, dana, "claim", line="A1 A2")
        self._more(bob)

    def _more(self, bob: User) -> None:
        """Add words of colleagues in other places."""
        if self.coordination is not None:
            claim_make(coordination=self.coordination, by=bob, line="A1")
            CoordinationRemark.objects.create(coordination=self.coordination, person=bob, words=f"{COLLEAGUE} three")
        Precedent.objects.create(case=self.open.case, fallacy="gap", words=f"{COLLEAGUE} four", points=Decimal(NUMBER), by=bob)
        other = self.open.case.tasks.get(assignee=bob)
        Pass.objects.create(task=other, person=bob, reason=PassReason.UNSURE, words=f"{COLLEAGUE} five")
        hinted(self.open.case.version, bob, f"{COLLEAGUE} six", f"{SECRET} proposed")


@pytest.fixture
def world(bob: User, dana: User) -> World:
    return World(bob, dana)


def answers(client: Client, world: World) -> Iterator[tuple[str, str]]:
    """Yield every address of marking with its response to GET and POST, headers included."""
    for pattern in urlpatterns:
        for arguments in filled(pattern, world.problem):
            address = reverse(f"marks:{pattern.name}", kwargs=arguments)
            for answer in (
                client.get(address),
                client.get(address, headers={"HX-Request": "true"}),
                client.post(address, POSTED),
                client.post(address, POSTED, headers={"HX-Request": "true"}),
                client.post(address, JSON, content_type="application/json"),
            ):
                yield f"{address} ({answer.status_code})", f"{answer.headers}{answer.content.decode(errors='replace')}"


@pytest.mark.parametrize("is_captain", [False, True])
def test_no_address_of_marking_reveals_another_mark_before_sealing(
    world: World, dana: User, client_for: ClientFor, is_captain: bool
) -> None:
    ContestProblem.objects.filter(pk=world.problem.pk).update(captain=dana if is_captain else None)
    tried = 0
    for address, text in answers(client_for(dana), world):
        tried += 1
        for word in (SECRET, NUMBER, COLLEAGUE):
            is_own_dispute = word == COLLEAGUE and "coordination" in address
            assert word not in text or is_own_dispute, f"{word} at {address}"
        if str(world.open.public_id) in address or str(world.open.case.public_id) in address:
            assert COLLEAGUE not in text, address
    assert tried > 200, "the crawl reached too few addresses"
    assert Mark.objects.get(task=world.open).state == "draft", "the crawl sealed the mark"
    assert not Reveal.objects.filter(person=dana, case=world.open.case).exists()


def test_no_page_of_the_contest_reveals_another_mark_before_sealing(
    world: World, dana: User, client_for: ClientFor, valkey: object
) -> None:
    """Request papers, the office, results and other pages with every stored id."""
    client, tried = client_for(dana), 0
    for name, pattern in every_pattern(get_resolver().url_patterns):
        if not name.startswith(("contests:", "submissions:", "office:", "results:")):
            continue
        for arguments in filled(pattern, world.problem):
            answer = client.get(reverse(name, kwargs=arguments))
            tried += 1
            text = f"{answer.headers}{b''.join(answer).decode(errors='replace')}"
            for word in (SECRET, COLLEAGUE, NUMBER):
                assert word not in text, f"{word} at {name}"
    assert tried > 20


def test_notes_of_a_dispute_stay_sealed_until_all_have_claimed(world: World, dana: User, client_for: ClientFor) -> None:
    assert world.coordination is not None
    page = client_for(dana).get(reverse("marks:coordination", kwargs={"coordination_id": world.coordination.public_id}))
    text = page.content.decode()
    assert "has claimed" in text
    assert COLLEAGUE not in text
    assert "<code>A1</code>" not in text
    assert not Reveal.objects.filter(person=dana, kind=RevealKind.COLLEAGUE).exists()


def test_a_coach_who_is_not_a_party_reads_neither_script(world: World, client_for: ClientFor) -> None:
    eve = marker("eve")
    coach_add(contest=world.problem.contest, person=eve)
    for address, text in answers(client_for(eve), world):
        assert SECRET not in text, address
        assert COLLEAGUE not in text, address


def test_markers_of_a_script_read_its_ledger_only_after_it_is_settled(
    world: World, bob: User, dana: User, client_for: ClientFor
) -> None:
    problem = world.problem
    problem.captain = dana
    problem.save(update_fields=["captain"])
    address = reverse("marks:case_ledger", kwargs={"case_id": world.open.case.public_id})
    for person in (dana, bob):
        assert client_for(person).get(address).status_code == 404
    assert not Reveal.objects.filter(person=bob, case=world.open.case).exists()
    eve = marker("eve")
    coach_add(contest=problem.contest, person=eve, is_organiser=True)
    assert client_for(eve).get(address).status_code == 200
    assert Reveal.objects.filter(person=eve, case=world.open.case).exists()
    sealed(world.open, dana)
    assert client_for(dana).get(address).status_code == 404


def test_a_comment_on_the_same_script_is_not_offered_for_reuse(bob: User, client_for: ClientFor) -> None:
    """A fresh marker is not offered the words of the first marker on this script."""
    eve = marker("eve")
    problem = problem_to_mark(bob, eve, scripts=1, unrevealed_percent=0)
    words = f"{COLLEAGUE} here"
    commands = (("claim", {"line": "A1"}), ("comment", {"id": "c", "step": 1, "words": words}))
    mark = sealed(claimed(problem, bob), bob, *commands)
    assert Phrase.objects.filter(words=words).exists()
    fresh_open(case=mark.task.case, why="test")
    task = claimed(problem, eve)
    client = client_for(eve)
    pane = client.get(reverse("marks:pane", kwargs={"task_id": task.public_id, "name": "comments"}))
    found = client.get(reverse("marks:phrases", kwargs={"problem_id": problem.public_id}), {"q": COLLEAGUE})
    assert COLLEAGUE not in pane.content.decode() + found.content.decode()


def test_precedents_are_shown_after_the_own_mark(bob: User, dana: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, dana, scripts=2, unrevealed_percent=0)
    gap = ("verdict", {"id": "v1", "step": 1, "fallacy": "gap", "words": "Why?"})
    first = past_grace(sealed(claimed(problem, bob), bob, ("claim", {"line": "A1"}), gap))
    cases_settle(problem.contest)
    first.task.case.refresh_from_db()
    ruling = Ruling(words=f"{COLLEAGUE}: a sketch of it counts.", points=Decimal(3), fallacy="gap")
    precedent_write(case=first.task.case, by=bob, ruling=ruling)
    task = claimed(problem, dana)
    address = reverse("marks:reveal", kwargs={"task_id": task.public_id})
    client = client_for(dana)
    assert client.get(address).status_code == 404
    sealed(task, dana, ("claim", {"line": "A1"}), gap)
    assert COLLEAGUE not in client.get(address).content.decode()
    client.post(reverse("marks:reveal_show", kwargs={"task_id": task.public_id}), {"stage": "precedents"})
    page = client.get(address).content.decode()
    assert f"{COLLEAGUE}: a sketch" in page
    assert "1 earlier script with gap" in page
    assert Reveal.objects.get(person=dana).kind == RevealKind.PRECEDENTS
    assert Mark.objects.get(task=task).points == 3
