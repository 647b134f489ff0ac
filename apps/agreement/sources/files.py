"""Uploaded files of points: visible to their owner only, parsed again for every page."""

import hashlib
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import Http404

from apps.accounts.models import User
from apps.agreement.comparisons import Asked, Gathered, gathered_of
from apps.agreement.models import FILENAME_LENGTH, AgreementFile
from apps.agreement.sources.columns import Columns, labels_of, scale_of
from apps.agreement.sources.sources import NO_SOURCE, Choices, Chosen, Named, Shown
from apps.files.mark_files import Row, column_names, places_read, rows_read, value_of
from apps.files.tables import FileWrong

FILES_AT_MOST = 50
SHOWN_COLUMNS = 12
#: Columns with more values than this, such as paper names, are not offered for splitting.
VALUES_AT_MOST = 500
TEXT_SHOWN = 300
LABELS = "incorrect=0, partial=1, almost=6, correct=7"
HALVES = {"fitting": None, "whole": False, "half": True}
#: Usual column names by content; the first one in the file is proposed.
GUESSES = {
    "human": ("points", "human", "human_rating", "humanpoints", "mark", "grade", "score", "pointsbyhuman"),
    "predicted": (
        "graderpoints",
        "prediction",
        "predicted",
        "grader",
        "pointspredicted",
        "averageautomaticrating",
        "modelpoints",
        "points",
    ),
    "problem": ("problemid", "problem", "problemidx"),
    "paper": ("gradingid", "paper", "paperid", "name", "id"),
    "author": ("author", "authorkind", "by"),
    "second": ("second", "secondmark"),
}
_SIGNS = re.compile(r"[^a-z]")


def agreement_file_keep(*, user: User, filename: str, data: bytes) -> AgreementFile:
    """Store a readable file. Raises `FileWrong`, also if the person has too many files."""
    places_read(data)
    if AgreementFile.objects.filter(owner=user).count() >= FILES_AT_MOST:
        raise FileWrong(f"The file was not stored: you already have {FILES_AT_MOST} files. Delete one first.")
    digest = hashlib.sha256(data).hexdigest()
    return AgreementFile.objects.create(owner=user, filename=filename[:FILENAME_LENGTH], data=data, digest=digest)


def agreement_file_ask(*, file: AgreementFile, asked: dict[str, Any]) -> None:
    """Store the meaning of the columns. Raises `FileWrong` if the file cannot be read with it."""
    _read(bytes(file.data), asked)
    file.asked = asked
    file.save(update_fields=["asked"])


def files_of(user: User) -> QuerySet[AgreementFile]:
    """A person's uploaded files, newest first, without their bytes."""
    return AgreementFile.objects.filter(owner=user).defer("data")


def file_get_for(user: User, public_id: uuid.UUID) -> AgreementFile:
    """A file for its owner. Raises `Http404`."""
    found = AgreementFile.objects.filter(owner=user, public_id=public_id).first() if user.may_see_runs else None
    if found is None:
        raise Http404(NO_SOURCE)
    return found


@dataclass(frozen=True)
class FileColumns:
    """Content of a file: paths to lists of rows, the columns at one path, proposed meanings, and example rows."""

    places: Sequence[str]
    names: Sequence[str]
    proposed: dict[str, Any]
    examples: Sequence[Row]


def columns_of(file: AgreementFile, place: str | None = None) -> FileColumns:
    """The columns of the rows at a path, by default the first. Raises `FileWrong`."""
    data = bytes(file.data)
    places = places_read(data)
    where = places[0] if place is None or place not in places else place
    rows = [row for rows in rows_read(data, where).values() for row in rows[:200]]
    names = column_names(rows)
    proposed: dict[str, Any] = {"rows": where}
    for what, guesses in GUESSES.items():
        found = next(
            (name for guess in guesses for name in names if _bare(name) == guess and name != proposed.get("human")), ""
        )
        proposed[what] = [found] if what == "predicted" and found else found
    words = {str(value_of(row, one)).casefold() for row in rows for one in proposed["predicted"] or [] if value_of(row, one)}
    if words and words <= {"incorrect", "partial", "almost", "correct"}:
        proposed["labels"] = LABELS
    return FileColumns(places, names, proposed, rows[:3])


class FileSource:
    """A file with known column meanings."""

    def __init__(self, file: AgreementFile) -> None:
        self.file = file
        self.lists, self.columns, self.gathered = _read(bytes(file.data), file.asked)

    @property
    def key(self) -> str:
        return f"file:{self.file.public_id}"

    @property
    def title(self) -> str:
        return self.file.filename

    @property
    def about(self) -> str:
        return "Your file; only you can see it. Lemmascope does not know how its marks were made."

    def choices(self) -> Choices:
        """Graders (lists or columns), the column of marks, problems, and columns to split by."""
        problems = sorted({pair.problem for pairs in self.gathered.graders.values() for pair in pairs if pair.problem})
        groups = [name for name in self.gathered.groups if self._values_of(name) <= VALUES_AT_MOST]
        return Choices(
            graders=[Named(name, name) for name in self.gathered.graders],
            humans=[Named(self.columns.human, self.columns.human)],
            problems=[Named(name, name) for name in problems],
            groups=[Named(name, name) for name in groups],
        )

    def _values_of(self, group: str) -> int:
        return len({pair.groups.get(group, "") for pair in next(iter(self.gathered.graders.values()), ())})

    def gather(self, chosen: Chosen) -> Gathered:
        """The pairs of the chosen graders, on the chosen problem or all."""

        def of(pairs: Sequence[Any]) -> tuple[Any, ...]:
            return tuple(pair for pair in pairs if chosen.problem in ("", pair.problem))

        names = [name for name in self.gathered.graders if not chosen.graders or name in chosen.graders]
        return self.gathered.model_copy(
            update={
                "graders": {name: of(self.gathered.graders[name]) for name in names},
                "runs": {name: runs for name, runs in self.gathered.runs.items() if name in names},
                "people": of(self.gathered.people),
                "groups": tuple(name for name in self.gathered.groups if name in chosen.groups),
            }
        )

    def shown(self, papers: Sequence[str]) -> dict[str, Shown]:
        """Paper names with the values of their row in the first list."""
        asked, found = set(papers), {}
        for number, row in enumerate(next(iter(self.lists.values())), 1):
            name = str(value_of(row, self.columns.paper) or "").strip() if self.columns.paper else ""
            if (name or f"row {number}") in asked:
                found[name or f"row {number}"] = Shown(name or f"row {number}", details=_details(row))
        return {paper: found.get(paper, Shown(paper)) for paper in papers}


def file_source_for(user: User, public_id: uuid.UUID) -> FileSource:
    """A person's own file with known columns. Raises `Http404` and `FileWrong`."""
    file = file_get_for(user, public_id)
    if not file.asked:
        raise Http404(NO_SOURCE)
    return FileSource(file)


def _read(data: bytes, asked: dict[str, Any]) -> tuple[dict[str, list[Row]], Columns, Gathered]:
    """The rows, the meaning of their columns, and the pairs. Raises `FileWrong` in the terms of the form."""
    try:
        columns = Columns(
            **{name: asked[name] for name in ("human", "problem", "paper", "author", "contaminated")},
            scale=scale_of(asked["scale"]),
            groups=tuple(dict.fromkeys([*filter(None, [asked["problem"]]), *asked["groups"]])),
            labels=labels_of(asked["labels"]),
            times=asked["times"],
        )
    except ValueError as error:
        raise FileWrong(str(error)) from error
    question = Asked(
        predicted=tuple(asked["predicted"]), runs=asked["runs"], second=asked["second"], halves=HALVES[asked["points"]]
    )
    lists = rows_read(data, asked["rows"])
    return lists, columns, gathered_of(lists, columns, question)


def _details(row: Row) -> list[tuple[str, str]]:
    texts = [(name, " ".join(str(value).split())) for name, value in row.items() if not isinstance(value, dict | list)]
    return [(name, text[:TEXT_SHOWN] + ("…" if len(text) > TEXT_SHOWN else "")) for name, text in texts[:SHOWN_COLUMNS]]


def _bare(name: str) -> str:
    return _SIGNS.sub("", name.rpartition(".")[2].casefold())
