"""The list of scripts: filters over one's own marks, over all marks for captains, and no insight before sealing."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.coordination.comparing import fresh_dismiss
from apps.marks.coordination.coordination import claim_make
from apps.marks.models import Coordination, Mark, MarkingTask, PassReason
from apps.marks.sealing.revealing import stage_show
from apps.marks.sealing.sealing import cases_settle
from apps.marks.workspace.claims import task_of_case
from apps.marks.workspace.passes import task_pass
from apps.marks.workspace.script_filters import FILTERS, Choice, choice_read
from apps.marks.workspace.scripts import script_page
from apps.reasoning.marking.revealing import Stage
from apps.results.appeals import appeal_withdraw
from apps.schemes.services import scheme_save
from tests.marks.factory import ONE_PLACE, claimed, marker, past_grace, problem_to_mark, scheme_active, sealed, task_whole
from tests.marks.suggested import answered, sealed_mark, suggested
from tests.results.factory import appeal_of, day_after, marked
from tests.schemes.factory import content

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def problem(bob: User, dana: User) -> ContestProblem:
    """Create six scripts: three sealed by Bob, one of them in the middle; one with his question; one sealed by Dana."""
    problem = problem_to_mark(bob, dana, scripts=6)
    problem.captain = dana
    problem.save()
    middle = (("points", {"points": 4}), ("approach", {"words": "Lattices."}), ("verdict", ONE_PLACE))
    for number, commands in enumerate(((), middle, ()), start=1):
        mark = sealed(claimed(problem, bob), bob, *commands)
        Mark.objects.filter(pk=mark.pk).update(active_seconds=10 if number < 3 else 90)
    task_pass(task=claimed(problem, bob), user=bob, reason=PassReason.UNSURE)
    sealed(claimed(problem, dana), dana, ("points", {"points": 2}), ("verdict", ONE_PLACE))
    return problem


@pytest.mark.parametrize(
    ("shown", "count"),
    [("all", 6), ("waiting", 2), ("sealed", 3), ("middle", 1), ("approach", 1), ("asked", 1), ("slow", 1), ("nonsense", 6)],
)
def test_each_filter_shows_its_scripts(shown: str, count: int, problem: ContestProblem, bob: User) -> None:
    page, rows = script_page(problem, bob, choice_read(shown, "", is_everybody=False), 1)
    assert page.paginator.count == len(rows) == count


def test_each_marker_sees_only_their_own_points(problem: ContestProblem, bob: User, dana: User) -> None:
    _, rows = script_page(problem, bob, Choice(), 1)
    assert sorted(row.points for row in rows) == ["", "", "", "4", "7", "7"]
    assert {row.state for row in rows} == {"Sealed by you", "with you", "waiting", "marked by others"}
    assert [row.first_error for row in rows if row.points == "4"] == [1]
    _, rows = script_page(problem, dana, Choice("sealed"), 1)
    assert [row.points for row in rows] == ["2"]


def test_scripts_are_sorted_by_number(problem: ContestProblem, bob: User) -> None:
    numbers = [row.case.version.submission.paper.number for row in script_page(problem, bob, Choice(), 1)[1]]
    assert numbers == sorted(numbers)


def test_the_page_accepts_every_filter_and_unknown_values(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    url = reverse("marks:script_list", kwargs={"problem_id": problem.public_id})
    for query in ({}, *({"show": name} for name in FILTERS), {"show": "<b>", "page": "-1"}, {"page": "zz"}):
        page = client_for(bob).get(url, query)
        assert page.status_code == 200
        assert "<b>" not in page.content.decode()


# --- filters for disputes, suggestions, schemes and appeals ---------------------------------------------------------------


def numbers_of(problem: ContestProblem, user: User, show: str, kind: str = "", *, everybody: bool = False) -> set[str]:
    """Return the numbers of the papers that match a filter."""
    choice = choice_read(show, kind, is_everybody=everybody)
    return {row.case.version.submission.paper.number for row in script_page(problem, user, choice, 1)[1]}


def number(mark: Mark) -> str:
    return mark.task.case.version.submission.paper.number


def address_of(problem: ContestProblem) -> str:
    return reverse("marks:script_list", kwargs={"problem_id": problem.public_id})


def both_sealed(problem: ContestProblem, *claims: tuple[User, int]) -> Mark:
    """Seal marks of these users on one script a minute ago and return the last one."""
    first = None
    for user, points in claims:
        task = claimed(problem, user) if first is None else task_of_case(problem, user, first.task.case_id)
        assert task is not None
        commands = (("points", {"points": points}), ("reason", {"words": "So."}))
        mark = past_grace(sealed(task_whole(task), user, *commands))
        first = first or mark
    return mark


def test_parties_see_a_dispute_and_its_distance_once_all_have_claimed(bob: User, dana: User) -> None:
    eve, fay = marker("eve"), marker("fay")
    problem = problem_to_mark(eve, bob, dana, fay, scripts=3, markers=2, asks_place=False)
    far = both_sealed(problem, (bob, 1), (dana, 7))
    near = both_sealed(problem, (bob, 6), (dana, 7))
    cases_settle(problem.contest)
    assert fresh_dismiss(case=far.task.case, by=eve)
    assert numbers_of(problem, bob, "disputed") == {number(far), number(near)}
    assert numbers_of(problem, fay, "disputed") == set()
    assert numbers_of(problem, bob, "apart") == set(), "without claims the distance would reveal the points of the other marker"
    assert numbers_of(problem, eve, "apart", everybody=True) == set(), "the scripts are not settled"
    for coordination in Coordination.objects.all():
        for person, line in ((bob, "A1"), (dana, "A1 A2")):
            claim_make(coordination=coordination, by=person, line=line)
    assert numbers_of(problem, bob, "apart") == {number(far)}
    assert numbers_of(problem, fay, "apart") == set()


def test_the_error_filter_finds_root_errors_and_no_consequences(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=3, asks_place=False)
    gap = past_grace(sealed(claimed(problem, bob), bob, ("points", {"points": 0}), ("verdict", ONE_PLACE)))
    case = ("verdict", {"id": "v1", "step": 1, "fallacy": "missing-case", "role": "root", "words": "p = 2"})
    follows = (
        "verdict",
        {"id": "v2", "step": 2, "fallacy": "gap", "role": "consequence", "root": "v1", "words": "So this too."},
    )
    root = past_grace(sealed(claimed(problem, bob), bob, ("points", {"points": 0}), case, follows))
    assert numbers_of(problem, bob, "error", "gap") == {number(gap)}
    assert numbers_of(problem, bob, "error", "missing-case") == {number(root)}
    assert numbers_of(problem, bob, "error", "unclear") == set()
    assert len(numbers_of(problem, bob, "error", "nonsense")) == 3


def test_marks_under_an_older_scheme_are_found(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=3, asks_place=False)
    old = past_grace(sealed(claimed(problem, bob), bob))
    assert numbers_of(problem, bob, "old") == set()
    scheme = problem.setup.scheme
    assert scheme is not None
    scheme.refresh_from_db()
    scheme_save(scheme=scheme, content=content().model_copy(update={"remarks": "Newer."}), by=bob, based_on=scheme.row_version)
    scheme.refresh_from_db()
    scheme_active(bob, scheme)
    new = past_grace(sealed(claimed(problem, bob), bob))
    assert numbers_of(problem, bob, "old") == {number(old)}
    assert number(new) in numbers_of(problem, bob, "sealed")


def test_the_distance_to_a_suggestion_is_listed_once_its_points_were_shown(bob: User, dana: User) -> None:
    mark = sealed_mark(bob, others=(dana,))
    problem = ContestProblem.objects.select_related("contest", "setup").get(pk=mark.task.case.problem_id)
    assert numbers_of(problem, bob, "gap") == set()
    answered(mark)
    assert numbers_of(problem, bob, "gap") == set(), "types and reasons do not reveal points"
    stage_show(mark=mark, stage=Stage.ITEMS)
    assert numbers_of(problem, bob, "gap") == {number(mark)}
    assert numbers_of(problem, dana, "gap") == set()
    past_grace(mark)
    cases_settle(problem.contest)
    assert numbers_of(problem, dana, "gap", everybody=True) == {number(mark)}
    problem.setup.unrevealed_percent = 100
    assert numbers_of(problem, dana, "gap", everybody=True) == set(), "papers without suggestions are not listed"


def test_open_appeals_are_listed_unless_the_script_is_being_marked(bob: User, charlie: User) -> None:
    eve = marker("eve")
    problem = marked(bob, charlie, eve)
    day_after(problem.contest, bob)
    appeal = appeal_of(problem, charlie)
    wanted = {appeal.grade.case.version.submission.paper.number}
    assert numbers_of(problem, eve, "appealed") == numbers_of(problem, bob, "appealed") == wanted
    MarkingTask.objects.create(case=appeal.grade.case, slot="again", assignee=eve)
    assert numbers_of(problem, eve, "appealed") == set()
    appeal_withdraw(appeal=appeal)
    assert numbers_of(problem, bob, "appealed") == set()


def test_captains_without_an_open_script_see_all_marks_of_settled_scripts(bob: User, dana: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, dana, scripts=4, asks_place=False)
    settled = past_grace(sealed(claimed(problem, dana), dana, ("points", {"points": 4}), ("reason", {"words": "So."})))
    cases_settle(problem.contest)
    fresh = sealed(claimed(problem, dana), dana, ("points", {"points": 5}), ("reason", {"words": "So."}))
    assert numbers_of(problem, bob, "middle", everybody=True) == {number(settled)}
    assert numbers_of(problem, bob, "middle") == set()
    _, rows = script_page(problem, bob, Choice(is_everybody=True), 1)
    listed = {row.case.version.submission.paper.number: (row.state, row.points) for row in rows}
    assert listed[number(settled)] == ("settled", "4")
    assert listed[number(fresh)] == ("not settled", "")
    client = client_for(bob)
    assert "settled" in client.get(address_of(problem), {"of": "all"}).content.decode()
    own = client_for(dana).get(address_of(problem), {"of": "all"}).content.decode()
    assert "Everybody" not in own
    claimed(problem, bob)
    assert client.get(address_of(problem), {"of": "all"}).status_code == 403
    assert client.get(address_of(problem)).status_code == 200


def test_no_filter_reveals_a_suggestion_or_a_colleagues_mark_before_sealing(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=2, markers=2, unrevealed_percent=0, asks_place=False)
    mark = sealed(claimed(problem, bob), bob, ("points", {"points": 0}), ("verdict", ONE_PLACE))
    suggested(mark)
    task = task_of_case(problem, dana, mark.task.case_id)
    assert task is not None
    for show in set(FILTERS) - {"all", "waiting"}:
        assert numbers_of(problem, dana, show) == set(), show
    assert numbers_of(problem, dana, "error", "gap") == set()
    assert numbers_of(problem, dana, "waiting") == numbers_of(problem, dana, "all")
