"""A box of scans: 300 papers with 6 sheets each, read next to a running web process.

The files are JPEG of 300 dots per inch in archives. Their pages are drawn: writing, a code, a turn by up to 10°, a shadow and
noise, one in four upside down. A part of them is also read at 150 and 200 dots per inch. The time begins when the files have
been received and ends when all pages are placed.
"""

import contextlib
import io
import random
import threading
import time
import urllib.request
import zipfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.figures import Figure, percentiles

if TYPE_CHECKING:
    from apps.contests.models import Contest

PAPERS, QUICK_PAPERS, PROBLEMS = 300, 10, 6
TARGET_S, TARGET_MB = 360, 600
EACH_ARCHIVE = 300
#: Codes, dots per inch and seed of a page.
Drawn = tuple[str, int, int]


def figures(quick: bool = False) -> list[Figure]:
    """Seconds, the share of codes that were read, wrong assignments, and megabytes."""
    from benchmarks import stage

    folder = stage.set_up()
    from apps.scanning.models import ScannedPage
    from apps.scanning.reading.working import scans_work
    from benchmarks.processes import Processes

    contest, truth = _contest(QUICK_PAPERS if quick else PAPERS)
    wanted = [(code, 300, number) for number, code in enumerate(truth)]
    few = random.Random(1).sample(list(truth), min(len(truth), 200))
    wanted += [(code, dpi, 100_000 + number) for number, code in enumerate(few) for dpi in (150, 200)]
    sizes = _received(contest, wanted[: len(truth)])
    with Processes("valkey", "web", folder=folder):
        visits = _Visits()
        began = time.perf_counter()
        with visits:
            scans_work()
        took = time.perf_counter() - began
    pages = ScannedPage.objects.filter(file__contest=contest).defer("jpeg")
    read, wrong = _compared(pages, truth)
    pages.delete()
    _received(contest, wanted[len(truth) :])
    scans_work()
    low_read, low_wrong = _compared(ScannedPage.objects.filter(file__contest=contest).defer("jpeg"), truth)
    count = len(truth)
    return [
        Figure("pages of 300 dpi", count),
        Figure("… size of a file", sizes / count / 1024, "kB"),
        Figure("until all are placed", took, "s", TARGET_S * count / (PAPERS * PROBLEMS), "at most"),
        Figure("… for each page", took / count * 1000, "ms"),
        Figure("codes read and placed right, 300 dpi", read / count, "", 0.99, "at least"),
        Figure("codes read and placed right, 150 and 200 dpi", low_read / max(1, 2 * len(few)), "", 0.99, "at least"),
        Figure("pages placed wrongly", wrong + low_wrong, "", 0, "at most"),
        Figure("memory of both reading processes, at most", 2 * visits.largest_mb, "MB", TARGET_MB, "at most"),
        Figure("a page of the site meanwhile, 95th percentile", percentiles(visits.waits)[1], "ms"),
    ]


class _Visits:
    """Asks the site for a page every half second, in a thread, and looks at the memory of the reading processes."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self.largest_mb = 0.0
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._visit, daemon=True)

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self.thread.join()

    def _visit(self) -> None:
        from django.conf import settings

        while not self.stopped.wait(0.5):
            began = time.perf_counter()
            with urllib.request.urlopen(f"http://127.0.0.1:{settings.PORT}/accounts/login/") as answer:
                answer.read()
            self.waits.append((time.perf_counter() - began) * 1000)
            self.largest_mb = max([self.largest_mb, *_memory_of_readers()])


def _memory_of_readers() -> list[float]:
    """The largest memory so far of each reading process, in MB."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"boot_lines" in (folder / "cmdline").read_bytes():
                lines = (folder / "status").read_text().splitlines()
                found += [int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")]
    return found


def _contest(papers: int) -> "tuple[Contest, dict[str, tuple[int, int]]]":
    """A contest, and for the code of each sheet its paper and problem."""
    from apps.accounts.models import Role, User
    from apps.contests.models import AuthorKind
    from apps.contests.services import author_add
    from apps.scanning.codes import PageCode
    from apps.scanning.sheets import tokens_of
    from tests.contests.factory import make_contest
    from tests.problems.factory import make_problem

    coach = User.objects.create(username="coach", role=Role.COACH)
    contest = make_contest(coach, *(make_problem(f"Problem {number}") for number in range(PROBLEMS)))
    for number in range(papers):
        author_add(contest=contest, name=f"Student {number:03}", kind=AuthorKind.STUDENT)
    tokens = tokens_of(contest, list(contest.identities.all()))
    problems = list(contest.problems.values_list("pk", flat=True))
    return contest, {
        PageCode(token, problem, 1).text: (paper, problem) for paper, token in tokens.items() for problem in problems
    }


def _received(contest: "Contest", wanted: list[Drawn]) -> int:
    """Draw pages and upload them in archives, in a random order; returns their bytes."""
    from apps.accounts.models import User
    from tests.scanning.factory import file_added

    random.Random(2).shuffle(wanted)
    total = 0
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for at in range(0, len(wanted), EACH_ARCHIVE):
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w") as archive:
                for number, data in enumerate(pool.map(drawn, wanted[at : at + EACH_ARCHIVE], chunksize=10)):
                    archive.writestr(f"scan-{wanted[at][2]}-{number:04}.jpg", data)
                    total += len(data)
            file_added(contest, User.objects.get(), f"scans-{wanted[at][2]}.zip", out.getvalue())
    return total


def drawn(page: Drawn) -> bytes:
    """A scan as JPEG."""
    import cv2
    import django

    django.setup()
    from apps.scanning.codes import code_of
    from tests.scanning.factory import jpeg, scanned, sheet

    cv2.setNumThreads(1)
    text, dpi, seed = page
    chance = random.Random(seed)
    picture = sheet(code_of(text), dpi=dpi, seed=seed % 50)
    options = {"angle": chance.uniform(-10, 10), "noise": chance.uniform(0, 25), "shadow": chance.choice([0, 0.2, 0.45])}
    return jpeg(scanned(picture, **options, turn=180 * (chance.random() < 0.25), seed=seed), quality=80)


def _compared(pages: Any, truth: dict[str, tuple[int, int]]) -> tuple[int, int]:
    """How many pages are where their code says, and how many are elsewhere."""
    from apps.scanning.models import PageState

    right = wrong = 0
    for page in pages:
        if page.paper_id is None:
            continue
        if page.state in (PageState.PLACED, PageState.BLANK, PageState.DUPLICATE) and truth.get(page.code) == (
            page.paper_id,
            page.problem_id,
        ):
            right += 1
        elif page.state != PageState.TRAY:
            wrong += 1
    return right, wrong
