"""Import a set of graded scripts: read a file, then store its scripts and missing problems."""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from apps.accounts.models import User
from apps.files.archives import archive_read, is_archive
from apps.files.plans import Skipped
from apps.files.tables import FileWrong, table_read
from apps.files.values import RowWrong
from apps.graded_sets.folders import corpus_drafts, folder_drafts
from apps.graded_sets.models import GradedScript, GradedSet, HumanScore
from apps.graded_sets.shapes import ProblemDraftOfSet, ScriptDraft, SetDraft, origin_of, table_drafts
from apps.problems.access import solved_visible_to
from apps.problems.drafts import LEVEL_LENGTH, SOURCE_LENGTH, ProblemDraft, SolutionDraft
from apps.problems.importing.values import draft_check, fingerprint, topic_of
from apps.problems.models import Problem, ProblemVersion, Topic
from apps.problems.services import problems_import
from apps.reasoning.reading.decoded import keepable

LEFT_OUT_KEPT = 500
_BATCH = 200
_ENDINGS = {".md", ".markdown", ".tex", ".txt", ".json"}
_TABLES = {".csv", ".tsv", ".jsonl"}


@dataclass(frozen=True)
class Upload:
    """The bytes of one uploaded file, or of the files of a folder by path."""

    name: str
    files: dict[PurePosixPath, bytes]

    @property
    def digest(self) -> str:
        """SHA-256 of names and contents, in hex; independent of the parent folders of the files."""
        digest = hashlib.sha256()
        above = _shared([path.parts[:-1] for path in self.files])
        for path, data in sorted(self.files.items()):
            digest.update("/".join(path.parts[above:]).encode() if len(self.files) > 1 else b"")
            digest.update(hashlib.sha256(data).digest())
        return digest.hexdigest()


def _shared(folders: list[tuple[str, ...]]) -> int:
    """The number of leading folders that all paths share."""
    levels = zip(*folders, strict=False)
    return sum(1 for _ in takewhile(lambda level: len(set(level)) == 1, levels))


def upload_of(path: Path) -> Upload:
    """Read a file, or all text files below a folder. Raises `FileWrong`."""
    try:
        if path.is_dir():
            files = sorted(one for one in path.rglob("*") if one.is_file())
            found = [one for one in files if one.suffix.lower() in _ENDINGS]
            tables = [str(one.relative_to(path)) for one in files if one.suffix.lower() in _TABLES]
            if tables and not found:
                raise FileWrong(
                    f"Each table in the folder is a separate set. Import them one by one: {', '.join(tables[:20])}."
                )
            return Upload(path.name, {PurePosixPath(one.relative_to(path)): one.read_bytes() for one in found})
        return Upload(path.name, {PurePosixPath(path.name): path.read_bytes()})
    except OSError as error:
        raise FileWrong(f"Could not read {path}: {error.strerror}.") from error


def set_read(upload: Upload, out_of: Decimal | None = None) -> SetDraft:
    """Parse an upload without storing anything. `out_of`: maximum points of table rows without a maximum.

    Raises `FileWrong` if there is nothing to import.
    """
    if len(upload.files) == 1:
        ((path, data),) = upload.files.items()
        if is_archive(data):
            texts, left_out = archive_read(data)
            return _read_many({name: text.encode() for name, text in texts.items()}, left_out)
        if path.suffix.lower() == ".json":
            return corpus_drafts({path.name: _json(path, data)})
        return table_drafts(table_read(data), out_of)
    if not upload.files:
        raise FileWrong("The folder contains no text file.")
    return _read_many(upload.files, [])


def _read_many(files: dict[PurePosixPath, bytes], left_out: list[tuple[str, str]]) -> SetDraft:
    documents = {str(path): data for path, data in files.items() if path.suffix.lower() == ".json"}
    if documents:
        return corpus_drafts({name: _json(PurePosixPath(name), data) for name, data in documents.items()})
    texts = {}
    for path, data in files.items():
        try:
            texts[path] = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            left_out.append((str(path), "The file is not UTF-8 text."))
    return folder_drafts(texts, left_out)


def _json(path: PurePosixPath, data: bytes) -> dict[str, Any]:
    try:
        found = keepable(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise FileWrong(f"{path} is not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise FileWrong(f"{path} is not a JSON object. The Open Proof Corpus has one object per problem.")
    return found


def set_known(upload: Upload) -> GradedSet | None:
    """The set already imported from this file, if any."""
    return GradedSet.objects.filter(digest=upload.digest).first()


@transaction.atomic
def set_import(*, upload: Upload, draft: SetDraft, title: str, by: User | None) -> GradedSet:
    """Import a set, or return the one already imported from this file.

    Existing problems are reused if `by` may read their solutions (None may read all), as runs of graders show references.
    """
    known = set_known(upload)
    if known is not None:
        return known
    problems = _Problems(draft.layout, Problem.objects.all() if by is None else solved_visible_to(by))
    good = _with_problems(draft, problems, by)
    graded_set = GradedSet.objects.create(
        title=title[:120],
        shape=draft.layout,
        credit=draft.credit[:200],
        licence=draft.licence[:80],
        digest=upload.digest,
        left_out=[[row.where, row.reason] for row in draft.wrong[:LEFT_OUT_KEPT]],
        imported_by=by,
    )
    scripts = [
        _script(graded_set, number, script, problems.version_of(script.problem)) for number, script in enumerate(good, 1)
    ]
    GradedScript.objects.bulk_create(scripts, batch_size=_BATCH)
    HumanScore.objects.bulk_create(
        [
            HumanScore(script=row, rater=score.rater, points=score.points, out_of=score.out_of, words=score.words)
            for row, script in zip(scripts, good, strict=True)
            for score in script.scores
        ],
        batch_size=_BATCH,
    )
    return graded_set


def _with_problems(draft: SetDraft, problems: "_Problems", by: User | None) -> list[ScriptDraft]:
    """The scripts whose problems exist or can be stored; stores the new problems as unlisted."""
    good = []
    for row in draft.good:
        try:
            problems.want(row.draft.problem)
        except RowWrong as wrong:
            draft.wrong.append(Skipped(row.where, f"Its problem: {wrong}"))
        else:
            good.append(row.draft)
    problems.add(by)
    return good


def _script(graded_set: GradedSet, position: int, draft: ScriptDraft, problem: ProblemVersion | None) -> GradedScript:
    return GradedScript(
        graded_set=graded_set,
        position=position,
        name=draft.name,
        problem=problem,
        problem_name=draft.problem.name,
        author=draft.author,
        author_kind=draft.kind,
        text=draft.text,
        digest=hashlib.sha256(draft.text.encode()).hexdigest(),
        issues=[vars(issue) for issue in draft.issues],
    )


class _Problems:
    """The problems of a set, found in `known` by statement, else by a name that is unique there."""

    def __init__(self, layout: str, known: QuerySet[Problem]) -> None:
        self.origin = origin_of(layout)
        rows = ProblemVersion.objects.filter(problem__in=known).order_by("number").values_list("pk", "statement", "problem")
        newest = {problem: (pk, statement) for pk, statement, problem in rows.iterator()}
        self.by_statement = {fingerprint(statement): pk for pk, statement in newest.values()}
        named = list(known.exclude(external_id="").values_list("external_id", "pk"))
        counts = Counter(name for name, _ in named)
        self.by_name = {name: newest[pk][0] for name, pk in named if counts[name] == 1 and pk in newest}
        self.taken = set(Problem.objects.filter(origin=self.origin).values_list("external_id", flat=True))
        self.new: dict[bytes, ProblemDraft] = {}
        self.versions: dict[int, ProblemVersion] = {}

    def want(self, given: ProblemDraftOfSet) -> None:
        """Plan to add a missing problem. Raises `RowWrong` if the library cannot store it."""
        key = fingerprint(given.statement)
        if not given.statement or key in self.by_statement or key in self.new:
            return
        external_id = "" if given.name in self.taken else given.name
        draft = ProblemDraft(
            title=given.name,
            topic=_topic(given.topic),
            statement=given.statement,
            source=" ".join(given.source.split())[:SOURCE_LENGTH],
            level=" ".join(given.level.split())[:LEVEL_LENGTH],
            scheme_text=given.guidelines,
            solutions=tuple(SolutionDraft(text) for text in given.references),
            origin=self.origin,
            external_id=external_id,
        )
        draft_check(draft)
        self.taken.add(given.name)
        self.new[key] = draft

    def add(self, by: User | None) -> None:
        """Add the missing problems as unlisted."""
        for key, problem in zip(self.new, problems_import(drafts=list(self.new.values()), by=by, is_listed=False), strict=True):
            self.by_statement[key] = problem.current.pk

    def version_of(self, given: ProblemDraftOfSet) -> ProblemVersion | None:
        """The problem's version in the library; None if neither statement nor name matches."""
        pk = self.by_statement.get(fingerprint(given.statement)) if given.statement else self.by_name.get(given.name)
        if pk is None:
            return None
        if pk not in self.versions:
            self.versions[pk] = ProblemVersion.objects.get(pk=pk)
        return self.versions[pk]


def _topic(word: str) -> str:
    try:
        return topic_of({"topic": word}, "topic")
    except RowWrong:
        return Topic.OTHER
