"""A contest weekend: names in, paper scanned, five markers, a dispute, an appeal, and results with names.

THOROUGH=true rehearses it with 120 papers, otherwise with 6. What organisers and the student do is done in Chromium; the
markers send the requests of their pages.
"""

import itertools
import os
import re
import uuid
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pypdfium2  # type: ignore[import-untyped]
import pytest
from django.db.models import F
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.contests.models import Contest, ContestProblem, Identity
from apps.contests.services import coach_add
from apps.files.grids import grid_read
from apps.marks.models import Appeal, Coordination, Mark, MarkingTask
from apps.marks.sealing.sealing import cases_settle
from apps.marks.setups import Choices, setup_save
from apps.reasoning.marking.sheets.pages import page_step
from apps.scanning.reading.working import scans_work
from tests.browser.marking_pages import ClientFor, room_of, session_of
from tests.browser.test_dangerous_buttons_ask import answered
from tests.contests.factory import make_contest
from tests.marks.factory import marker, scheme_active
from tests.problems.factory import make_problem
from tests.results.factory import passed
from tests.scanning.factory import Picture, pdf, written
from tests.schemes.factory import make_scheme
from tests.ui.browser import needs_chromium

PAPERS = 120 if os.environ.get("THOROUGH") == "true" else 6
pytestmark = [
    pytest.mark.browser,
    needs_chromium,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(300 if PAPERS < 100 else 1800),
]
LABELS, SIX = ("1", "2", "3", "4"), "A1 A2 -D1"
DISPUTED, APPEALED = ("Student 002", "1"), ("Student 001", "2")
DPI = 100


def name_of(number: int) -> str:
    return f"Student {number:03}"


def is_blank(name: str, label: str) -> bool:
    """Every third student leaves problem 4 empty."""
    return label == "4" and int(name[-3:]) % 3 == 0


def points_of(name: str, label: str) -> int | None:
    """What all markers give: 7 or 3, but for the disputed and the appealed text. An empty sheet has no points."""
    if is_blank(name, label):
        return None
    return 3 if (name, label) == APPEALED or ((name, label) != DISPUTED and crc32(f"{name}{label}".encode()) % 2) else 7


@pytest.fixture
def contest(bob: User, settings: Settings) -> Contest:
    """Four problems with schemes, and five coaches; no student yet."""
    settings.MARKING_GRADERS = []
    problems = [make_problem(f"Weekend {label}") for label in LABELS]
    for problem in problems:
        scheme_active(bob, make_scheme(bob, problem))
    contest = make_contest(bob, *problems)
    for number in range(4):
        coach_add(contest=contest, person=marker(f"marker-{number}"))
    return contest


def test_a_contest_weekend(contest: Contest, live_server: LiveServer, client_for: ClientFor, bob: User, tmp_path: Path) -> None:
    session, here = session_of(client_for, bob), f"/contests/{contest.public_id}/"
    with room_of(live_server, session) as room:
        sheets = friday_evening(room.page(f"{here}table/"), here, tmp_path)
        scan = tmp_path / "room 1.pdf"
        scan.write_bytes(pdf(list(scanned(sheets))))
        saturday_morning(room.page(f"{here}scans/"), scan)
    scans_work()
    with room_of(live_server, session) as room:
        page = room.page(f"{here}scans/tray/")
        into_its_place(page, name_of(PAPERS), "3")
        page.wait_for_load_state()
        page.goto(f"{here}scans/")
        page.get_by_role("button", name="Hand in the pages").click()
        page.goto(here)
        answered(page, "Begin marking", yes=True)
        expect(page.get_by_text("Marking").first).to_be_visible()
    mark_everything(contest, bob, client_for)
    with room_of(live_server, session) as room:
        released(room.page(f"{here}release/"))
    appeal_and_answer(contest, live_server, client_for)
    with room_of(live_server, session) as room:
        released(room.page(f"{here}release/"))
        found = sunday_evening(room.page(f"/office/{contest.public_id}/results/"))
    expected = {name: [points_of(name, label) for label in LABELS] for name in map(name_of, range(1, PAPERS + 1))}
    expected[APPEALED[0]][1] = 7
    assert found == expected


def friday_evening(page: Page, here: str, folder: Path) -> bytes:
    """The list of students goes in, the contest is opened, and the answer sheets are printed."""
    lines = [f"{name_of(number)},student-{number:03},School {number % 5}" for number in range(1, PAPERS + 1)]
    roster = folder / "roster.csv"
    roster.write_text("\n".join(["Name,User name,School", *lines]))
    page.locator("input[type=file]").set_input_files(roster)
    page.get_by_role("button", name="Look at the table").click()
    page.get_by_label("People without an account").select_option("account")
    page.get_by_role("button", name="Update preview").click()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name="Imported: roster.csv")).to_be_visible()
    page.goto(here)
    answered(page, "Open contest", yes=True)
    page.goto(f"{here}scans/")
    page.get_by_label("Sheets for each problem").fill("1")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the sheets").click()
    return download.value.path().read_bytes()


def scanned(sheets: bytes) -> Iterator[Picture]:
    """Every printed sheet, written on unless it stays blank; the code of the last sheet for problem 3 is unreadable."""
    document = pypdfium2.PdfDocument(sheets)
    kinds = itertools.cycle(("", *LABELS))
    by_school = sorted(range(1, PAPERS + 1), key=lambda number: (number % 5, number))
    students = itertools.chain.from_iterable([name_of(number)] * (1 + len(LABELS)) for number in by_school)
    for number, (name, label) in enumerate(zip(students, kinds, strict=False)):
        page = np.array(document[number].render(scale=DPI / 72, grayscale=True).to_pil())
        if label and not is_blank(name, label):
            written(page, dpi=DPI, lines=8, seed=number)
        if (name, label) == (name_of(PAPERS), "3"):
            page[: int(1.5 * DPI)] = 255
        yield page


def saturday_morning(page: Page, scan: Path) -> None:
    """The box of paper comes back as one file."""
    page.locator("input[type=file][name=files]").set_input_files(scan)
    expect(page.get_by_text("Reading:")).to_be_visible()


def into_its_place(page: Page, name: str, label: str) -> None:
    """The one page without a code is assigned by keys."""
    page.keyboard.press(label)
    page.get_by_label("Student").select_option(label=f"{name} (School {int(name[-3:]) % 5})")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The tray is empty.")).to_be_visible()


def mark_everything(contest: Contest, bob: User, client_for: ClientFor) -> None:
    """Five markers take scripts in turn until none is left; problem 1 has two marks, one pair of which differs."""
    team = [bob, *(marker(f"marker-{number}") for number in range(4))]
    for row in ContestProblem.objects.filter(contest=contest).select_related("contest", "problem"):
        scheme = row.problem.marking_schemes.get()
        setup_save(problem=row, choices=Choices(scheme=scheme, markers=2 if row.label == "1" else 1), by=bob)
        clients = [client_for(one) for one in team]
        while sum(mark_next(client, row) for client in clients):
            pass
    Mark.objects.update(sealed_at=F("sealed_at") - timedelta(minutes=1))
    cases_settle(contest)
    agree(Coordination.objects.get(), client_for)
    assert not MarkingTask.objects.filter(case__problem__contest=contest, done_at=None).exists()
    assert Mark.objects.values("marker").distinct().count() == len(team)


def mark_next(client: Client, problem: ContestProblem) -> bool:
    """Take a script and seal its mark, with the requests of the page; whether there was one."""
    answer = client.post(reverse("marks:next", args=[problem.public_id]))
    if answer.status_code != 302:
        return False
    task = MarkingTask.objects.get(public_id=answer["Location"].strip("/").split("/")[-1])
    name = Identity.objects.get(paper=task.case.version.submission.paper).name
    is_second = (name, problem.label) == DISPUTED and Mark.objects.filter(
        task__case=task.case, sealed_at__isnull=False
    ).exists()
    mark_seal_over_http(client, task, SIX if is_second else "A1 A2" if points_of(name, problem.label) == 7 else "A1")
    return True


def mark_seal_over_http(client: Client, task: MarkingTask, line: str) -> None:
    """The claim line, an error on the first page unless the points are whole, and the seal."""
    commands: list[tuple[str, dict[str, Any]]] = [("claim", {"line": line})]
    if line != "A1 A2":
        commands.append(("verdict", {"id": "v1", "step": page_step(1), "fallacy": "gap", "words": "Why?"}))
    version = 0
    for verb, args in commands:
        version = sent(client, task, "command", id=str(uuid.uuid4()), verb=verb, args=args, row_version=version)["row_version"]
    sent(client, task, "seal", row_version=version, active_seconds=20)


def sent(client: Client, task: MarkingTask, name: str, **body: Any) -> dict[str, Any]:
    answer = client.post(reverse(f"marks:{name}", args=[task.public_id]), body, content_type="application/json")
    assert answer.status_code == 200, answer.content.decode()
    found: dict[str, Any] = answer.json()
    return found


def agree(coordination: Coordination, client_for: ClientFor) -> None:
    """Both markers claim, one proposes full points, and the other one signs."""
    address = reverse("marks:coordination", args=[coordination.public_id])
    one, other = [client_for(mark.marker) for mark in coordination.marks.all()]
    for client in (one, other):
        assert client.post(f"{address}claim", {"claim": "A1 A2"}).status_code == 302
    coordination.refresh_from_db()
    form = {"claim": "A1 A2", "reason": "The slip is harmless.", "based_on": str(coordination.row_version)}
    assert one.post(f"{address}propose", form).status_code == 302
    coordination.refresh_from_db()
    assert other.post(f"{address}sign", {"based_on": str(coordination.row_version)}).status_code == 302


def released(page: Page) -> None:
    """All parts of all results are released."""
    for box in page.locator("input[name=parts]").all():
        box.check()
    answered(page, page.get_by_role("button", name=re.compile("Release .* result")).inner_text(), yes=True)
    expect(page.get_by_text("Released.", exact=False).first).to_be_visible()


def appeal_and_answer(contest: Contest, live_server: LiveServer, client_for: ClientFor) -> None:
    """A student appeals on the page of the result; a coach who had not marked the text makes a fresh mark and grants it."""
    passed(contest.releases.get(), hours=25)
    author = contest.identities.get(name=APPEALED[0])
    assert author.person is not None
    with room_of(live_server, session_of(client_for, author.person)) as room:
        page = room.page(f"/contests/{contest.public_id}/results/")
        page.get_by_role("region", name="Problem 2").get_by_role("link", name="Version 1").click()
        page.get_by_role("link", name="Appeal", exact=True).first.click()
        page.get_by_role("radio").first.check()
        page.get_by_label("Reason").fill("The missing case is on the second line of my page.")
        page.get_by_role("button", name="Hand in", exact=True).click()
        expect(page.get_by_text("Your appeal is handed in.")).to_be_visible()
    appeal = Appeal.objects.get()
    first = Mark.objects.get(task__case=appeal.grade.case).marker
    coach = client_for(next(one for one in (marker(f"marker-{number}") for number in range(4)) if one != first))
    command = {verb: reverse("results:appeal_command", args=[appeal.public_id, verb]) for verb in ("take", "uphold")}
    assert coach.post(command["take"]).status_code == 302
    mark_seal_over_http(coach, MarkingTask.objects.get(slot="appeal"), "A1 A2")
    Mark.objects.update(sealed_at=F("sealed_at") - timedelta(minutes=1))
    assert coach.post(command["uphold"], {"answer": "You are right: the case is there."}).status_code == 302


def sunday_evening(page: Page) -> dict[str, list[Decimal | None]]:
    """The list is signed off, the names are opened, and the organiser's workbook has the points by name."""
    answered(page, "Sign off this list", yes=True)
    answered(page, "Open all identities", yes=True)
    expect(page.get_by_text("Names are now shown next to the results.")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="XLSX").first.click()
    grid = grid_read(download.value.path().read_bytes())
    columns = [grid.names.index(name) for name in ("name", *(f"problem {label}" for label in LABELS))]
    rows = [[row.cells[column] for column in columns] for row in grid.rows]
    return {name: [Decimal(points) if points else None for points in cells] for name, *cells in rows}
