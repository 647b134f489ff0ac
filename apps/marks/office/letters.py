"""Certificates and letters: a text with placeholders, checked when it is saved, filled for each student, set with Typst.

Names, schools and texts are values that the layout (`letters.typ`) reads and never executes, and they are filled in one pass: a
name with braces is no placeholder. A line whose placeholders are all empty is left out, such as "of {school}" without a school.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from apps.accounts.models import User
from apps.contests.models import Contest, Identity
from apps.marks.models import PrintedKind
from apps.marks.models.printed import HEADING_LENGTH, TEXT_LENGTH
from apps.marks.office.awards import CutOffs, award_words
from apps.marks.office.cutoffs import cutoffs_fixed
from apps.marks.office.names import NOT_SIGNED, Names, names_of, names_refusal, sign_off
from apps.marks.office.office import ResultList, ResultRow
from apps.reasoning.marking.schemes.scheme import points_text

TEMPLATE = Path(__file__).with_name("letters.typ")
SHEETS_AT_MOST = 2_000
#: Placeholders, and what replaces them.
PLACEHOLDERS = {
    "name": "the student's name",
    "school": "the school; may be empty",
    "contest": "the title of the contest",
    "award": "the award, such as Gold medal; empty for none",
    "total": "the sum of the points",
    "most": "the most points possible",
    "rank": "the rank; equal totals share one",
    "papers": "the number of papers with a rank",
    "date": "the day of the sign-off, in the contest's time zone",
}
_FIELD = re.compile(r"\{([a-z]+)\}")
USUAL = {
    PrintedKind.CERTIFICATE: ("Certificate", "{name}\nof {school}\n\ntook part in {contest}\n\n{award}\n\n{date}"),
    PrintedKind.LETTER: (
        "{contest}",
        "Dear {name},\n\nthank you for taking part in {contest}. Your total is {total} out of {most}, which is rank {rank} of "
        "{papers}.\n\nYour award: {award}\n\nThe table below has your points for each problem.\n\n{date}",
    ),
}
NOT_OPEN = "Open the identities on the page of results first. Certificates and letters have names."
NOT_FIXED = "Fix the cut-offs of the awards first. Certificates and letters may have an award."


class TextRefused(Exception):
    """The text cannot be used; the message says what to change."""


class TextStale(TextRefused):
    """Another organiser saved a text meanwhile; the message has it, `row_version` is its version."""

    def __init__(self, words: str, row_version: int) -> None:
        super().__init__(words)
        self.row_version = row_version


@dataclass(frozen=True)
class Printable:
    """What is needed for printing: the list, its names, and the cut-offs in force. `date`: of the sign-off."""

    contest: Contest
    found: ResultList
    names: Names
    cutoffs: CutOffs
    date: str

    @property
    def rows(self) -> list[ResultRow]:
        """The papers with a rank, by rank."""
        return [row for row in self.found.rows if row.rank is not None]

    def identity(self, row: ResultRow) -> Identity:
        return self.names.by_paper[row.paper.pk]

    def award(self, row: ResultRow) -> str:
        return award_words(self.cutoffs, row)


def printable(user: User, contest: Contest, found: ResultList) -> tuple[Printable | None, str]:
    """What this organiser may print, or None with the reason."""
    if refusal := names_refusal(user, contest, found):
        return None, refusal
    signed, fixed, names = sign_off(contest, found), cutoffs_fixed(contest), names_of(user, contest, found)
    if signed is None:
        return None, NOT_SIGNED
    if names is None:
        return None, NOT_OPEN
    if fixed is None:
        return None, NOT_FIXED
    day = signed.at.astimezone(contest.zone)
    return Printable(contest, found, names, fixed.cutoffs, f"{day.day} {day:%B %Y}"), ""


def text_check(heading: str, text: str) -> None:
    """Raise `TextRefused` for unknown placeholders, other braces, a text without a name, and one that is too long."""
    if len(heading) > HEADING_LENGTH or len(text) > TEXT_LENGTH:
        raise TextRefused(f"The heading has at most {HEADING_LENGTH} characters, the text {TEXT_LENGTH:,}.")
    unknown = sorted({one for one in _FIELD.findall(heading + text) if one not in PLACEHOLDERS})
    if unknown:
        given = ", ".join(f"{{{one}}}" for one in unknown)
        raise TextRefused(f"Unknown placeholder: {given}. Use {', '.join(f'{{{one}}}' for one in PLACEHOLDERS)}.")
    if re.search(r"[{}]", _FIELD.sub("", heading + text)):
        raise TextRefused("A brace is left over. A placeholder is a word in braces, such as {name}.")
    if "name" not in _FIELD.findall(text):
        raise TextRefused("The text has no {name}, so all students would get the same sheet.")


def sheets_value(kind: str, heading: str, text: str, ready: Printable, rows: list[ResultRow]) -> dict[str, Any]:
    """The values for `letters.typ`. Raises `TextRefused` for a wrong text, and for too many or no sheets."""
    text_check(heading, text)
    if not rows:
        raise TextRefused("There is no sheet to print for this choice.")
    if len(rows) > SHEETS_AT_MOST:
        raise TextRefused(f"These are {len(rows):,} sheets; one file has at most {SHEETS_AT_MOST:,}. Print them one by one.")
    most = _most(ready.found)
    sheets = [_sheet(heading, text, ready, row, most) for row in rows]
    return {"kind": kind, "contest": ready.contest.title, "sheets": sheets}


def filled(text: str, values: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The lines of a text, filled. `is_large`: nothing but a name or an award; `is_gap`: an empty line."""
    for line in text.splitlines():
        names = _FIELD.findall(line)
        if names and not any(values[name] for name in names):
            continue
        words = _FIELD.sub(lambda found: values[found[1]], line).strip()
        is_large = line.strip() in ("{name}", "{award}")
        yield {"words": words, "is_large": is_large, "is_gap": not words}


def _sheet(heading: str, text: str, ready: Printable, row: ResultRow, most: Decimal) -> dict[str, Any]:
    identity = ready.identity(row)
    values = {
        "name": identity.name,
        "school": identity.school,
        "contest": ready.contest.title,
        "award": ready.award(row),
        "total": row.total_words,
        "most": points_text(most),
        "rank": str(row.rank),
        "papers": str(len(ready.rows)),
        "date": ready.date,
    }
    points = [
        [problem.label, "–" if cell.points is None else points_text(cell.points)]
        for problem, cell in zip(ready.found.problems, row.cells, strict=True)
    ]
    head = " ".join(line["words"] for line in filled(heading, values))
    return {"heading": head, "lines": list(filled(text, values)), "points": points, "total": values["total"]}


def _most(found: ResultList) -> Decimal:
    """The most points of a whole paper, by the schemes of the scripts that were marked."""
    return sum((found.scales.get(problem.pk, Decimal(7)) for problem in found.problems), Decimal(0))
