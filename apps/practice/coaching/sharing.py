"""Attempts lent as examples, and a coach's phrases."""

from django.db import transaction

from apps.accounts.models import User
from apps.contests.practice import names_its_author
from apps.practice.attempts import attempt_of
from apps.practice.helping.rules import HelpRefused
from apps.practice.models import SHORT_LENGTH, AnswerPhrase, Example
from apps.problems.models import Problem
from apps.reasoning.texts.latex import names_an_author
from apps.submissions.models import SubmissionVersion

PHRASES_AT_MOST = 30
TITLE_LENGTH = 60


@transaction.atomic
def example_make(*, version: SubmissionVersion, title: str, words: str, by: User) -> Example:
    """Show a text to students who tried the same problem, without its author. Raises `HelpRefused` without their consent.

    Handwriting can be recognised, so that a text with pages is refused; so is one that names its author.
    """
    if not attempt_of(version.submission).may_be_example:
        raise HelpRefused("The student has not lent this text as an example.")
    if version.pages.exists():
        raise HelpRefused("A text with photographed pages shows the student’s handwriting, so it cannot be an example.")
    if names_an_author(version.source) or names_its_author(version.submission.paper, version.source):
        raise HelpRefused("The text contains the student’s name, so it cannot be an example.")
    if names_its_author(version.submission.paper, f"{title} {words}"):
        raise HelpRefused("Title and comment must not contain the student’s name.")
    title = " ".join(title.split())[:TITLE_LENGTH]
    if not title:
        raise HelpRefused("Give the example a title, such as “By cases”.")
    values = {"title": title, "words": " ".join(words.split())[:SHORT_LENGTH], "by": by}
    example, _ = Example.objects.update_or_create(version=version, defaults=values)
    return example


@transaction.atomic
def example_end(*, version: SubmissionVersion) -> None:
    """No longer show a text as an example."""
    Example.objects.filter(version=version).delete()


def examples_of(problem: Problem, *, without: SubmissionVersion) -> list[Example]:
    """The examples for a problem, except the reader's own texts."""
    rows = Example.objects.filter(version__submission__problem__problem=problem, version__withdrawn_at=None)
    rows = rows.exclude(version__submission=without.submission).select_related("version__submission")
    return [one for one in rows if attempt_of(one.version.submission).may_be_example]


@transaction.atomic
def phrases_save(*, owner: User, lines: str) -> int:
    """Replace a coach's phrases, one a line; returns their number. Raises `HelpRefused` above the limits."""
    found = [" ".join(line.split()) for line in lines.splitlines() if line.strip()]
    if len(found) > PHRASES_AT_MOST:
        raise HelpRefused(f"Not saved: keep at most {PHRASES_AT_MOST} phrases.")
    if any(len(line) > SHORT_LENGTH for line in found):
        raise HelpRefused(f"Not saved: a phrase has at most {SHORT_LENGTH} characters.")
    AnswerPhrase.objects.filter(owner=owner).delete()
    AnswerPhrase.objects.bulk_create(
        AnswerPhrase(owner=owner, words=line, position=number) for number, line in enumerate(found)
    )
    return len(found)
