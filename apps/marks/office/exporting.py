"""Settled scripts as files: a table for spreadsheets, and complete data for research.

Papers appear by number only: no name, school, account or time of submission. Each file numbers the markers in an order drawn
from its own salt, so that two files cannot be matched.
"""

import json
import secrets
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

from apps.accounts.models import User
from apps.contests.models import Contest
from apps.files.csv_files import csv_lines
from apps.marks.coordination.comparing import COUNTED
from apps.marks.models import FinalGrade, Mark, MarkState
from apps.marks.office.office import grades_settled
from apps.reasoning.marking.schemes.scheme import points_text
from apps.reasoning.marking.sheets.claims import claim_line
from apps.reasoning.marking.sheets.sheet import MarkSheet
from apps.schemes.models import SchemeVersion
from apps.submissions.models import SubmissionVersion

FORMAT = "lemmascope.marking/1"
COLUMNS = ("paper", "problem", "points", "claim", "derivation", "comment", "scheme", "digest", "version", "newest")
_WITH_SCHEME = ("scheme_version__scheme",)


def scripts_csv(contest: Contest) -> str:
    """One line per settled script. Cells that a spreadsheet would evaluate start with an apostrophe."""
    newest = newest_of(contest)
    return "".join(csv_lines(COLUMNS, (_line(grade, newest) for grade in grades_settled(contest))))


def newest_of(contest: Contest) -> dict[int, int]:
    """The number of the newest version, by submission; a grade may belong to an older one."""
    numbers = SubmissionVersion.objects.filter(submission__paper__contest=contest).order_by("number")
    return dict(numbers.values_list("submission", "number"))


def claim_of(sheet: MarkSheet, version: SchemeVersion | None) -> str:
    """The claim line of a sheet; empty if the points were typed without a scheme."""
    return claim_line(version.content, sheet.ticks, is_mixed=sheet.is_mixed) if version else ""


def comment_of(sheet: MarkSheet) -> str:
    """The comments to the student about the whole script."""
    return "\n\n".join(one.words for one in sheet.comments if one.audience == "student" and not one.step)


def research_json(contest: Contest) -> Iterator[str]:
    """JSON lines: a header, each scheme version that was used, then one script per line with its marks and spans."""
    salt = secrets.token_bytes(16)
    grades, newest = list(grades_settled(contest)), newest_of(contest)
    yield _json({"format": FORMAT, "scripts": len(grades), "point_step": contest.point_step, "anonymous": True})
    for version in _versions(grades):
        yield _json({"scheme": _scheme_name(version), "meaning": version.meaning_hash, "body": version.body})
    marks: dict[int, list[Mark]] = {}
    for mark in _marks(contest):
        marks.setdefault(mark.task.case_id, []).append(mark)
    older = {one.pk: one for one in FinalGrade.objects.filter(case__problem__contest=contest).select_related(*_WITH_SCHEME)}
    for grade in grades:
        script = _script(grade, marks.get(grade.case_id, []), older, salt)
        script["text"] |= {"version": grade.case.version.number, "newest": newest[grade.case.version.submission_id]}
        yield _json(script)


def _line(grade: FinalGrade, newest: dict[int, int]) -> dict[str, str]:
    sheet = MarkSheet.model_validate(grade.sheet)
    return {
        "paper": grade.case.version.submission.paper.number,
        "problem": grade.case.problem.label,
        "points": points_text(grade.points),
        "claim": claim_of(sheet, grade.scheme_version),
        "derivation": grade.derivation,
        "comment": comment_of(sheet),
        "scheme": _scheme_name(grade.scheme_version),
        "digest": grade.case.version.digest,
        "version": str(grade.case.version.number),
        "newest": str(newest[grade.case.version.submission_id]),
    }


def _script(grade: FinalGrade, marks: list[Mark], older: dict[int, FinalGrade], salt: bytes) -> dict[str, Any]:
    version = grade.case.version
    return {
        "paper": version.submission.paper.number,
        "problem": {"label": grade.case.problem.label, "slug": grade.case.problem.problem.slug},
        "text": {
            "source": version.source,
            "digest": version.digest,
            "segmenter": version.segmenter,
            "steps": _steps(version),
            "pages": _pages(version),
        },
        "grade": {
            "points": points_text(grade.points),
            "basis": "mark" if grade.mark_id else "coordination",
            "scheme": _scheme_name(grade.scheme_version),
            "sheet": grade.sheet,
            "derivation": grade.derivation,
            "superseded": _chain(grade, older),
        },
        "marks": [_mark(mark, salt) for mark in marks],
    }


def _mark(mark: Mark, salt: bytes) -> dict[str, Any]:
    """A mark as sealed and as it is now. Anchors hold start, end and quote, in code points of the source."""
    return {
        "marker": _marker(mark.marker, salt),
        "slot": mark.task.slot,
        "state": mark.state,
        "assisted": mark.is_assisted,
        "scheme": _scheme_name(mark.scheme_version),
        "sealed_points": None if mark.sealed_points is None else points_text(mark.sealed_points),
        "points": None if mark.points is None else points_text(mark.points),
        "sealed_sheet": mark.sealed_sheet,
        "sheet": mark.sheet,
        "change_reason": mark.change_reason,
        "order": mark.order_index,
        "active_seconds": round(mark.active_seconds, 1),
    }


def _pages(version: SubmissionVersion) -> list[dict[str, int]]:
    """Scanned pages; `step` is the number by which remarks name them, `width` and `height` are in pixels."""
    rows = version.pages.select_related("scan").defer("scan__jpeg")
    return [{"number": one.number, "step": one.step, "width": one.scan.width, "height": one.scan.height} for one in rows]


def _steps(version: SubmissionVersion) -> list[dict[str, Any]]:
    return [{"number": one.number, "start": one.start, "end": one.end, "kind": one.kind} for one in version.steps.all()]


def _chain(grade: FinalGrade, older: dict[int, FinalGrade]) -> list[dict[str, str]]:
    """The earlier grades, newest first, with the reason why each was superseded."""
    found, here = [], grade
    while here.supersedes_id is not None:
        before = older[here.supersedes_id]
        found.append(
            {"points": points_text(before.points), "scheme": _scheme_name(before.scheme_version), "because": here.reason}
        )
        here = before
    return found


def _marks(contest: Contest) -> Iterable[Mark]:
    rows = Mark.objects.filter(task__case__problem__contest=contest, task__slot__in=COUNTED, sealed_at__isnull=False)
    return rows.exclude(state=MarkState.VOID).select_related("marker", "task", "scheme_version__scheme").order_by("pk")


def _versions(grades: list[FinalGrade]) -> list[SchemeVersion]:
    found = {grade.scheme_version_id: grade.scheme_version for grade in grades if grade.scheme_version}
    return list(found.values())


def _scheme_name(version: SchemeVersion | None) -> str:
    return f"{version.scheme.public_id}/{version.number}" if version else ""


def _marker(user: User, salt: bytes) -> str:
    return blake2b(str(user.public_id).encode(), key=salt, digest_size=4).hexdigest()


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
