"""Read what the page of a table sends: meanings of columns, and choices."""

from collections.abc import Mapping, Sequence

from django.http import QueryDict

from apps.contests.models import NAME_LENGTH
from apps.files.values import RowWrong, points_of
from apps.tables.choices import Choices, Unknown
from apps.tables.columns import OF_PROBLEM, Column, Role, decimal, is_unclear
from apps.tables.reading import MARKER_LENGTH

_WHO = "who_"
_TOKEN_LENGTH = 16
_ID_LENGTH = 36


def columns_sent(sent: QueryDict, columns: Sequence[Column]) -> list[Column]:
    """The meanings in a form; a column that the form does not have keeps its meaning."""
    return [_column(sent, index, column) for index, column in enumerate(columns)]


def people_sent(sent: QueryDict) -> dict[str, str]:
    """The accounts in a form, by token of the person."""
    return {
        name.removeprefix(_WHO): str(value)
        for name, value in sent.items()
        if name.startswith(_WHO) and len(name) == len(_WHO) + _TOKEN_LENGTH and len(str(value)) <= _ID_LENGTH
    }


def choices_sent(sent: QueryDict, before: Choices, shown: Mapping[str, str]) -> Choices:
    """The choices in a form; people whom the form does not have keep theirs.

    `shown`: the accounts that the page proposed. One that comes back unchanged is no choice.
    """
    people = {token: value for token, value in people_sent(sent).items() if shown.get(token) != value}
    unknown = sent.get("unknown", before.unknown)
    return Choices(
        unknown=unknown if unknown in Unknown.values else Unknown.NAME,
        out_of=_maximum(sent.get("out_of", before.out_of)),
        marker=" ".join(sent.get("marker", before.marker).split())[:MARKER_LENGTH],
        people={**before.people, **people},
    )


def _column(sent: QueryDict, index: int, before: Column) -> Column:
    role = sent.get(f"role_{index}", before.role)
    role = role if role in Role.values else Role.IGNORE
    if role == Role.POINTS:
        return Column(role, out_of=_maximum(sent.get(f"most_{index}", before.out_of)))
    if role not in OF_PROBLEM:
        return Column(role)
    label = " ".join(sent.get(f"label_{index}", before.label).split())[:NAME_LENGTH]
    return Column(role, label, _maximum(sent.get(f"most_{index}", before.out_of)))


def _maximum(word: str) -> str:
    """A maximum such as `7` or `7,5`, also an unclear one, which is listed with each row; empty for anything else."""
    word = decimal(word.strip())
    if is_unclear(word):
        return word
    try:
        return word if word and points_of("0", word) else ""
    except RowWrong:
        return ""
