"""A box of scans: sheets are printed, files are uploaded and read, pages are placed, assigned and handed in."""

import re
from collections.abc import Callable

import pypdfium2  # type: ignore[import-untyped]
import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import Contest, ContestState
from apps.scanning.codes import PageCode
from apps.scanning.handing_in import hand_in
from apps.scanning.models import PageState, PlacedBy, ScanFile, ScannedPage
from apps.scanning.placing import LATER, NO_PROBLEM
from apps.scanning.reading.working import scans_work
from apps.scanning.receiving import ScansRefused
from apps.scanning.tray import page_assign, page_put
from apps.submissions.models import SubmissionVersion
from tests.contests.factory import moved
from tests.scanning.factory import (
    code_of,
    contest_with,
    file_added,
    jpeg,
    pages,
    paper_of,
    pdf,
    read,
    scanned,
    sheet,
    version_of,
)

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


def url(name: str, contest: Contest) -> str:
    return reverse(f"scanning:{name}", args=[contest.public_id])


def placed(contest: Contest) -> list[tuple[str, str, str, int]]:
    """Placed pages: student, problem, what placed them, number of the sheet."""
    names = dict(contest.identities.values_list("paper", "name"))
    return [
        (names[page.paper_id], page.problem.label, page.placed_by, page.sheet)
        for page in pages(contest)
        if page.state == PageState.PLACED and page.paper_id and page.problem
    ]


def test_printed_sheets_of_a_whole_room_come_back_in_any_order(bob: User, client_for: ClientFor) -> None:
    contest = contest_with(bob, "Anna Field", "Ben Hall")
    answer = client_for(bob).post(url("sheets", contest), {"pages": "1"})
    document = pypdfium2.PdfDocument(answer.content)
    assert len(document) == 2 * (1 + 2)
    text = document[1].get_textpage().get_text_range()
    assert "Problem 1, page 1" in text
    assert "Anna" not in text
    printed = [document[number].render(scale=2).to_numpy()[:, :, 0] for number in range(6)]
    found = read(
        contest,
        bob,
        room__pdf=pdf([scanned(page, angle=3, noise=5, turn=180 * (n % 2)) for n, page in enumerate(reversed(printed))]),
    )
    assert [page.state for page in found].count(PageState.COVER) == 2
    assert [page.state for page in found].count(PageState.BLANK) == 4, "nothing was written below the line"
    assert {(page.paper_id, page.problem.label) for page in found if page.problem} == {
        (paper_of(contest, name).pk, label) for name in ("Anna Field", "Ben Hall") for label in "12"
    }


def test_pages_are_placed_by_code_by_cover_sheet_and_by_name(bob: User) -> None:
    contest = contest_with(bob, "Anna Field", "Ben Hall")
    cover = PageCode(code_of(contest, "Ben Hall").token, contest.problems.get(label="2").pk, 0)
    thick = [
        sheet(code_of(contest, "Anna Field", "1", 2)),
        sheet(cover),
        sheet(None, seed=3),
        sheet(None, seed=4),
        sheet(None, lines=0),
    ]
    read(
        contest,
        bob,
        room__pdf=pdf(thick),
        anna_2__jpg=jpeg(sheet(None, seed=5)),
        school___ben___1__png=jpeg(sheet(None, seed=6), format="PNG"),
    )
    assert placed(contest) == [
        ("Anna Field", "2", PlacedBy.NAME, 0),
        ("Anna Field", "1", PlacedBy.CODE, 2),
        ("Ben Hall", "2", PlacedBy.COVER, 0),
        ("Ben Hall", "2", PlacedBy.COVER, 0),
        ("Ben Hall", "1", PlacedBy.NAME, 0),
    ]
    assert pages(contest)[5].state == PageState.BLANK


def test_unclear_pages_wait_in_the_tray_with_a_suggestion(bob: User) -> None:
    contest = contest_with(bob, "Anna Field", "Anna Hall")
    thick = [sheet(code_of(contest, "Anna Hall", "1")), sheet(None, seed=1)]
    found = read(
        contest,
        bob,
        a__pdf=pdf(thick),
        anna_1__jpg=jpeg(sheet(None, seed=2)),
        cora_1__jpg=jpeg(sheet(None, seed=3)),
        hall__jpg=jpeg(sheet(None, seed=4)),
    )
    waiting = [page for page in found if page.state == PageState.TRAY]
    assert [page.reason.removeprefix("No page code was read. ") for page in waiting] == [
        LATER,
        "Several students fit “anna”.",
        "No student fits “cora”.",
        NO_PROBLEM,
    ]
    assert [(page.paper_id, page.problem and page.problem.label) for page in waiting] == [
        (paper_of(contest, "Anna Hall").pk, "1"),
        (None, "1"),
        (None, "1"),
        (paper_of(contest, "Anna Hall").pk, None),
    ]


def test_several_pages_of_the_tray_are_assigned_at_once(bob: User, dana: User, client_for: ClientFor) -> None:
    contest = contest_with(bob, "Anna Field")
    read(contest, bob, x__pdf=pdf([sheet(None, seed=seed, dpi=60) for seed in range(4)]))
    client, found = client_for(bob), pages(contest)
    gallery = url("gallery", contest) + "?state=tray"
    assert gallery in client.get(url("tray", contest)).content.decode()
    assert client.get(gallery).content.decode().count('name="page"') == 4
    place = {"student": contest.identities.get().pk, "problem": contest.problems.get(label="2").public_id}
    chosen = [found[number].public_id for number in (2, 0, 1)]
    answer = client.post(url("assign", contest), {**place, "page": chosen}, follow=True)
    assert "3 pages assigned to Anna Field, problem 2." in answer.content.decode()
    assert [page.state for page in pages(contest)] == [*[PageState.PLACED] * 3, PageState.TRAY]
    assert placed(contest) == [("Anna Field", "2", PlacedBy.HAND, 0)] * 3
    for sent, words in (
        ({**place, "page": [*chosen[:1], found[3].public_id]}, "Nothing was assigned: some of these pages are no longer"),
        (place, "Choose the pages first."),
        ({"page": [found[3].public_id]}, "Choose the student and the problem."),
    ):
        assert words in client.post(url("assign", contest), sent, follow=True).content.decode()
    assert pages(contest)[3].state == PageState.TRAY
    assert client_for(dana).post(url("assign", contest), {**place, "page": chosen}).status_code == 404


def test_the_tray_assigns_puts_away_and_turns(bob: User, client_for: ClientFor) -> None:
    contest = contest_with(bob, "Anna Field")
    read(contest, bob, x__pdf=pdf([sheet(None, seed=seed, dpi=60) for seed in range(4)]))
    client, tray = client_for(bob), url("tray", contest)
    assert "Page 1 of 4" in client.get(tray).content.decode()
    first, second, third, fourth = pages(contest)
    problem = contest.problems.get(label="2")
    change = [reverse("scanning:change", args=[page.public_id]) for page in (first, second, third, fourth)]
    assert "Choose the student and the problem." in client.post(change[0], {"student": ""}, follow=True).content.decode()
    client.post(change[0], {"student": contest.identities.get(name="Anna Field").pk, "problem": problem.public_id})
    before = client.get(reverse("scanning:picture", args=[second.public_id])).content
    client.post(change[1], {"turn": "90"})
    second.refresh_from_db()
    assert second.width > second.height
    assert client.get(reverse("scanning:picture", args=[second.public_id])).content != before
    client.post(change[1], {"put": "discarded"})
    client.post(change[2], {"put": "blank"})
    assert [page.state for page in pages(contest)] == [PageState.PLACED, PageState.DISCARDED, PageState.BLANK, PageState.TRAY]
    assert "Page 1 of 1" in client.get(tray).content.decode()
    client.post(change[1], {"put": "tray"})
    assert "Page 1 of 2" in client.get(tray).content.decode()
    assert client.post(change[3], {"put": "placed"}, follow=True).status_code == 200
    assert ScannedPage.objects.get(pk=fourth.pk).state == PageState.TRAY


def test_handed_in_pages_become_versions_and_later_pages_newer_ones(bob: User) -> None:
    contest = contest_with(bob, "Anna Field")
    first, second = contest.problems.all()
    read(
        contest,
        bob,
        a__jpg=jpeg(sheet(code_of(contest, "Anna Field", "1", 2), seed=2)),
        b__jpg=jpeg(sheet(code_of(contest, "Anna Field", "2"))),
    )
    done = hand_in(contest=contest, by=bob)
    assert (done.texts, done.pages) == (2, 2)
    assert hand_in(contest=contest, by=bob).texts == 0, "pressing twice changes nothing"
    read(contest, bob, c__jpg=jpeg(sheet(code_of(contest, "Anna Field", "1", 1), seed=1)))
    done = hand_in(contest=contest, by=bob)
    assert (done.texts, done.pages) == (1, 2)
    newest = version_of(contest, "Anna Field", first)
    assert (newest.number, newest.origin, newest.pages.count()) == (2, "imported", 2)
    before = SubmissionVersion.objects.get(submission=newest.submission, number=1)
    assert newest.pages.get(number=2).scan_id == before.pages.get().scan_id, "an unchanged page is the same page"
    assert version_of(contest, "Anna Field", second).number == 1


def test_a_page_that_was_moved_leaves_the_text_of_the_wrong_student(bob: User) -> None:
    contest = contest_with(bob, "Anna Field", "Ben Hall")
    problem = contest.problems.get(label="1")
    (page,) = read(contest, bob, anna_1__jpg=jpeg(sheet(None)))
    hand_in(contest=contest, by=bob)
    page_put(page=page, state=PageState.TRAY)
    page_assign(page=page, paper=paper_of(contest, "Ben Hall"), problem=problem)
    hand_in(contest=contest, by=bob)
    assert version_of(contest, "Anna Field", problem).withdrawn_at is not None
    assert version_of(contest, "Ben Hall", problem).withdrawn_at is None
    page_put(page=page, state=PageState.TRAY)
    page_assign(page=page, paper=paper_of(contest, "Anna Field"), problem=problem)
    hand_in(contest=contest, by=bob)
    assert version_of(contest, "Anna Field", problem).withdrawn_at is None
    assert version_of(contest, "Ben Hall", problem).withdrawn_at is not None


def test_nothing_is_handed_in_while_pages_wait_or_the_contest_is_marked(bob: User) -> None:
    contest = contest_with(bob, "Anna Field")
    read(contest, bob, x__jpg=jpeg(sheet(None)))
    with pytest.raises(ScansRefused, match="1 page still wait"):
        hand_in(contest=contest, by=bob)
    contest = moved(contest, ContestState.MARKING)
    with pytest.raises(ScansRefused, match="Reopen it"):
        file_added(contest, bob, "y.jpg", jpeg(sheet(None)))


def test_students_who_were_added_later_get_their_pages(bob: User, client_for: ClientFor) -> None:
    contest = contest_with(bob, "Anna Field")
    read(contest, bob, cora_1__jpg=jpeg(sheet(None)))
    assert placed(contest) == []
    from tests.contests.factory import enter

    enter(contest, User.objects.create_user("cora", first_name="Cora", last_name="Ives"))
    assert "1 page left the tray." in client_for(bob).post(url("place_again", contest), follow=True).content.decode()
    assert placed(contest) == [("Cora Ives", "1", PlacedBy.NAME, 0)]


def test_the_page_shows_progress_gaps_and_files_and_uploads_without_javascript(bob: User, client_for: ClientFor) -> None:
    from django.core.files.uploadedfile import SimpleUploadedFile

    contest = contest_with(bob, "Anna Field")
    client = client_for(bob)
    assert "Scans" in client.get(reverse("contests:detail", args=[contest.public_id])).content.decode()
    upload = SimpleUploadedFile("a.jpg", jpeg(sheet(code_of(contest, "Anna Field", "1", 3))))
    client.post(url("add", contest), {"files": [upload, SimpleUploadedFile("note.txt", b"hello")]})
    assert "Reading:" in client.get(url("progress", contest)).content.decode()
    scans_work()
    shown = re.sub(r"\s+", " ", client.get(url("overview", contest)).content.decode())
    assert "without sheet 1, 2" in shown
    assert "note.txt" in shown
    gallery = client.get(url("gallery", contest), {"student": contest.identities.get(name="Anna Field").pk}).content.decode()
    assert "Problem 1" in gallery
    note = ScanFile.objects.get(path="note.txt")
    assert b"".join(client.get(reverse("scanning:file", args=[note.public_id]))) == b"hello"
    client.post(reverse("scanning:file", args=[note.public_id]), {"remove": ""})
    assert not ScanFile.objects.filter(path="note.txt").exists()


def test_only_organisers_who_read_the_roster_handle_scans(
    bob: User, charlie: User, dana: User, alice: User, client_for: ClientFor
) -> None:
    contest = contest_with(bob, "Anna Field")
    from apps.contests.services import coach_add

    coach_add(contest=contest, person=dana, by=bob)
    (page,) = read(contest, bob, field_1__jpg=jpeg(sheet(None)))
    urls = [url(name, contest) for name in ("overview", "progress", "tray")]
    urls += [reverse("scanning:picture", args=[page.public_id]), reverse("scanning:file", args=[page.file.public_id])]
    for address in urls:
        assert client_for(bob).get(address).status_code == 200
        for other in (charlie, dana, alice):
            assert client_for(other).get(address).status_code == 404, (address, other)
    for address in (reverse("scanning:change", args=[page.public_id]), url("hand_in", contest), url("begin", contest)):
        assert client_for(dana).post(address).status_code == 404
