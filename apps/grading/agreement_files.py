"""Files of points that people put up: kept for their owner alone, read again whenever they are looked at."""

import hashlib
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import Http404

from apps.accounts.models import User
from apps.grading.agreement_models import FILENAME_LENGTH, AgreementFile
from apps.grading.agreement_sources import NO_SOURCE, Choices, Chosen, Named, Shown
from apps.grading.columns import Columns, labels_of, scale_of
from apps.grading.comparisons import Asked, Gathered, gathered_of
from apps.grading.mark_files import Row, column_names, places_read, rows_read, value_of
from apps.problems.importing.files import FileWrong

FILES_AT_MOST = 50
SHOWN_COLUMNS = 12
#: A column with more values than this, such as the paper's name, splits nothing.
VALUES_AT_MOST = 500
TEXT_SHOWN = 300
LABELS = "incorrect=0, partial=1, almost=6, correct=7"
HALVES = {"fitting": None, "whole": False, "half": True}
#: What a column may be called, by what it holds; the first that is there is proposed.
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
    """Keep a file that can be read. Raises `FileWrong`, also where a person keeps too many."""
    places_read(data)
    if AgreementFile.objects.filter(owner=user).count() >= FILES_AT_MOST:
        raise FileWrong(f"You keep {FILES_AT_MOST} files already. Throw one away first.")
    digest = hashlib.sha256(data).hexdigest()
    return AgreementFile.objects.create(owner=user, filename=filename[:FILENAME_LENGTH], data=data, digest=digest)


def agreement_file_ask(*, file: AgreementFile, asked: dict[str, Any]) -> None:
    """Keep which column is what. Raises `FileWrong` where the file cannot be read so."""
    _read(bytes(file.data), asked)
    file.asked = asked
    file.save(update_fields=["asked"])


def files_of(user: User) -> QuerySet[AgreementFile]:
    """The files that a person put up, newest first, without their bytes."""
    return AgreementFile.objects.filter(owner=user).defer("data")


def file_get_for(user: User, public_id: uuid.UUID) -> AgreementFile:
    """A file for its owner, or `Http404`."""
    found = AgreementFile.objects.filter(owner=user, public_id=public_id).first() if user.may_see_runs else None
    if found is None:
        raise Http404(NO_SOURCE)
    return found


@dataclass(frozen=True)
class FileColumns:
    """What a file offers: ways to lists of rows, the columns of the rows there, and a proposal of which is what."""

    places: Sequence[str]
    names: Sequence[str]
    proposed: dict[str, Any]
    examples: Sequence[Row]


def columns_of(file: AgreementFile, place: str | None = None) -> FileColumns:
    """The columns of the rows at a place; without one at the first that there is. Raises `FileWrong`."""
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
    """A file whose columns were said."""

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
        return "A file of yours; nobody else sees it. What its marks rest on, the file alone says."

    def choices(self) -> Choices:
        """The lists or columns that are graders, the column of marks, problems, columns to split by."""
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
        """The chosen graders, on the chosen problem or all."""

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
        """The paper's name with what the first list says of it."""
        asked, found = set(papers), {}
        for number, row in enumerate(next(iter(self.lists.values())), 1):
            name = str(value_of(row, self.columns.paper) or "").strip() if self.columns.paper else ""
            if (name or f"row {number}") in asked:
                found[name or f"row {number}"] = Shown(name or f"row {number}", details=_details(row))
        return {paper: found.get(paper, Shown(paper)) for paper in papers}


def file_source_for(user: User, public_id: uuid.UUID) -> FileSource:
    """A file of the person's own with its columns said, or `Http404`. Raises `FileWrong`."""
    file = file_get_for(user, public_id)
    if not file.asked:
        raise Http404(NO_SOURCE)
    return FileSource(file)


def _read(data: bytes, asked: dict[str, Any]) -> tuple[dict[str, list[Row]], Columns, Gathered]:
    """The rows, the meaning of their columns, and the pairs. Raises `FileWrong`; what it names is in words of the form."""
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
