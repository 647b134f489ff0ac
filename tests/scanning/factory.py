"""Scans for tests: printed sheets are drawn, written on, turned, shaded and blurred, as a scanner or a phone sees them."""

import io
import itertools
from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
import pypdfium2  # type: ignore[import-untyped]
from PIL import Image

from apps.accounts.models import Role, User
from apps.contests.models import Contest, ContestProblem, ContestState, Paper
from apps.scanning.codes import PageCode
from apps.scanning.models import ScanFile, ScannedPage, SheetCode
from apps.scanning.reading.working import scans_work
from apps.scanning.receiving import PIECE_BYTES, file_begin, piece_add
from apps.scanning.sheets import tokens_of
from apps.submissions.models import SubmissionVersion
from tests.contests.factory import enter, make_contest
from tests.problems.factory import make_problem

Picture = Any
_NUMBERS = itertools.count(1)


def sheet(code: PageCode | None, *, dpi: int = 100, lines: int = 12, seed: int = 0) -> Picture:
    """A printed page with a code at its top and some writing, 8 bits of gray."""
    from apps.scanning.sheets import rows_of

    height, width = int(11.7 * dpi), int(8.3 * dpi)
    page = np.full((height, width), 255, np.uint8)
    if code is not None:
        rows = np.array([[255 * (sign == "0") for sign in row] for row in rows_of(code.text)], np.uint8)
        side = int(19.5 / 25.4 * dpi)
        at = (width - side) // 2
        page[int(0.4 * dpi) : int(0.4 * dpi) + side, at : at + side] = cv2.resize(
            rows, (side, side), interpolation=cv2.INTER_NEAREST
        )
    return written(page, dpi=dpi, lines=lines, seed=seed)


def written(page: Picture, *, dpi: int = 100, lines: int = 12, seed: int = 0) -> Picture:
    """The page with some lines of handwriting."""
    height, width = page.shape
    random = np.random.default_rng(seed)
    for line in range(lines):
        y, x = int(height * (0.2 + 0.06 * line)), int(width * 0.12)
        while x < width * 0.85:
            points = np.cumsum(random.integers(-dpi // 20, dpi // 20 + 1, (6, 2)), 0) + np.array((x, y))
            cv2.polylines(page, [points.astype(np.int32)], False, 40, max(1, dpi // 70))
            x += dpi // 5
    return page


def scanned(page: Picture, *, angle: float = 0, noise: float = 0, shadow: float = 0, turn: int = 0, seed: int = 0) -> Picture:
    """The page as a scanner sees it: turned by `angle` degrees, with noise and a shadow, then by quarter turns."""
    height, width = page.shape
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), angle, 1)
    found = cv2.warpAffine(page, matrix, (width, height), borderValue=(255,)).astype(np.float32)
    found *= np.linspace(1, 1 - shadow, width)[None, :] * np.linspace(1, 1 - shadow / 2, height)[:, None]
    found += np.random.default_rng(seed).normal(0, noise, found.shape)
    return np.rot90(np.clip(found, 0, 255).astype(np.uint8), turn // 90).copy()


def jpeg(page: Picture, **options: Any) -> bytes:
    """The page as a file, by default a JPEG."""
    out = io.BytesIO()
    Image.fromarray(page).save(out, options.pop("format", "JPEG"), **options)
    return out.getvalue()


def pdf(pages: Sequence[Picture]) -> bytes:
    """The pages as one PDF."""
    first, *rest = [Image.fromarray(page) for page in pages]
    out = io.BytesIO()
    first.save(out, "PDF", save_all=True, append_images=rest, resolution=100)
    return out.getvalue()


def pdf_with_password(page: Picture) -> bytes:
    """A PDF that opens with a password only. PDFium cannot write one, so that the encryption entry is a false one."""
    assert pypdfium2 is not None
    return pdf([page]).replace(
        b"trailer\n<<", b"trailer\n<< /Encrypt << /Filter /Standard /V 1 /R 2 /O <00> /U <00> /P -4 >>", 1
    )


def contest_with(coach: User, *names: str, problems: int = 2, state: ContestState = ContestState.OPEN) -> Contest:
    """A contest, by default open, with these students and problems labelled from 1."""
    made = [make_problem(f"Scanned {next(_NUMBERS)}") for _ in range(problems)]
    contest = make_contest(coach, *made, state=state)
    for name in names:
        first, _, last = name.partition(" ")
        person = User.objects.create_user(name.lower().replace(" ", "-"), role=Role.STUDENT, first_name=first, last_name=last)
        enter(contest, person)
    return contest


def paper_of(contest: Contest, name: str) -> Paper:
    """The paper of a student."""
    return contest.identities.get(name=name).paper


def code_of(contest: Contest, name: str, label: str = "", page: int = 1) -> PageCode:
    """The code on a sheet of a student; without a label of a cover sheet."""
    tokens_of(contest, list(contest.identities.all()))
    problem = contest.problems.get(label=label).pk if label else 0
    return PageCode(SheetCode.objects.get(paper=paper_of(contest, name)).token, problem, page if label else 0)


def added(contest: Contest, by: User, **files: bytes) -> list[ScanFile]:
    """Upload files; two underscores in a name are a dot, three a slash."""
    return [file_added(contest, by, name.replace("___", "/").replace("__", "."), data) for name, data in files.items()]


def file_added(contest: Contest, by: User, path: str, data: bytes) -> ScanFile:
    """Upload a file."""
    file = file_begin(contest=contest, path=path, size=len(data), by=by)
    for at in range(0, len(data), PIECE_BYTES):
        file = piece_add(file=file, at=at, data=data[at : at + PIECE_BYTES])
    return file


def read(contest: Contest, by: User, **files: bytes) -> list[ScannedPage]:
    """Upload and read files; the pages in their order."""
    added(contest, by, **files)
    scans_work()
    return pages(contest)


def pages(contest: Contest) -> list[ScannedPage]:
    """All pages of a contest in the order of their files."""
    return list(ScannedPage.objects.filter(file__contest=contest).select_related("file", "problem"))


def version_of(contest: Contest, name: str, problem: ContestProblem) -> SubmissionVersion:
    """The newest version of a student's text."""
    rows = SubmissionVersion.objects.filter(submission__paper=paper_of(contest, name), submission__problem=problem)
    return rows.order_by("-number")[0]
