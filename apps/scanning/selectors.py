"""What the pages of scans show: progress of files, the table of students and problems, the tray."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import Count, QuerySet

from apps.contests.models import Contest, ContestProblem, Identity
from apps.scanning.models import FileState, PageState, ScanFile, ScannedPage
from apps.scanning.placing import pages_placed, pages_to_assign


@dataclass(frozen=True)
class Progress:
    """Files by state, and pages read of those known. `is_busy`: whether files wait or are being read."""

    files: dict[str, int]
    read: int
    known: int

    @property
    def is_busy(self) -> bool:
        return bool(self.files.get(FileState.WAITING) or self.files.get(FileState.READING))

    @property
    def total(self) -> int:
        return sum(self.files.values())


@dataclass
class Cell:
    """The pages of a student for a problem. `missing`: numbers of sheets that are absent while a later one is there."""

    pages: int = 0
    blank: int = 0
    missing: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Row:
    """A student with a cell for each problem, and the number of their pages in the tray."""

    identity: Identity
    cells: list[Cell]
    waiting: int


def progress_of(contest: Contest) -> Progress:
    """How far reading is."""
    states = dict(contest.scan_files.values_list("state").annotate(count=Count("pk")).values_list("state", "count"))
    pages = ScannedPage.objects.filter(file__contest=contest).count()
    known = sum(contest.scan_files.exclude(pages=0).values_list("pages", flat=True))
    return Progress(states, pages, max(known, pages))


def files_read(contest: Contest) -> QuerySet[ScanFile]:
    """Files that were read, without archives, whose members are files of their own."""
    return contest.scan_files.filter(state=FileState.READ).exclude(pages=0)


def files_failed(contest: Contest) -> QuerySet[ScanFile]:
    """Files that could not be read, or whose upload stopped."""
    return contest.scan_files.filter(state__in=(FileState.FAILED, FileState.RECEIVING))


def tray_of(contest: Contest) -> QuerySet[ScannedPage]:
    """Pages to be assigned, in the order of their files, without their pictures."""
    return pages_to_assign(contest).defer("jpeg").select_related("file", "paper", "problem")


def table_of(contest: Contest, problems: Sequence[ContestProblem]) -> list[Row]:
    """Students by name with the number of their pages for each problem."""
    sheets: dict[tuple[int | None, int | None], list[int]] = defaultdict(list)
    for page in pages_placed(contest):
        sheets[page.paper_id, page.problem_id].append(page.sheet)
    blank: dict[tuple[int | None, int | None], list[int]] = defaultdict(list)
    for paper, problem, number in _blank_sheets(contest):
        blank[paper, problem].append(number)
    waiting: Counter[int | None] = Counter()
    waiting.update(pages_to_assign(contest).values_list("paper", flat=True))

    def cell(paper: int, problem: int) -> Cell:
        found = sheets.get((paper, problem), [])
        empty = blank.get((paper, problem), [])
        there = {number for number in (*found, *empty) if number}
        missing = [number for number in range(1, max(there, default=0)) if number not in there]
        return Cell(len(found), len(empty), missing)

    return [
        Row(one, [cell(one.paper_id, problem.pk) for problem in problems], waiting.get(one.paper_id, 0))
        for one in contest.identities.select_related("paper").order_by("name", "pk")
    ]


def put_aside(contest: Contest) -> dict[str, int]:
    """Numbers of pages that are not handed in, by state."""
    rows = ScannedPage.objects.filter(file__contest=contest).exclude(
        state__in=(PageState.PLACED, PageState.TRAY, PageState.READ)
    )
    return dict(rows.values_list("state").annotate(count=Count("pk")).values_list("state", "count"))


def _blank_sheets(contest: Contest) -> QuerySet[ScannedPage, tuple[int | None, int | None, int]]:
    rows = ScannedPage.objects.filter(state=PageState.BLANK, file__contest=contest)
    return rows.values_list("paper", "problem", "sheet")
