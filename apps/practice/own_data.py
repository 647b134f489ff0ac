"""A person's practice as a file to take away, and its erasure. Texts of sheets belong to their sheet and are exported only."""

import io
import json
import zipfile
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.contests.models import ContestKind
from apps.contests.practice import practice_of
from apps.practice.models import Attempt, Disagreement, HintTaken, Question, Remark, Settlement
from apps.practice.path import texts_of
from apps.submissions.models import Scan, Submission
from apps.ui.zones import stamped


def practice_zip(user: User) -> io.BytesIO:
    """A ZIP with everything that the user wrote and was answered: `practice.json`, and the pages as JPEG."""
    file = io.BytesIO()
    shown = ("problem__problem", "problem__version", "paper__contest")
    texts = list(texts_of(user).select_related(*shown).order_by("pk"))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("practice.json", json.dumps([_text(one) for one in texts], indent=1, ensure_ascii=False))
        for scan in Scan.objects.filter(submission__in=texts).iterator(chunk_size=20):
            archive.writestr(f"pages/{scan.public_id}.jpg", bytes(scan.jpeg), zipfile.ZIP_STORED)
    file.seek(0)
    return file


def problems_of(user: User) -> list[str]:
    """The public ids of the problems of the user's practice, by which the browser finds its own copies of their drafts."""
    contest = practice_of(user)
    return [str(row.public_id) for row in contest.problems.all()] if contest is not None else []


@transaction.atomic
def practice_erase(*, user: User) -> bool:
    """Delete the user's practice for ever: drafts, versions, pages, questions, remarks. Returns whether there was any."""
    contest = practice_of(user)
    if contest is None:
        return False
    Submission.objects.filter(paper__contest=contest).delete()
    contest.delete()
    return True


def _text(text: Submission) -> dict[str, Any]:
    contest = text.paper.contest
    return {
        "problem": text.problem.problem.title,
        "statement": text.problem.version.statement,
        "in": "practice" if contest.kind == ContestKind.PRACTICE else contest.title,
        "draft": text.draft,
        "versions": [
            {
                "number": version.number,
                "handed_in": stamped(version.handed_in_at, contest.zone),
                "withdrawn": stamped(version.withdrawn_at, contest.zone) if version.withdrawn_at else None,
                "format": version.format,
                "text": version.raw,
                "pages": [f"pages/{page.scan.public_id}.jpg" for page in version.pages.select_related("scan")],
            }
            for version in text.versions.order_by("number")
        ],
        "questions": [
            {"version": one.version.number, "step": one.step, "words": one.words, "outcome": one.outcome, "answer": one.answer}
            for one in Question.objects.filter(version__submission=text).select_related("version")
        ],
        "remarks": [
            {"version": one.version.number, "step": one.step, "by": one.origin, "kind": one.kind, "words": one.words}
            for one in Remark.objects.filter(version__submission=text, stage=3).select_related("version")
        ],
        "disagreements": list(
            Disagreement.objects.filter(remark__version__submission=text).values("remark__step", "words", "is_upheld", "reply")
        ),
        "claims": list(Settlement.objects.filter(version__submission=text).values("remark__step", "version__number", "holds")),
        "decisions": list(Attempt.objects.filter(submission=text).values("times_aside", "may_be_example", "shown")),
        "hints": list(HintTaken.objects.filter(submission=text).values("level", "step", "explanation", "text")),
    }
