"""Print answer sheets: a cover sheet with the name for every student, and sheets whose code says where a page belongs.

Only cover sheets have a name. An answer sheet has a code and the label of its problem, so that a page of it can be shown to
markers after the strip with the code was painted white.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import zxingcpp
from django.db import transaction

from apps.contests.models import Contest, ContestProblem, Identity
from apps.scanning.codes import PAGES_AT_MOST, PageCode
from apps.scanning.models import SheetCode
from apps.ui.typeset.press import pdf_of_template

TEMPLATE = Path(__file__).with_name("sheets.typ")
SHEETS_AT_MOST = 4_000


class SheetsRefused(Exception):
    """No sheets can be printed; the message says why."""


@transaction.atomic
def tokens_of(contest: Contest, identities: Sequence[Identity]) -> dict[int, str]:
    """The token of each paper by its key, drawn at the first call."""
    papers = {one.paper_id for one in identities}
    known = set(SheetCode.objects.filter(paper__in=papers).values_list("paper", flat=True))
    SheetCode.objects.bulk_create([SheetCode(paper_id=paper) for paper in sorted(papers - known)], ignore_conflicts=True)
    return dict(SheetCode.objects.filter(paper__in=papers).values_list("paper", "token"))


def sheets_pdf(contest: Contest, *, pages: int) -> bytes:
    """The PDF for the whole roster. `pages`: answer sheets for each problem; 0 for one cover sheet for each problem instead.

    Raises `SheetsRefused`, `PdfFailed` and `PdfBusy`.
    """
    if not 0 <= pages <= PAGES_AT_MOST:
        raise SheetsRefused(f"Choose between 0 and {PAGES_AT_MOST} sheets for each problem.")
    identities = list(contest.identities.order_by("school", "name", "pk"))
    problems = list(contest.problems.all())
    if not identities or not problems:
        raise SheetsRefused("Add students and problems first.")
    count = len(identities) * (1 + len(problems) * max(pages, 1))
    if count > SHEETS_AT_MOST:
        raise SheetsRefused(
            f"These are {count:,} sheets; one file has at most {SHEETS_AT_MOST:,}. Print fewer for each problem."
        )
    tokens = tokens_of(contest, identities)
    sheets = [one for identity in identities for one in _sheets(identity, tokens[identity.paper_id], problems, pages)]
    return pdf_of_template(TEMPLATE, {"contest": contest.title, "sheets": sheets})


def _sheets(identity: Identity, token: str, problems: Sequence[ContestProblem], pages: int) -> Iterator[dict[str, Any]]:
    below = "Keep this sheet on top of your answers." if pages else "Put this sheet before the answers."
    yield _sheet(PageCode(token, 0, 0), "Cover sheet", "Do not write on this sheet.", identity, below)
    for problem in problems:
        if not pages:
            words = f"Put this sheet before the answers to problem {problem.label}."
            yield _sheet(
                PageCode(token, problem.pk, 0), f"Problem {problem.label}", "Do not write on this sheet.", identity, words
            )
        for page in range(1, pages + 1):
            head, note = f"Problem {problem.label}, page {page}", "Write below the line, on this side only. Write no name."
            yield _sheet(PageCode(token, problem.pk, page), head, note)


def _sheet(code: PageCode, head: str, note: str, identity: Identity | None = None, below: str = "") -> dict[str, Any]:
    named = {"name": identity.name, "school": identity.school} if identity is not None else {"name": "", "school": ""}
    return {
        "head": head,
        "note": note,
        "code": rows_of(code.text),
        "is_cover": code.is_cover,
        "below": below,
        **named,
    }


def rows_of(text: str) -> list[str]:
    """The QR code of a text as rows of 0 and 1, without a margin."""
    found = zxingcpp.create_barcode(text, zxingcpp.BarcodeFormat.QRCode, ec_level="Q")
    image = found.to_image(scale=1, add_quiet_zones=False, add_hrt=False)
    return ["".join("0" if value else "1" for value in row) for row in np.asarray(image)]
