"""Read and save the texts of a contest's certificates and letters."""

from dataclasses import dataclass

from django.db import transaction

from apps.accounts.models import User
from apps.contests.models import Contest
from apps.marks.audit import audit
from apps.marks.models import PrintedKind, PrintedText
from apps.marks.office.letters import USUAL, TextStale, text_check

STALE = "Another organiser changed this text meanwhile, so yours was not saved. It is kept below; their text is: {theirs}"


@dataclass(frozen=True)
class Text:
    """The text in force. `row_version`: 0 for the usual text."""

    heading: str
    text: str
    row_version: int = 0


def text_of(contest: Contest, kind: str) -> Text:
    """The changed text of a contest, or the usual one."""
    row = contest.printed_texts.filter(kind=kind).first()
    return Text(row.heading, row.text, row.row_version) if row else Text(*USUAL[PrintedKind(kind)])


@transaction.atomic
def text_save(*, contest: Contest, kind: str, heading: str, text: str, based_on: int, by: User) -> PrintedText:
    """Save a text, on record. Raises `TextRefused` for a wrong text, and `TextStale` if another one was saved meanwhile."""
    heading, text = " ".join(heading.split()), "\n".join(line.rstrip() for line in text.strip().splitlines())
    text_check(heading, text)
    given = {"heading": heading, "text": text, "by": by}
    row, is_new = PrintedText.objects.select_for_update().get_or_create(contest=contest, kind=kind, defaults=given)
    if row.row_version != based_on and not (is_new and based_on == 0):
        raise TextStale(STALE.format(theirs=row.text), row.row_version)
    if not is_new:
        row.heading, row.text, row.by, row.row_version = heading, text, by, row.row_version + 1
        row.save()
    audit("letters.text", actor=by, contest=contest, kind=kind)
    return row
