"""Every time of a contest is typed, shown, recorded and exported in the contest's zone, named, also across summer time."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from django.template import Context, Template
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.forms import ContestForm
from apps.contests.models import Contest, ContestKind, ContestState
from apps.contests.services import Settings, contest_save
from apps.contests.times import times_set
from apps.marks.models import AuditEvent, Coordination
from apps.marks.office.names import names_of
from apps.marks.office.office import result_list, results_sign
from apps.marks.office.result_files import result_table, table_file
from apps.marks.sealing.sealing import cases_settle
from apps.ui.zones import exact, zone_names, zone_of
from tests.contests.factory import make_contest
from tests.marks.factory import claimed, past_grace, problem_to_mark, sealed
from tests.marks.office.listed import listed
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
SENT = {"title": "Baltic Way", "point_step": "1", "is_anonymous": "on"}


def at(name: str, contest: Contest) -> str:
    return reverse(name, kwargs={"contest_id": contest.public_id})


@pytest.mark.parametrize(
    ("zone", "typed", "utc"),
    [
        ("Europe/Riga", "2026-10-24T09:00", datetime(2026, 10, 24, 6, 0, tzinfo=UTC)),
        ("Europe/Riga", "2026-10-26T09:00", datetime(2026, 10, 26, 7, 0, tzinfo=UTC)),
        ("Asia/Kolkata", "2026-10-26T09:00", datetime(2026, 10, 26, 3, 30, tzinfo=UTC)),
        ("", "2026-10-26T09:00", datetime(2026, 10, 26, 9, 0, tzinfo=UTC)),
    ],
)
def test_a_time_is_typed_in_the_zone_of_the_contest(
    bob: User, client_for: ClientFor, zone: str, typed: str, utc: datetime
) -> None:
    client_for(bob).post(reverse("contests:create"), SENT | {"time_zone": zone, "opens_at": typed})
    contest = Contest.objects.get()
    assert (contest.opens_at, contest.time_zone) == (utc, zone)
    assert f'value="{typed}"' in client_for(bob).get(at("contests:edit", contest)).content.decode()


@pytest.mark.parametrize("sent", [{"time_zone": "Mars/Olympus"}, {"time_zone": "Europe/Riga", "opens_at": "2026-03-29T03:30"}])
def test_an_unknown_zone_and_an_hour_that_summer_time_skips_are_refused(bob: User, sent: dict[str, str]) -> None:
    form = ContestForm(SENT | sent)
    assert not form.is_valid()
    assert set(form.errors) == {list(sent)[-1]}


@pytest.mark.parametrize("hour", [0, 1])
def test_a_time_in_the_hour_that_occurs_twice_blocks_no_later_change(bob: User, client_for: ClientFor, hour: int) -> None:
    moment = datetime(2026, 10, 25, hour, 30, 12, tzinfo=UTC)
    contest = make_contest(bob, make_problem())
    Contest.objects.update(time_zone="Europe/Riga", opens_at=moment, row_version=7)
    page = client_for(bob).get(at("contests:edit", contest)).content.decode()
    assert 'value="2026-10-25T03:30"' in page
    sent = SENT | {"title": "Renamed", "kind": "contest", "time_zone": "Europe/Riga", "based_on": "7"}
    answer = client_for(bob).post(at("contests:edit", contest), sent | {"opens_at": "2026-10-25T03:30"})
    contest.refresh_from_db()
    assert answer.status_code == 302
    assert (contest.title, contest.opens_at) == ("Renamed", moment)
    other = sent | {"opens_at": "2026-10-25T03:45", "based_on": str(contest.row_version)}
    refused = client_for(bob).post(at("contests:edit", contest), other)
    assert "ambiguous" in refused.content.decode(), "a new time in this hour may mean two moments"


def test_times_of_a_problem_in_the_hour_that_occurs_twice_are_kept(bob: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, make_problem())
    Contest.objects.update(kind=ContestKind.SHEET, time_zone="Europe/Riga", state=ContestState.OPEN)
    contest.refresh_from_db()
    row, moment = contest.problems.get(), datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    times_set(row=row, opens_at=moment, closes_at=None, by=bob)
    sent = {"times_of": str(row.public_id), "opens_at": "2026-10-25T03:30", "closes_at": "2026-10-26T09:00"}
    client_for(bob).post(at("contests:problem_change", contest), sent)
    row.refresh_from_db()
    assert (row.opens_at, row.closes_at) == (moment, datetime(2026, 10, 26, 7, 0, tzinfo=UTC))


def test_every_zone_to_choose_exists_and_one_that_a_system_lacks_falls_back_to_the_server() -> None:
    assert "Europe/Berlin" in zone_names()
    assert all(zone_of(name).key == name for name in zone_names())
    assert zone_of("Mars/Olympus").key == "UTC"


def test_students_and_coaches_read_the_window_in_the_zone_by_name(bob: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, make_problem())
    settings = Settings("Baltic Way", closes_at=datetime(2026, 12, 1, 11, 30, tzinfo=UTC), time_zone="Europe/Riga")
    contest_save(contest=contest, settings=settings, based_on=contest.row_version, by=bob)
    for page in ("contests:detail", "office:record"):
        if page == "office:record":
            Contest.objects.update(state=ContestState.MARKING)
        assert "1 Dec 2026, 13:30 EET" in client_for(bob).get(at(page, contest)).content.decode(), page
    assert AuditEvent.objects.get(verb="contest.changed").body["closes_at"] == "2026-12-01 13:30+02:00"
    listed_page = client_for(bob).get(reverse("contests:list")).content.decode()
    assert "1 Dec 2026, 13:30 EET" in listed_page


def test_the_times_of_a_problem_on_a_sheet_are_in_the_zone_of_the_sheet(bob: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, make_problem())
    Contest.objects.update(kind=ContestKind.SHEET, time_zone="Asia/Tokyo", state=ContestState.OPEN)
    row = contest.problems.get()
    sent = {"times_of": str(row.public_id), "opens_at": "2026-12-01T09:00", "closes_at": ""}
    client_for(bob).post(at("contests:problem_change", contest), sent)
    row.refresh_from_db()
    assert row.opens_at == datetime(2026, 12, 1, 0, 0, tzinfo=UTC)
    page = client_for(bob).get(at("contests:detail", contest)).content.decode()
    assert ">1 Dec 2026, 09:00 JST<" in page
    assert 'value="2026-12-01T09:00"' in page
    times_set(row=row, opens_at=None, closes_at=row.opens_at, by=bob)
    assert AuditEvent.objects.filter(verb="contest.problem-times").last().body["closes_at"] == "2026-12-01 09:00+09:00"  # type: ignore[union-attr]


def test_relative_times_of_a_contest_are_exact_in_its_zone_on_hover_and_others_in_the_readers() -> None:
    moment = datetime(2026, 1, 1, 23, 30, tzinfo=UTC)
    tag = Template("{% when moment %}")
    shown = tag.render(Context({"moment": moment, "contest": Contest(time_zone="Europe/Riga")}))
    assert 'title="2026-01-02 01:30:00 EET"' in shown
    assert 'data-zone="Europe/Riga"' in shown
    assert ">2 Jan 2026<" in shown
    assert "data-zone" not in tag.render(Context({"moment": moment}))


def test_lists_of_marks_and_the_ledger_have_exact_times_in_the_zone_of_each_contest(bob: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, scripts=1)
    Contest.objects.update(time_zone="Asia/Tokyo")
    mark = sealed(claimed(problem, bob), bob)
    cases_settle(past_grace(mark).task.case.problem.contest)
    for where in (reverse("marks:sealed_list"), reverse("marks:case_ledger", args=[mark.task.case.public_id])):
        times = re.findall("<time[^>]*>", client_for(bob).get(where).content.decode())
        assert times, where
        assert [one for one in times if 'data-zone="Asia/Tokyo"' not in one or " JST" not in one] == [], where


def test_the_list_of_disputes_has_exact_times_in_the_zone_of_the_contest(bob: User, client_for: ClientFor) -> None:
    Coordination.objects.create(case=problem_to_mark(bob, scripts=1).cases.get())
    Contest.objects.update(time_zone="Asia/Tokyo")
    page = client_for(bob).get(reverse("marks:coordination_list")).content.decode()
    assert re.findall("open since <time[^>]*JST[^>]*>", page)


def test_files_of_results_have_the_time_of_the_signature_in_the_zone(bob: User, dana: User) -> None:
    contest = listed(bob).contest
    Contest.objects.update(time_zone="America/New_York")
    contest.refresh_from_db()
    event = results_sign(contest=contest, by=bob, digest=result_list(contest).digest)
    found = result_list(contest)
    head = json.loads(table_file(result_table(contest, found, names_of(bob, contest, found)), "jsonl").splitlines()[0])
    local = timezone.localtime(event.at, zone_of("America/New_York"))
    assert (head["signed_off"], head["time_zone"]) == (local.isoformat(" ", "minutes"), "America/New_York")
    assert exact(event.at, contest.zone).endswith((" EST", " EDT"))
