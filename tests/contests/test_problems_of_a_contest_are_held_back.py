"""Only coaches read a problem of a contest until it closes, and its solutions until their release."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import Role, User
from apps.contests.models import Contest, ContestState
from apps.contests.services import ContestRefused, coach_add, contest_move
from apps.explorations.formula_check import written_formulas
from apps.marks.models import AuditEvent, ReleaseBatch, ReleasePart
from apps.problems.access import problem_visible_to, solved_visible_to
from apps.problems.models import Problem
from apps.problems.theorems import theorem_search
from apps.reasoning.domain.tools import SearchJob
from apps.reasoning.marking.schemes.text_form import text_read
from apps.runs.access import run_visible_to
from apps.runs.models import Run, RunStatus
from apps.schemes.models import MarkingScheme
from apps.schemes.services import scheme_create
from tests.contests.factory import enter, hand_in, make_contest, moved
from tests.problems.factory import make_problem

STATES = (ContestState.OPEN, ContestState.MARKING)
TITLE = "Eleven walnuts"
LEMMA = "Lemma 1. Every walnut of weight eleven balances exactly three hazelnuts."
WORDS = (TITLE, "walnut", "secret key of almonds", "A1 (3) cracks the shell", "hazelnuts", "GOLDEN CHECKPOINT")
ClientFor = Callable[[User | None], Client]


@pytest.fixture
def cast(alice: User, bob: User, charlie: User, dana: User) -> dict[str, User]:
    return {user.username: user for user in (alice, bob, charlie, dana)}


@pytest.fixture
def problem(db: None) -> Problem:
    """A problem with solutions and a marking scheme. The library also has one that is not held back."""
    make_problem("Plain")
    problem = make_problem(
        TITLE,
        statement="Weigh the walnut $w_{11}$.",
        external_id="walnut-11",
        origin="bench",
        answer=WORDS[2],
        scheme_text=WORDS[3],
        solutions=(),
    )
    problem.reference_solutions.create(text=LEMMA, position=9)
    scheme_create(problem=problem, title="S", content=text_read("checkpoint A1, 7 points: GOLDEN CHECKPOINT."), by=None)
    return problem


@pytest.fixture
def erin(db: None) -> User:
    """A coach of no contest."""
    return User.objects.create_user("erin", "erin@example.org", "a fixed point", role=Role.COACH)


def contest_of(coach: User, problem: Problem, state: ContestState) -> Contest:
    return make_contest(coach, problem, state=state)


def addresses(problem: Problem) -> list[str]:
    """Every page that could show the problem."""
    scheme = MarkingScheme.objects.get(problem=problem)
    slug, chosen = [problem.slug], [scheme.public_id]
    return [
        reverse("problems:detail", args=slug),
        reverse("problems:detail", args=slug) + "?version=1",
        reverse("problems:edit", args=slug),
        reverse("schemes:list", args=slug),
        reverse("schemes:create", args=slug),
        reverse("schemes:import", args=slug) + "?from=problem",
        *(reverse(f"schemes:{name}", args=chosen) for name in ("detail", "edit", "try", "download")),
        reverse("explorations:start", args=slug),
        reverse("api:problem_get", args=slug),
        reverse("api:scheme_list", args=slug),
        reverse("api:scheme_get", args=chosen),
    ]


def lists(problem: Problem) -> list[str]:
    """Every list that could name the problem."""
    return [
        reverse("home"),
        reverse("problems:list") + "?q=walnut",
        reverse("problems:list"),
        reverse("problems:export"),
        reverse("problems:export") + "?format=csv&q=walnut",
        reverse("api:problem_list") + "?q=walnut",
        reverse("api:run_list"),
        reverse("explorations:run_list") + f"?problem={problem.slug}",
        reverse("contests:list"),
    ]


def read(client: Client, address: str) -> tuple[int, str]:
    answer: Any = client.get(address)
    return answer.status_code, answer.content.decode()


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("who", ["charlie", "alice", "erin", "dana"])
def test_no_other_user_reads_any_part_of_the_problem(
    who: str, state: ContestState, problem: Problem, erin: User, cast: dict[str, User], client_for: ClientFor
) -> None:
    contest = contest_of(cast["bob"], problem, state)
    user = erin if who == "erin" else cast[who]
    run_on(problem, cast["bob"])
    for address in addresses(problem):
        status, page = read(client_for(user), address)
        assert status in (403, 404), f"{who} gets {status} from {address} while the contest is {state}"
        assert not [word for word in WORDS if word in page]
    for address in lists(problem):
        _, page = read(client_for(user), address)
        for echo in (problem.slug, "?q=walnut", 'value="walnut"'):
            page = page.replace(echo, "")
        assert not [word for word in WORDS if word in page], address
    assert contest.state == state


def test_coaches_of_the_contest_can_still_read_the_problem(
    problem: Problem, cast: dict[str, User], client_for: ClientFor
) -> None:
    contest = contest_of(cast["bob"], problem, ContestState.OPEN)
    for address in addresses(problem):
        assert read(client_for(cast["bob"]), address)[0] == 200, address
    assert TITLE in read(client_for(cast["bob"]), reverse("problems:list"))[1]
    assert read(client_for(cast["alice"]), addresses(problem)[0])[0] == 404
    coach_add(contest=contest, person=cast["alice"])
    assert "hazelnuts" in read(client_for(cast["alice"]), addresses(problem)[0])[1]


def test_a_coach_without_the_role_cannot_read_the_problem(problem: Problem, cast: dict[str, User]) -> None:
    contest_of(cast["bob"], problem, ContestState.OPEN)
    User.objects.filter(pk=cast["bob"].pk).update(role=Role.STUDENT)
    assert not problem_visible_to(User.objects.get(pk=cast["bob"].pk)).filter(pk=problem.pk).exists()


def test_students_read_the_problem_in_their_contest_but_not_in_the_library(
    problem: Problem, cast: dict[str, User], client_for: ClientFor
) -> None:
    contest = contest_of(cast["bob"], problem, ContestState.OPEN)
    _, row = enter(contest, cast["charlie"])
    page = read(client_for(cast["charlie"]), reverse("submissions:write", args=[row.public_id]))[1]
    assert "walnut" in page
    assert not [word for word in WORDS[2:] if word in page]
    assert read(client_for(cast["charlie"]), reverse("problems:detail", args=[problem.slug]))[0] == 404


def test_closing_frees_the_statement_and_a_release_frees_the_solutions(
    problem: Problem, erin: User, cast: dict[str, User]
) -> None:
    contest = contest_of(cast["bob"], problem, ContestState.OPEN)
    hand_in(*enter(contest, cast["charlie"]))
    moved(contest, ContestState.CLOSED)
    assert problem in problem_visible_to(erin)
    assert problem not in solved_visible_to(erin)
    assert problem in solved_visible_to(cast["bob"])
    now = timezone.now()
    batch = ReleaseBatch.objects.create(contest=contest, parts=[ReleasePart.POINTS], by=cast["bob"], undo_until=now)
    assert problem not in solved_visible_to(erin)
    batch = ReleaseBatch.objects.create(
        contest=contest, parts=[ReleasePart.POINTS, ReleasePart.SOLUTION], by=cast["bob"], undo_until=now + timedelta(minutes=5)
    )
    assert problem in solved_visible_to(erin)
    assert problem not in solved_visible_to(cast["charlie"])
    ReleaseBatch.objects.filter(pk=batch.pk).update(undone_at=now)
    assert problem not in solved_visible_to(erin)


def test_a_closed_contest_does_not_free_the_problem_of_another(problem: Problem, erin: User, cast: dict[str, User]) -> None:
    contest_of(cast["bob"], problem, ContestState.CLOSED)
    assert problem in problem_visible_to(erin)
    contest_of(cast["dana"], problem, ContestState.OPEN)
    assert problem not in problem_visible_to(erin)
    assert problem in problem_visible_to(cast["bob"])


def test_a_contest_in_preparation_neither_holds_back_nor_gives_access(
    problem: Problem, erin: User, cast: dict[str, User]
) -> None:
    """A coach who adds the whole library to a contest affects no readers and gains no access to held-back problems."""
    mine = make_contest(erin, *Problem.objects.all())
    for user in (*cast.values(), erin):
        assert problem in problem_visible_to(user)
    theirs = contest_of(cast["bob"], problem, ContestState.OPEN)
    assert problem not in problem_visible_to(erin)
    with pytest.raises(ContestRefused, match=r"Another contest holds back problem \d"):
        contest_move(contest=mine, verb="open", based_on=mine.row_version, by=erin)
    moved(theirs, ContestState.CLOSED)
    contest_move(contest=mine, verb="open", based_on=mine.row_version, by=erin)
    assert problem not in problem_visible_to(cast["alice"])


def test_staff_show_the_problems_in_the_library_and_hide_them_again(
    problem: Problem, erin: User, cast: dict[str, User], client_for: ClientFor
) -> None:
    contest = contest_of(cast["bob"], problem, ContestState.OPEN)
    staff, administration = client_for(cast["dana"]), reverse("contests:administration")
    listed = staff.get(administration).content.decode()
    assert contest.title in listed
    assert not [word for word in WORDS if word in listed], "staff can open neither the contest nor its problems"

    def administer(client: Client, verb: str) -> int:
        contest.refresh_from_db()
        sent = {"based_on": contest.row_version}
        return client.post(reverse("contests:administer", args=[contest.public_id, verb]), sent).status_code

    assert administer(client_for(erin), "show") == 404
    assert problem not in problem_visible_to(erin)
    assert administer(staff, "show") == 302
    for _ in range(2):
        assert problem in problem_visible_to(erin)
        assert problem in solved_visible_to(erin), "with its solutions"
        moved(contest, ContestState.CLOSED)
    assert AuditEvent.objects.get(verb="contest.problems-shown").actor == cast["dana"]
    page = client_for(cast["bob"]).get(reverse("contests:detail", args=[contest.public_id])).content.decode()
    assert "Staff made the problems of this contest visible" in page
    assert administer(staff, "hide") == 302
    assert problem not in solved_visible_to(erin)


def test_a_held_back_problem_cannot_be_added_to_another_contest(
    problem: Problem, erin: User, cast: dict[str, User], client_for: ClientFor
) -> None:
    contest_of(cast["bob"], problem, ContestState.OPEN)
    other = make_contest(erin, make_problem("Own"))
    address = reverse("contests:problem_change", args=[other.public_id])
    assert client_for(erin).post(address, {"problem": problem.pk}).status_code == 422
    assert TITLE not in read(client_for(erin), reverse("contests:detail", args=[other.public_id]))[1]
    file = b"author,problem,text\nsome model,walnut-11,A text.\n"
    upload = reverse("submissions:import", args=[other.public_id])
    answer = client_for(erin).post(upload, {"file": _named(file), "adds_problems": "on"}, follow=True)
    assert "The contest has no problem walnut-11." in answer.content.decode()
    assert TITLE not in answer.content.decode()
    assert other.problems.count() == 1


def test_theorem_search_does_not_find_its_lemmas(problem: Problem, cast: dict[str, User]) -> None:
    plain = Problem.objects.get(title="Plain")
    question = SearchJob(query="walnut of weight eleven")
    assert theorem_search(question, without=plain)
    contest_of(cast["bob"], problem, ContestState.MARKING)
    assert theorem_search(question, without=plain) == []


def test_the_formula_page_of_staff_omits_its_formulas(problem: Problem, cast: dict[str, User]) -> None:
    assert any("w_{11}" in row["tex"] for row in written_formulas(cast["dana"]))
    contest_of(cast["bob"], problem, ContestState.OPEN)
    assert not any("w_{11}" in row["tex"] for row in written_formulas(cast["dana"]))


def test_only_owners_and_coaches_see_runs_on_it(problem: Problem, erin: User, cast: dict[str, User]) -> None:
    run = run_on(problem, cast["alice"])
    assert run in run_visible_to(erin)
    contest_of(cast["bob"], problem, ContestState.OPEN)
    assert run not in run_visible_to(erin)
    assert run in run_visible_to(cast["alice"])
    assert run in run_visible_to(cast["bob"])
    assert run not in run_visible_to(cast["charlie"])


def run_on(problem: Problem, owner: User) -> Run:
    return Run.objects.create(
        title=TITLE, problem_version=problem.current, owner=owner, scaffold="intern_s1_mo", spec={},
        status=RunStatus.FINISHED, public_id=uuid.uuid4(),
    )  # fmt: skip


def _named(data: bytes) -> Any:
    from django.core.files.uploadedfile import SimpleUploadedFile

    return SimpleUploadedFile("texts.csv", data, content_type="text/csv")
