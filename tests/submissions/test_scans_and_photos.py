"""Uploads: pages are cleaned and belong to problems and versions; hostile files are refused with a reason."""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from threading import BoundedSemaphore

import pillow_heif
import pypdfium2  # type: ignore[import-untyped]
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from PIL import Image

from apps.accounts.models import User
from apps.contests.models import Contest, ContestProblem, ContestState
from apps.contests.services import coach_add
from apps.submissions import intake
from apps.submissions.intake import UploadWrong, pages_read
from apps.submissions.models import Scan, SubmissionVersion
from tests.contests.factory import enter, make_contest, moved
from tests.problems.factory import make_problem

ClientFor = Callable[[User | None], Client]
SECRET = b"GPS of Hohenstein"


def photo(kind: str = "JPEG", size: tuple[int, int] = (60, 40)) -> bytes:
    """A photo with metadata and a rotation of 90°."""
    pillow_heif.register_heif_opener()
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, SECRET.decode()
    out = io.BytesIO()
    more = {"comment": SECRET} if kind == "JPEG" else {}
    Image.new("RGB", size, "navy").save(out, kind, exif=exif, **more)
    return out.getvalue()


def pdf(pages: int = 2, size: tuple[float, float] = (595, 842)) -> bytes:
    document = pypdfium2.PdfDocument.new()
    for _ in range(pages):
        document.new_page(*size)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def scan(pages: int) -> bytes:
    """A scanned PDF: one image per page."""
    out = io.BytesIO()
    sheet = Image.new("L", (60, 84), "white")
    sheet.save(out, "PDF", save_all=True, append_images=[sheet] * (pages - 1))
    return out.getvalue()


def huge_png() -> bytes:
    """A small file that declares 60,000 × 60,000 pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 100_000)) + chunk(b"IEND", b"")


@pytest.fixture
def contest(bob: User, charlie: User) -> Contest:
    contest = make_contest(bob, make_problem("One"), make_problem("Two"), state=ContestState.OPEN)
    enter(contest, charlie)
    return contest


def upload(client: Client, problem: ContestProblem, *files: bytes) -> str:
    url = reverse("submissions:pages_add", kwargs={"problem_id": problem.public_id})
    sent = [SimpleUploadedFile(f"Zebulon {n}.pdf", data) for n, data in enumerate(files)]
    return client.post(url, {"files": sent}, follow=True).content.decode()


def change(client: Client, problem: ContestProblem, scan: Scan, action: str, **more: object) -> int:
    url = reverse("submissions:page_change", kwargs={"problem_id": problem.public_id})
    return client.post(url, {"scan": scan.public_id, "action": action, **more}).status_code


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "HEIF"])
def test_a_photo_is_rotated_and_loses_its_metadata(kind: str) -> None:
    data = photo(kind)
    assert SECRET in data
    (page,) = pages_read(data)
    assert (page.width, page.height) == ((60, 40) if kind == "HEIF" else (40, 60)), "HEIC stores rotation outside of EXIF"
    assert SECRET not in page.jpeg
    drawn = Image.open(io.BytesIO(page.jpeg))
    assert drawn.format == "JPEG"
    assert not drawn.getexif()
    assert set(drawn.info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}


def test_a_pdf_becomes_one_image_per_page() -> None:
    pages = pages_read(pdf(3))
    assert [max(page.width, page.height) for page in pages] == [2_000] * 3


def test_a_scan_with_the_maximum_number_of_pages_is_read() -> None:
    pages = pages_read(scan(50))
    assert len(pages) == 50
    assert all((page.width, page.height) == (1_429, 2_000) for page in pages)


def test_a_scan_of_300_pages_is_refused_and_not_stored(contest: Contest, charlie: User, client_for: ClientFor) -> None:
    answer = upload(client_for(charlie), contest.problems.all()[0], scan(300))
    assert "The PDF has 300 pages; at most 50 can be handed in to a problem." in answer
    assert not Scan.objects.exists()


def png(picture: Image.Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def shown(data: bytes) -> Image.Image:
    (page,) = pages_read(data)
    return Image.open(io.BytesIO(page.jpeg)).convert("L")


def test_a_scan_with_16_bits_per_pixel_keeps_its_greys() -> None:
    ramp = Image.new("I;16", (256, 8))
    ramp.putdata([column * 257 for _ in range(8) for column in range(256)])
    levels = shown(png(ramp)).resize((4, 1), Image.Resampling.BOX).tobytes()
    assert all(abs(level - meant) < 8 for level, meant in zip(levels, (32, 96, 160, 224), strict=True)), list(levels)


@pytest.mark.parametrize("mode", ["1", "P"])
def test_thin_strokes_survive_scaling_of_a_two_colour_page(mode: str) -> None:
    page = Image.new("L", (6_000, 60), "white")
    for column in range(10, 6_000, 30):
        page.paste(0, (column, 0, column + 1, 60))
    small = shown(png(page.convert(mode)))
    assert small.width == 2_000
    row = small.tobytes()[10 * small.width : 11 * small.width]
    assert sum(level < 225 for level in row) >= 190, "almost all of 200 strokes are visible"


def test_the_refusal_names_a_damaged_page_of_a_pdf() -> None:
    lost = (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 2/Kids[3 0 R 99 0 R]>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 300]>>endobj\ntrailer<</Root 1 0 R/Size 4>>\n%%EOF\n"
    )
    with pytest.raises(UploadWrong, match="Page 2 of this PDF is damaged"):
        pages_read(lost)


def test_an_upload_that_waits_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.submissions.intake.PLACES", BoundedSemaphore(1))
    monkeypatch.setattr("apps.submissions.intake.WAIT_S", 0.01)
    with intake.PLACES, pytest.raises(UploadWrong, match="busy"):
        pages_read(photo())
    assert len(pages_read(photo())) == 1, "the slot is released"


def test_the_time_of_one_upload_is_limited(
    contest: Contest, charlie: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.submissions.views.pages.READING_S", -1.0)
    assert "Upload fewer files at once." in upload(client_for(charlie), contest.problems.all()[0], photo())
    assert not Scan.objects.exists()


def zip_bytes() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a", "b")
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pdf(51), "at most 50"),
        (scan(300), "has 300 pages; at most 50"),
        (pdf(2)[:300], "damaged"),
        (photo()[:120], "damaged"),
        (huge_png(), "million pixels"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', "neither a PDF nor a photo"),
        (b"<!doctype html><script>alert(1)</script>", "neither a PDF nor a photo"),
        (zip_bytes(), "neither a PDF nor a photo"),
        (b"GIF89a" + b"\0" * 50, "neither a PDF nor a photo"),
        (b"", "neither a PDF nor a photo"),
        (b"%PDF-1.7\n" + b"x" * 1_000, "damaged"),
        (b"\xff\xd8\xff" + b"\0" * (33 * 1024 * 1024), "larger than 32 MB"),
    ],
    ids=["pages", "a whole binder", "cut pdf", "cut jpeg", "bomb", "svg", "html", "zip", "gif", "empty", "no pdf", "large"],
)
def test_an_unusable_file_is_refused_with_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(UploadWrong, match=reason):
        pages_read(data)


def test_reading_stops_after_the_time_limit() -> None:
    with pytest.raises(UploadWrong, match="too long"):
        pages_read(pdf(50), wall_s=0.05)


def test_markers_read_pages_with_their_transcription(contest: Contest, bob: User, charlie: User, client_for: ClientFor) -> None:
    first = contest.problems.all()[0]
    student, coach = client_for(charlie), client_for(bob)
    upload(student, first, pdf(2), photo())
    scans = list(Scan.objects.order_by("position"))
    assert len(scans) == 3
    image = reverse("submissions:page_image", kwargs={"scan_id": scans[0].public_id})
    assert coach.get(image).status_code == 404
    write = reverse("submissions:write", kwargs={"problem_id": first.public_id})
    student.post(write, {"text": "What the photo says.", "text_format": "markdown", "based_on": 0})
    version = SubmissionVersion.objects.get()
    assert [page.scan for page in version.pages.all()] == scans
    moved(contest, ContestState.MARKING)
    page = coach.get(reverse("submissions:script", kwargs={"version_id": version.public_id})).content.decode()
    assert page.count("<img") == 3
    assert "What the photo says." in page
    assert "Zebulon" not in page
    answer = coach.get(image)
    assert (answer.status_code, answer["Content-Type"], answer["X-Content-Type-Options"]) == (200, "image/jpeg", "nosniff")
    assert answer["Content-Disposition"] == 'inline; filename="page.jpg"'


def test_pages_can_be_handed_in_without_text(contest: Contest, charlie: User, client_for: ClientFor) -> None:
    first, client = contest.problems.all()[0], client_for(charlie)
    upload(client, first, photo())
    write = reverse("submissions:write", kwargs={"problem_id": first.public_id})
    client.post(write, {"text": "", "text_format": "markdown", "based_on": 0})
    version = SubmissionVersion.objects.get()
    assert (version.source, version.steps.count(), version.pages.count()) == ("", 0, 1)


def test_pages_are_reordered_removed_and_reassigned(contest: Contest, charlie: User, client_for: ClientFor) -> None:
    first, second = contest.problems.all()
    client = client_for(charlie)
    upload(client, first, photo(), photo("PNG"), pdf(1))
    a, b, c = Scan.objects.order_by("position")
    change(client, first, b, "earlier")
    assert list(Scan.objects.order_by("position")) == [b, a, c]
    change(client, first, c, "assign", to=second.public_id)
    assert Scan.objects.get(submission__problem=second).jpeg == c.jpeg
    change(client, first, b, "remove")
    assert list(Scan.objects.filter(submission__problem=first)) == [a]


def test_a_removed_page_stays_in_its_version(contest: Contest, charlie: User, client_for: ClientFor) -> None:
    first, client = contest.problems.all()[0], client_for(charlie)
    upload(client, first, photo(), photo())
    write = reverse("submissions:write", kwargs={"problem_id": first.public_id})
    client.post(write, {"text": "", "text_format": "markdown", "based_on": 0})
    change(client, first, Scan.objects.order_by("position")[0], "remove")
    client.post(write, {"text": "", "text_format": "markdown", "based_on": 0})
    assert [version.pages.count() for version in SubmissionVersion.objects.order_by("number")] == [2, 1]


def test_one_wrong_file_refuses_the_whole_upload(contest: Contest, charlie: User, client_for: ClientFor) -> None:
    answer = upload(client_for(charlie), contest.problems.all()[0], photo(), b"<svg/>")
    assert "File 2: This is neither a PDF nor a photo" in answer
    assert not Scan.objects.exists()


def test_other_users_cannot_open_a_page(
    contest: Contest, dana: User, alice: User, charlie: User, client_for: ClientFor
) -> None:
    first = contest.problems.all()[0]
    upload(client_for(charlie), first, photo())
    scan = Scan.objects.get()
    enter(contest, alice)
    coach_add(contest=contest, person=dana)
    image = reverse("submissions:page_image", kwargs={"scan_id": scan.public_id})
    assert client_for(charlie).get(image).status_code == 200
    assert client_for(alice).get(image).status_code == 404
    assert change(client_for(alice), first, scan, "remove") == 404
    moved(contest, ContestState.MARKING)
    assert client_for(dana).get(image).status_code == 404, "only the author sees a page of a draft"
    answer = upload(client_for(charlie), first, photo())
    assert "Nothing more can be handed in." in answer
    assert change(client_for(charlie), first, scan, "remove") == 302
    assert Scan.objects.count() == 1
