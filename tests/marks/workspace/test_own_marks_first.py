"""Captains and organisers who mark a problem read no other marks of it while their own mark can change."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import get_resolver, reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.contests.services import coach_add
from apps.marks.models import Coordination, MarkingCase, MarkingTask, Pass
from apps.marks.sealing.sealing import cases_settle
from tests.marks.crawl import every_pattern, filled
from tests.marks.factory import claimed, commanded, marker, past_grace, problem_to_mark, sealed
from tests.marks.suggested import SECRET, suggested
from tests.results.hinted import hinted

ClientFor = Callable[[User | None], Client]
COLLEAGUE = "Colleagueword"
GAP = {"id": "v1", "step": 1, "fallacy": "gap", "words": f"{COLLEAGUE} one"}
NOTE = {"id": "c1", "step": 2, "words": f"{COLLEAGUE} two", "audience": "markers"}


@pytest.fixture
def problem(bob: User, dana: User) -> ContestProblem:
    """Bob organises and is captain; Dana's six scripts are settled, and Bob holds the seventh with a draft."""
    problem = problem_to_mark(bob, dana, scripts=7, unrevealed_percent=0, asks_place=False)
    for _ in range(6):
        said = (("claim", {"line": "A1"}), ("verdict", GAP), ("comment", NOTE))
        suggested(past_grace(sealed(claimed(problem, dana), dana, *said)))
    cases_settle(problem.contest)
    assert set(MarkingCase.objects.filter(tasks__done_at__isnull=False).values_list("state", flat=True)) == {"settled"}
    task = claimed(problem, bob)
    commanded(task, bob, "points", points=5)
    Pass.objects.create(task=task, person=dana, reason="unsure", words=f"{COLLEAGUE} asked")
    hinted(task.case.version, dana, f"{COLLEAGUE} hint", f"{SECRET} proposed")
    return problem


def own_task(bob: User) -> MarkingTask:
    return MarkingTask.objects.select_related("case__version__submission__paper").get(assignee=bob, done_at=None)


def closed_pages(problem: ContestProblem) -> Iterator[str]:
    """Yield the addresses of pages that show marks of the problem."""
    contest = problem.contest.public_id
    settled = MarkingCase.objects.filter(state="settled").select_related("version__submission__paper").first()
    assert settled is not None
    yield reverse("office:results", args=[contest])
    yield reverse("office:download", args=[contest, "csv"])
    yield reverse("office:scripts_csv", args=[contest])
    yield reverse("office:research", args=[contest])
    yield reverse("office:paper", args=[contest, settled.version.submission.paper.number])
    yield reverse("office:statistics_data", args=[contest, problem.public_id])
    yield reverse("office:scheme_change", args=[problem.public_id])
    yield reverse("marks:calibration", args=[problem.public_id])
    yield reverse("marks:case_ledger", args=[settled.public_id])
    yield reverse("results:preview", args=[contest, settled.public_id])


def read(answer: Any) -> str:
    """Return the headers and the body of a response."""
    return f"{answer.headers}{b''.join(answer).decode(errors='replace')}"


def test_each_page_names_the_open_script_and_opens_once_it_is_sealed(
    problem: ContestProblem, bob: User, client_for: ClientFor
) -> None:
    client, task = client_for(bob), own_task(bob)
    for address in closed_pages(problem):
        answer = client.get(address)
        assert answer.status_code == 403, address
        assert task.case.version.submission.paper.number in read(answer), address
        assert reverse("marks:task", args=[task.public_id]) in read(answer), address
    past_grace(sealed(task, bob))
    for address in closed_pages(problem):
        assert client.get(address).status_code == 200, address


def test_no_page_reveals_a_colleagues_mark_while_the_own_one_is_open(
    problem: ContestProblem, bob: User, client_for: ClientFor, valkey: object
) -> None:
    """Request every named page of contests and marking with every stored id."""
    client, tried = client_for(bob), 0
    for name, pattern in every_pattern(get_resolver().url_patterns):
        if not name.startswith(("contests:", "submissions:", "office:", "results:", "marks:")):
            continue
        for arguments in filled(pattern, problem):
            text = read(client.get(reverse(name, kwargs=arguments)))
            tried += 1
            assert COLLEAGUE not in text, name
            assert SECRET not in text, name
    assert tried > 60, "the crawl reached too few addresses"


def test_statistics_and_the_record_leave_out_the_problem(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    statistics, record = (reverse(f"office:{name}", args=[problem.contest.public_id]) for name in ("statistics", "record"))
    page = client.get(statistics).content.decode()
    assert "Problem 1 is not shown while a mark of your own on it is open" in page
    assert "data-figures" not in page
    shown = client.get(record).content.decode()
    assert "are left out" in shown
    assert "<strong>Sealed a mark</strong>" not in shown
    past_grace(sealed(own_task(bob), bob))
    assert "data-figures" in client.get(statistics).content.decode()
    assert "<strong>Sealed a mark</strong>" in client.get(record).content.decode()


def test_a_closed_page_signs_and_changes_nothing(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    case = MarkingCase.objects.filter(state="settled").first()
    assert case is not None
    assert client.post(reverse("office:results", args=[problem.contest.public_id]), {"digest": "x"}).status_code == 403
    assert client.post(reverse("marks:calibration_change", args=[case.public_id]), {"is_on": "1"}).status_code == 403
    assert client.post(reverse("marks:precedent_add", args=[case.public_id]), {"words": "x", "points": "3"}).status_code == 403
    case.refresh_from_db()
    assert not case.is_calibration


def test_pages_stay_closed_during_the_grace_time(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    address = reverse("office:results", args=[problem.contest.public_id])
    mark = sealed(own_task(bob), bob)
    answer = client_for(bob).get(address)
    assert answer.status_code == 403
    assert "it can be reopened for some seconds" in answer.content.decode()
    past_grace(mark)
    assert client_for(bob).get(address).status_code == 200


def test_handing_the_script_back_opens_the_pages_and_keeps_the_draft(
    problem: ContestProblem, bob: User, client_for: ClientFor
) -> None:
    client, task = client_for(bob), own_task(bob)
    address = reverse("office:results", args=[problem.contest.public_id])
    hand_back = reverse("marks:hand_back", args=[problem.contest.public_id])
    answer = client.post(hand_back, {"task": [str(task.public_id), "none"], "next": address})
    assert (answer.status_code, answer["Location"]) == (302, address)
    assert client.get(address).status_code == 200
    task.refresh_from_db()
    assert task.assignee is None
    assert Pass.objects.get(task=task, person=bob).reason == "skip"
    assert commanded(claimed(problem, bob), bob, "reason", words="Again.").sheet["typed"] == "5"
    assert client.get(address).status_code == 403


def test_hand_back_ignores_a_colleagues_script_and_a_foreign_address(
    problem: ContestProblem, bob: User, dana: User, charlie: User, client_for: ClientFor
) -> None:
    task = own_task(bob)
    hand_back = reverse("marks:hand_back", args=[problem.contest.public_id])
    body = {"task": str(task.public_id), "next": "https://elsewhere.example/"}
    answer = client_for(dana).post(hand_back, body)
    assert answer["Location"] == reverse("marks:home")
    assert client_for(charlie).post(hand_back, body).status_code == 404
    task.refresh_from_db()
    assert task.assignee == bob


def test_an_organiser_who_does_not_mark_reads_every_page(problem: ContestProblem, client_for: ClientFor) -> None:
    eve = marker("eve")
    coach_add(contest=problem.contest, person=eve, is_organiser=True)
    client = client_for(eve)
    for address in closed_pages(problem):
        answer = client.get(address)
        assert answer.status_code == 200, address
    (paper,) = (address for address in closed_pages(problem) if "/papers/" in address)
    assert COLLEAGUE in client.get(paper).content.decode(), "the marked paper"


def test_a_captain_with_an_open_mark_reads_only_disputes_of_their_own(bob: User, dana: User, client_for: ClientFor) -> None:
    eve = marker("eve")
    problem = problem_to_mark(bob, dana, eve, scripts=3, markers=2, asks_place=False)
    why = ("reason", {"words": "So."})
    for person, points, count in ((dana, 6, 3), (eve, 7, 2)):
        for _ in range(count):
            past_grace(sealed(claimed(problem, person), person, ("points", {"points": points}), why))
    cases_settle(problem.contest)
    found = Coordination.objects.filter(outcome="").first()
    assert found is not None
    address, listed = reverse("marks:coordination", args=[found.public_id]), reverse("marks:coordination_list")
    task = claimed(problem, bob)
    client = client_for(bob)
    assert client.get(address).status_code == 403
    assert client.post(reverse("marks:coordination_do", args=[found.public_id, "rule"]), {"claim": "A1"}).status_code == 403
    assert "not shown while a mark of your own" in client.get(listed).content.decode()
    assert address not in client.get(listed).content.decode()
    claimed_again = MarkingTask.objects.filter(case__problem=problem, slot="third")
    assert not claimed_again.exists()
    past_grace(sealed(task, bob, ("points", {"points": 6}), why))
    assert client.get(address).status_code == 200
    assert address in client.get(listed).content.decode()
    assert client_for(dana).get(address).status_code == 200


def test_a_party_settles_a_dispute_while_other_scripts_are_open(bob: User, dana: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, dana, scripts=2, markers=2, asks_place=False)
    why = ("reason", {"words": "So."})
    task = claimed(problem, bob)
    past_grace(sealed(task, bob, ("points", {"points": 6}), why))
    for _ in range(2):
        past_grace(sealed(claimed(problem, dana), dana, ("points", {"points": 7}), why))
    cases_settle(problem.contest)
    claimed(problem, bob)
    found = Coordination.objects.get(case=task.case)
    assert client_for(bob).get(reverse("marks:coordination", args=[found.public_id])).status_code == 200
