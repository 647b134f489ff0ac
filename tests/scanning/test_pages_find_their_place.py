"""Hard cases of placing: no page goes to a wrong student, no answer is lost, and corrections hold."""

import re
from collections.abc import Callable

import cv2
import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import Contest, ContestState
from apps.contests.services import student_remove
from apps.scanning.codes import PageCode
from apps.scanning.handing_in import hand_in
from apps.scanning.models import PageState, ScannedPage
from apps.scanning.naming import Names
from apps.scanning.placing import FOREIGN, PUT_BACK, files_place_again
from apps.scanning.receiving import ScansRefused
from apps.scanning.selectors import table_of, tray_of
from apps.scanning.tray import page_assign, page_put
from tests.contests.factory import hand_in as typed_in
from tests.scanning.factory import code_of, contest_with, jpeg, pages, paper_of, pdf, read, scanned, sheet, version_of

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


def cover(contest: Contest, name: str, label: str) -> PageCode:
    return PageCode(code_of(contest, name).token, contest.problems.get(label=label).pk, 0)


def states(contest: Contest) -> list[str]:
    return [page.state for page in pages(contest)]


def test_after_a_sheet_that_cannot_be_used_no_page_is_placed_by_an_earlier_one(bob: User) -> None:
    contest, other = contest_with(bob, "Anna Field"), contest_with(bob, "Cora Ives")
    own, foreign = sheet(cover(contest, "Anna Field", "1")), sheet(cover(other, "Cora Ives", "1"))
    found = read(contest, bob, room__pdf=pdf([own, sheet(None, seed=1), foreign, sheet(None, seed=2)]))
    assert states(contest) == [PageState.COVER, PageState.PLACED, PageState.TRAY, PageState.TRAY]
    assert (found[2].reason, found[3].paper_id) == (FOREIGN, None)


@pytest.mark.parametrize("dpi", [150, 200])
def test_a_single_digit_and_faint_pencil_are_answers(dpi: int, bob: User) -> None:
    contest = contest_with(bob, "Anna Field", problems=3)
    digit = sheet(code_of(contest, "Anna Field", "1"), dpi=dpi, lines=0)
    cv2.putText(digit, "7", (dpi, 3 * dpi), cv2.FONT_HERSHEY_SIMPLEX, dpi / 100, 60, 2)
    ink = sheet(None, dpi=dpi, seed=3)
    faint = np.minimum(
        sheet(code_of(contest, "Anna Field", "2"), dpi=dpi, lines=0), np.where(ink < 128, 195, 255).astype(np.uint8)
    )
    blank = sheet(code_of(contest, "Anna Field", "3"), dpi=dpi, lines=0)
    for number, page in enumerate((digit, faint)):
        read(contest, bob, **{f"a{number}__jpg": jpeg(scanned(page, noise=8, shadow=0.2, angle=1))})
    read(contest, bob, a2__jpg=jpeg(scanned(blank, noise=20, shadow=0.4, angle=3)))
    assert states(contest) == [PageState.PLACED, PageState.PLACED, PageState.BLANK]


def test_trying_again_remembers_the_sheets_before_and_leaves_what_a_person_put_back(bob: User) -> None:
    contest = contest_with(bob, "Anna Field", "Ben Hall")
    read(
        contest,
        bob,
        anna_1__pdf=pdf([sheet(code_of(contest, "Ben Hall", "1")), sheet(None, seed=1)]),
        ben_2__jpg=jpeg(sheet(None, seed=2)),
    )
    first, second, third = pages(contest)
    page_put(page=third, state=PageState.TRAY)
    files_place_again(contest)
    assert states(contest) == [PageState.PLACED, PageState.TRAY, PageState.TRAY]
    second.refresh_from_db()
    third.refresh_from_db()
    assert (second.paper_id, third.reason) == (first.paper_id, PUT_BACK)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("school/anna/1.pdf", "Anna Field"),
        ("anna_1.jpg", "Anna Field"),
        ("1/Anna Field.pdf", "Anna Field"),
        ("Field Anna-1-2.png", "Anna Field"),
        ("Field/Jonas_1.pdf", ""),
        ("Anna Field/Tom Hall 1.pdf", ""),
        ("a_1.jpg", ""),
        ("1.pdf", ""),
    ],
)
def test_a_name_that_fits_no_student_is_not_replaced_by_another_part_of_the_path(path: str, name: str, bob: User) -> None:
    contest = contest_with(bob, "Anna Field", "Max A Weber")
    guess = Names(contest).guess(path)
    assert guess.paper == (paper_of(contest, name).pk if name else None)


def test_pages_of_a_removed_student_come_back_to_the_tray(bob: User) -> None:
    contest = contest_with(bob, "Anna Field", state=ContestState.PREPARING)
    read(contest, bob, anna_1__jpg=jpeg(sheet(None)))
    student_remove(identity=contest.identities.get(), by=bob)
    assert tray_of(contest).count() == 1
    with pytest.raises(ScansRefused, match="in the tray"):
        hand_in(contest=contest, by=bob)


def test_no_page_of_scans_has_the_id_of_a_paper(bob: User, client_for: ClientFor) -> None:
    contest = contest_with(bob, "Anna Field")
    (page,) = read(contest, bob, x__jpg=jpeg(sheet(None)))
    student = contest.identities.get()
    client = client_for(bob)
    for url in ("overview", "tray", f"gallery?student={student.pk}"):
        name, _, query = url.partition("?")
        html = client.get(reverse(f"scanning:{name}", args=[contest.public_id]) + f"?{query}").content.decode()
        assert str(student.paper.public_id) not in html
        assert student.paper.number not in html
    change = reverse("scanning:change", args=[page.public_id])
    refused = client.post(change, {"student": ""})
    assert refused["Location"].endswith(f"?page={page.public_id}"), "a refusal shows the same page again"
    shown = [re.findall(r'src="(/scans/pages/[^"]+)"', client.get(refused["Location"]).content.decode())]
    for _ in range(2):
        client.post(change, {"turn": "90"})
        shown.append(re.findall(r'src="(/scans/pages/[^"]+)"', client.get(refused["Location"]).content.decode()))
    assert len({url for (url,) in shown}) == 3, "a turned picture has another address"


def test_a_blank_sheet_that_was_scanned_twice_is_a_duplicate_and_hides_no_gap(bob: User) -> None:
    contest = contest_with(bob, "Anna Field", problems=1)
    blank = sheet(code_of(contest, "Anna Field", "1", 4), lines=0)
    written = {f"s{n}__jpg": jpeg(sheet(code_of(contest, "Anna Field", "1", n), seed=n)) for n in (1, 3)}
    read(contest, bob, **written, t__jpg=jpeg(blank), u__jpg=jpeg(scanned(blank, noise=5)))
    assert states(contest) == [PageState.PLACED, PageState.PLACED, PageState.BLANK, PageState.DUPLICATE]
    (row,) = table_of(contest, list(contest.problems.all()))
    assert (row.cells[0].pages, row.cells[0].blank, row.cells[0].missing) == (2, 1, [2])


def test_a_page_assigned_by_hand_follows_the_printed_sheets(bob: User) -> None:
    contest = contest_with(bob, "Anna Field", problems=1)
    read(contest, bob, a__jpg=jpeg(sheet(None, seed=1)), b__jpg=jpeg(sheet(code_of(contest, "Anna Field", "1", 1), seed=2)))
    by_hand, printed = pages(contest)
    page_assign(page=by_hand, paper=paper_of(contest, "Anna Field"), problem=contest.problems.get())
    hand_in(contest=contest, by=bob)
    version = version_of(contest, "Anna Field", contest.problems.get())
    order = [ScannedPage.objects.get(scan=page.scan).pk for page in version.pages.order_by("number")]
    assert order == [printed.pk, by_hand.pk]


def test_a_page_without_a_picture_is_not_assigned(bob: User) -> None:
    contest = contest_with(bob, "Anna Field")
    (page,) = read(contest, bob, x__jpg=jpeg(sheet(None)))
    ScannedPage.objects.update(height=0, jpeg=b"")
    page.refresh_from_db()
    with pytest.raises(ScansRefused, match="could not be read"):
        page_assign(page=page, paper=paper_of(contest, "Anna Field"), problem=contest.problems.get(label="1"))


def test_a_text_that_the_student_typed_stays_when_a_wrong_page_leaves_it(bob: User) -> None:
    contest = contest_with(bob, "Anna Field", "Ben Hall")
    problem = contest.problems.get(label="1")
    (page,) = read(contest, bob, anna_1__jpg=jpeg(sheet(None)))
    hand_in(contest=contest, by=bob)
    typed_in(paper_of(contest, "Anna Field"), problem, "My own proof.")
    page_put(page=page, state=PageState.TRAY)
    page_assign(page=page, paper=paper_of(contest, "Ben Hall"), problem=problem)
    hand_in(contest=contest, by=bob)
    newest = version_of(contest, "Anna Field", problem)
    assert (newest.raw, newest.withdrawn_at, newest.pages.count()) == ("My own proof.", None, 0)
