"""A bad file or page gets a sentence, the rest is read, and the original is kept."""

import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from typing import IO
from unittest.mock import patch

import pytest
from django.test import Client
from django.urls import reverse
from PIL import Image

from apps.accounts.models import User
from apps.scanning.models import FileState, PageState, ScanFile, ScannedPage
from apps.scanning.placing import FOREIGN, SAME_SHEET, TWO_CODES
from apps.scanning.reading import PageRead, ReadingFailed, Work, pages_of, working
from apps.scanning.receiving import ScansRefused, file_begin, pieces_of
from tests.scanning.factory import (
    added,
    code_of,
    contest_with,
    file_added,
    jpeg,
    pages,
    paper_of,
    pdf,
    pdf_with_password,
    read,
    scanned,
    sheet,
)

pytestmark = pytest.mark.django_db
PAGE = sheet(None)
ClientFor = Callable[[User | None], Client]


def zipped(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("___", "/").replace("__", "."), data)
    return out.getvalue()


def test_unreadable_files_say_why_and_the_others_are_read(bob: User) -> None:
    contest = contest_with(bob, "Anna Field")
    whole = pdf([PAGE, PAGE])
    wide = Image.new("1", (30_000, 10_000))
    out = io.BytesIO()
    wide.save(out, "PNG")
    found = read(
        contest,
        bob,
        a__pdf=whole[: len(whole) // 2],
        b__pdf=pdf_with_password(PAGE),
        c__docx=b"PK\x03\x04 no archive",
        d__txt=b"no picture at all",
        e__jpg=jpeg(PAGE)[:400],
        f__png=out.getvalue(),
        field_1__jpg=jpeg(PAGE),
    )
    assert [page.file.path for page in found if page.height] == ["field_1.jpg"]
    reasons = {file.path: file.reason for file in ScanFile.objects.filter(state=FileState.FAILED)}
    assert "damaged" in reasons["a.pdf"]
    assert "password" in reasons["b.pdf"] or "damaged" in reasons["b.pdf"]
    assert "damaged, encrypted or incomplete" in reasons["c.docx"]
    assert reasons["d.txt"] == working.KIND_UNKNOWN
    assert "too large" in reasons["f.png"] or "million pixels" in reasons["f.png"]
    said = reasons.get("e.jpg") or ScannedPage.objects.get(file__path="e.jpg").reason
    assert "damaged" in said
    assert b"".join(pieces_of(ScanFile.objects.get(path="d.txt"))) == b"no picture at all"


def test_kinds_of_pictures_from_scanners_and_phones(bob: User) -> None:
    contest = contest_with(bob, "Anna Field")
    picture = Image.fromarray(PAGE)
    out, frames = io.BytesIO(), io.BytesIO()
    picture.convert("CMYK").save(out, "JPEG")
    bilevel = picture.convert("1")
    bilevel.save(frames, "TIFF", compression="group4", save_all=True, append_images=[bilevel])
    found = read(contest, bob, field_1__jpg=out.getvalue(), field_2__tif=frames.getvalue(), big__pdf=pdf([PAGE] * 30))
    assert [(page.file.path, page.number) for page in found if not page.file.path.startswith("big")] == [
        ("field_1.jpg", 1),
        ("field_2.tif", 1),
        ("field_2.tif", 2),
    ]
    assert ScanFile.objects.get(path="big.pdf").pages == 30
    assert all(page.height == 1170 or page.height > 1900 for page in found)


def test_a_pdf_with_very_many_pages_is_to_be_split(bob: User) -> None:
    contest = contest_with(bob, "Anna Field")
    with patch.object(working, "PAGES_EACH", 2):
        read(contest, bob, three__pdf=pdf([PAGE] * 3))
    assert ScanFile.objects.get().pages == 3


def test_hostile_archives_are_refused_and_good_members_are_read(bob: User) -> None:
    contest = contest_with(bob, "Anna Field")
    bomb = zipped(zeros__jpg=b"\0" * 40_000_000)
    out = zipped(**{"..___field_1__jpg": jpeg(PAGE)})
    good = zipped(school___field___1__jpg=jpeg(PAGE), __MACOSX___x__jpg=b"x", school___field___note__txt=b"hello")
    found = read(contest, bob, bomb__zip=bomb, out__zip=out, good__zip=good)
    assert [(page.file.path, page.state) for page in found] == [("school/field/1.jpg", PageState.PLACED)]
    reasons = dict(ScanFile.objects.filter(state=FileState.FAILED).values_list("path", "reason"))
    assert "extreme compression" in reasons["bomb.zip"]
    assert "leads out of it" in reasons["out.zip"]
    assert reasons["school/field/note.txt"] == working.KIND_UNKNOWN


def test_pages_that_cannot_be_placed_wait_in_the_tray_with_the_reason(bob: User) -> None:
    contest, other = contest_with(bob, "Anna Field", "Ben Hall"), contest_with(bob, "Cora Ives")
    first, second = code_of(contest, "Anna Field", "1"), code_of(contest, "Ben Hall", "1")
    two = sheet(first)
    two[600:] = sheet(second)[:570]
    found = read(
        contest,
        bob,
        a__jpg=jpeg(sheet(code_of(other, "Cora Ives", "1"))),
        b__jpg=jpeg(two),
        c__jpg=jpeg(sheet(first, seed=1, dpi=150)),
        d__jpg=jpeg(scanned(sheet(first, seed=1, dpi=150), angle=2, noise=6)),
        e__jpg=jpeg(sheet(first, seed=9, dpi=150)),
    )
    assert [(page.state, page.reason) for page in found] == [
        (PageState.TRAY, FOREIGN),
        (PageState.TRAY, TWO_CODES),
        (PageState.PLACED, ""),
        (PageState.DUPLICATE, "The same page as in c.jpg."),
        (PageState.TRAY, SAME_SHEET),
    ]


def test_the_same_file_again_is_not_read_twice(bob: User) -> None:
    contest = contest_with(bob, "Anna Field")
    data = jpeg(PAGE)
    read(contest, bob, field_1__jpg=data)
    (again,) = added(contest, bob, copy__jpg=data)
    assert (again.state, again.reason) == (FileState.FAILED, "The same file was added before, as field_1.jpg.")


def test_an_upload_that_stopped_continues_with_its_next_byte(bob: User) -> None:
    contest = contest_with(bob, "Anna Field")
    data = jpeg(PAGE)
    begun = file_begin(contest=contest, path="field_1.jpg", size=len(data), by=bob, mark="1764230000000")
    from apps.scanning.receiving import piece_add

    begun = piece_add(file=begun, at=0, data=data[:500])
    assert piece_add(file=begun, at=0, data=data[:500]).received == 500, "a piece that comes twice changes nothing"
    with pytest.raises(ScansRefused, match="changed while it was uploaded"):
        piece_add(file=begun, at=500, data=data)
    other = file_begin(contest=contest, path="field_1.jpg", size=len(data), by=bob, mark="1764230009999")
    assert (other.pk != begun.pk, other.received) == (True, 0), "another file of the same name and size begins again"
    found = file_begin(contest=contest, path="field_1.jpg", size=len(data), by=bob, mark="1764230000000")
    assert (found.pk, found.received) == (begun.pk, 500)
    piece_add(file=found, at=500, data=data[500:])
    working.scans_work()
    assert pages(contest)[0].state == PageState.PLACED
    with pytest.raises(ScansRefused, match="is empty"):
        file_begin(contest=contest, path="x.jpg", size=0, by=bob)


def test_a_pdf_that_kills_its_process_when_it_is_opened_fails(bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(source: IO[bytes], _work: Sequence[Work]) -> Iterator[PageRead]:
        if source.readable():
            raise ReadingFailed
        yield PageRead(0, 0)

    monkeypatch.setattr(working, "pages_of", dies)
    contest = contest_with(bob, "Anna Field")
    assert read(contest, bob, bomb__pdf=pdf([PAGE])) == []
    assert ScanFile.objects.get().reason == working.UNOPENED


def test_what_was_read_of_a_file_is_placed_although_its_process_died(bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    real = pages_of

    def dies(source: IO[bytes], work: Sequence[Work]) -> Iterator[PageRead]:
        for page in real(source, work):
            if page.page == 1:
                raise ReadingFailed
            yield page

    monkeypatch.setattr(working, "pages_of", dies)
    out = io.BytesIO()
    picture = Image.fromarray(PAGE)
    picture.save(out, "TIFF", save_all=True, append_images=[picture, picture])
    contest = contest_with(bob, "Anna Field")
    found = read(contest, bob, field_1__tif=out.getvalue())
    assert [(page.state, page.reason) for page in found] == [(PageState.PLACED, ""), (PageState.TRAY, working.STOPPED)]


def test_an_archive_inside_an_archive_and_odd_names_are_no_danger(bob: User, client_for: ClientFor) -> None:
    contest = contest_with(bob, "Anna Field")
    read(contest, bob, outer__zip=zipped(inner__zip=zipped(field_1__jpg=jpeg(PAGE))))
    assert "inside an archive" in ScanFile.objects.get(path="inner.zip").reason
    odd = file_added(contest, bob, 'a\r\nX-Evil: 1"; b.txt', b"hello")
    assert client_for(bob).get(reverse("scanning:file", args=[odd.public_id])).status_code == 200


def test_a_page_that_kills_its_process_is_left_out(bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    contest = contest_with(bob, "Anna Field")
    real = pages_of

    def dies(source: IO[bytes], work: Sequence[Work]) -> Iterator[PageRead]:
        for page in real(source, work):
            if page.page == 2:
                raise ReadingFailed
            yield page

    monkeypatch.setattr(working, "pages_of", dies)
    found = read(contest, bob, thick__pdf=pdf([PAGE] * 4))
    assert [(page.number, page.reason == working.BROKEN) for page in found if not page.height] == [(3, False)] or [
        page.number for page in found if page.height
    ] == [1, 2, 4]


def test_reading_that_never_ends_is_given_up(bob: User) -> None:
    contest = contest_with(bob, "Anna Field")
    file = file_added(contest, bob, "a.jpg", jpeg(PAGE))
    ScanFile.objects.filter(pk=file.pk).update(attempt=3)
    working.scans_work()
    file.refresh_from_db()
    assert file.state == FileState.FAILED
    assert "began 3 times" in file.reason


def test_a_photo_of_a_telephone_is_read_as_any_other(bob: User) -> None:
    import pillow_heif

    pillow_heif.register_heif_opener()
    contest = contest_with(bob, "Anna Field")
    out = io.BytesIO()
    Image.fromarray(sheet(code_of(contest, "Anna Field", "1"), dpi=150)).convert("RGB").save(out, "HEIF")
    (page,) = read(contest, bob, photo__heic=out.getvalue())
    assert page.state == PageState.PLACED
    assert page.paper == paper_of(contest, "Anna Field")
