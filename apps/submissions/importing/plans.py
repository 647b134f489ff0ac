"""Preview and run an import: each text is imported or skipped with a reason."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from django.db import transaction

from apps.accounts.models import User
from apps.contests.models import AuthorKind, Contest, ContestProblem, ContestState, Identity, Paper
from apps.contests.record_keepers import event_publish
from apps.contests.services import PROBLEMS_AT_MOST, ContestRefused, author_add, problem_add
from apps.contests.windows import adding_refusal
from apps.files.archives import archive_read, is_archive
from apps.files.folders import last_part
from apps.files.plans import Plan, Skipped, Source, table_sources
from apps.files.tables import table_read
from apps.files.values import RowWrong
from apps.problems.access import problem_visible_to
from apps.problems.models import Problem
from apps.submissions import services
from apps.submissions.importing.shapes import SubmissionDraft, draft_read, folder_sources, shape_of
from apps.submissions.models import ImportFile, Origin, Step, Submission, SubmissionVersion
from apps.submissions.row_counts import rows_recount

_NUMBER = re.compile(r"P0*(\d{1,3})", re.IGNORECASE)


@dataclass(kw_only=True)
class ImportPlan(Plan[SubmissionDraft]):
    """The preview of an import; `problem` of a draft is its label. `added`: problems of the library to add to the contest."""

    shape: str
    added: list[Problem] = field(default_factory=list)

    @property
    def authors(self) -> int:
        """Number of authors of the texts to import."""
        return len({row.draft.author for row in self.good})


class _Problems:
    """Problems of a contest by the names that files use."""

    def __init__(self, contest: Contest, *, adds_for: User | None) -> None:
        self.contest = contest
        is_open = contest.state == ContestState.PREPARING
        self.library = problem_visible_to(adds_for) if adds_for and is_open else Problem.objects.none()
        self.added: list[Problem] = []
        self.names: dict[str, str] = {}
        self.count = 0
        for row in contest.problems.select_related("problem"):
            self._register(row.problem, row.label)

    def label_of(self, name: str) -> str:
        """The label of the problem that a file calls `name`. Raises `RowWrong`."""
        for spelled in _spellings(name):
            if label := self.names.get(spelled.casefold()):
                return label
        if self.count < PROBLEMS_AT_MOST:
            found = list(self.library.filter(external_id=name)[:2]) or list(self.library.filter(slug=name)[:1])
            if len(found) == 1:
                self.added.append(found[0])
                return self._register(found[0], str(self.count + 1))
        raise RowWrong(f"The contest has no problem {name[:60]}.")

    def _register(self, problem: Problem, label: str) -> str:
        self.count += 1
        for name in (label, problem.slug, problem.external_id, problem.title):
            if name:
                self.names.setdefault(name.casefold(), label)
        return label


def plan_make(contest: Contest, data: bytes, *, adds_for: User | None = None) -> ImportPlan:
    """Preview a file without changes. Raises `FileWrong` if the file is unusable.

    `adds_for`: the user from whose library problems may be added; None adds none.
    """
    shape, sources, skipped = _sources(data)
    problems = _Problems(contest, adds_for=adds_for)
    plan = ImportPlan(shape=shape, added=problems.added)
    known = _existing_texts(contest)

    def new(draft: SubmissionDraft) -> SubmissionDraft:
        label = problems.label_of(draft.problem)
        if (draft.author, label) in known:
            raise RowWrong(f"{draft.author} already has a text for problem {label}.")
        known.add((draft.author, label))
        return replace(draft, problem=label)

    for where, read in sources:
        plan.add(where, lambda read=read: new(read()))  # type: ignore[misc]
    plan.wrong += [Skipped(path, reason) for path, reason in skipped]
    return plan


def _sources(data: bytes) -> tuple[str, Iterable[Source[SubmissionDraft]], list[tuple[str, str]]]:
    """The layout of a file, its texts, and the skipped members of an archive."""
    if is_archive(data):
        texts, skipped = archive_read(data)
        return "Folders", folder_sources(texts), skipped
    table = table_read(data)
    shape = shape_of(table)
    return shape, table_sources(table, partial(draft_read, shape=shape)), []


@transaction.atomic
def import_confirm(*, file: ImportFile) -> ImportPlan:
    """Import the valid texts of an upload and delete it. Concurrent calls are serialised; the second one is refused.

    Raises `ContestRefused`, also for a contest that is closed or being marked: a new number would reveal its author.
    """
    if not ImportFile.objects.select_for_update().filter(pk=file.pk).exists():
        raise ContestRefused("This file was already imported.")
    contest = file.contest
    if refusal := adding_refusal(contest):
        raise ContestRefused(refusal)
    plan = plan_make(contest, bytes(file.data), adds_for=adder_of(file))
    for problem in plan.added:
        problem_add(contest=contest, problem=problem, by=file.owner)
    problems = {row.label: row for row in contest.problems.all()}
    papers: dict[str, Paper] = {}
    for row in plan.good:
        if row.draft.author not in papers:
            papers[row.draft.author] = _paper_of(contest, row.draft)
        _text_add(papers[row.draft.author], problems[row.draft.problem], row.draft)
    rows_recount(len(plan.good), Paper, Identity, Submission, SubmissionVersion, Step)
    event_publish(contest, "contest.imported", file.owner, texts=len(plan.good), skipped=len(plan.wrong))
    file.delete()
    return plan


def adder_of(file: ImportFile) -> User | None:
    """The user from whose library the upload may add problems, or None."""
    return file.owner if file.adds_problems else None


def _spellings(name: str) -> Iterator[str]:
    """Possible labels of a name: `putnam_2025_B3` also B3, `P2` also 2, `IMO2025-1` also 1."""
    yield name
    yield last_part(name)
    if found := _NUMBER.fullmatch(name):
        yield found[1]


def _existing_texts(contest: Contest) -> set[tuple[str, str]]:
    names = dict(Identity.objects.filter(contest=contest, person=None).values_list("paper", "name"))
    rows = Submission.objects.filter(paper__contest=contest, paper__in=names).values_list("paper", "problem__label")
    return {(names[paper], label) for paper, label in rows}


def _paper_of(contest: Contest, draft: SubmissionDraft) -> Paper:
    known = Identity.objects.filter(contest=contest, person=None, name=draft.author).select_related("paper").first()
    if known is not None:
        return known.paper
    details = {"school": draft.school, "external_id": draft.external_id}
    return author_add(contest=contest, name=draft.author, kind=AuthorKind(draft.kind), **details)


def _text_add(paper: Paper, problem: ContestProblem, draft: SubmissionDraft) -> None:
    submission = Submission.objects.create(paper=paper, problem=problem)
    version = services.version_add(submission=submission, text=draft.text, text_format=draft.format, origin=Origin.IMPORTED)
    if given := draft.judgement:
        services.judgement_keep(version=version, points=given.points, out_of=given.out_of, words=given.words)
