"""Write operations of the library: create, revise, import, load samples. Each is one transaction."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import User
from apps.problems.drafts import ProblemDraft, SolutionDraft, draft_of, slug_free
from apps.problems.importing.plans import plan_make
from apps.problems.models import ImportDraft, Problem, ProblemHint, ProblemVersion, ReferenceSolution
from apps.problems.samples import ORIGIN, sample_library

_FACTS = ("title", "topic", "subtopic", "source", "year", "level")
_TEXTS = ("statement", "answer", "scheme_text")
_BATCH = 200
KEPT_FOR = timedelta(days=1)


class ProblemChanged(Exception):
    """Another user saved the problem meanwhile."""


def problem_state(problem: Problem) -> str:
    """A token that changes with each save of the problem."""
    return problem.updated_at.isoformat()


@transaction.atomic
def problem_create(*, draft: ProblemDraft, by: User | None = None) -> Problem:
    """Create a problem with version 1. Its slug comes from the draft or its title; a number makes it unique."""
    problem = Problem(
        slug=slug_free(draft.slug or draft.title, _slugs()), origin=draft.origin, external_id=draft.external_id, created_by=by
    )
    _set_facts(problem, draft)
    problem.full_clean()
    problem.save()
    _add_version(problem, 1, draft, by)
    _set_solutions(problem, draft.solutions)
    _set_hints(problem, draft.hints)
    return problem


@transaction.atomic
def problem_revise(*, problem: Problem, draft: ProblemDraft, by: User | None, based_on: str | None = None) -> Problem:
    """Save a changed problem. A change of statement, answer or marking scheme creates a new version.

    Raises `ProblemChanged` if the `problem_state` is no longer `based_on`. Slug, origin and external id never change, because
    they are references.
    """
    problem = Problem.objects.select_for_update().get(pk=problem.pk)
    if based_on is not None and based_on != problem_state(problem):
        raise ProblemChanged(f"Another user saved {problem.slug} meanwhile")
    current = problem.current
    _set_facts(problem, draft)
    if by is not None:
        problem.edited_at = timezone.now()
    problem.full_clean()
    problem.save()
    if any(getattr(current, name) != getattr(draft, name) for name in _TEXTS):
        _add_version(problem, current.number + 1, draft, by)
    _set_solutions(problem, draft.solutions)
    _set_hints(problem, draft.hints)
    return problem


@transaction.atomic
def problems_import(*, drafts: Sequence[ProblemDraft], by: User | None, is_listed: bool = True) -> list[Problem]:
    """Store drafts checked by `importing.plans`, all or none, in the library or outside it."""
    used, problems = _slugs(), []
    for draft in drafts:
        slug = slug_free(draft.slug or draft.title, used)
        used.add(slug)
        origin = {"origin": draft.origin, "external_id": draft.external_id, "is_listed": is_listed}
        problems.append(Problem(slug=slug, created_by=by, edited_at=timezone.now(), **origin, **_values(draft, _FACTS)))
    Problem.objects.bulk_create(problems, batch_size=_BATCH)
    pairs = list(zip(problems, drafts, strict=True))
    versions = [ProblemVersion(problem=row, number=1, created_by=by, **_values(draft, _TEXTS)) for row, draft in pairs]
    ProblemVersion.objects.bulk_create(versions, batch_size=_BATCH)
    solutions = [
        ReferenceSolution(problem=row, position=position, approach=solution.approach, text=solution.text)
        for row, draft in pairs
        for position, solution in enumerate(draft.solutions)
    ]
    ReferenceSolution.objects.bulk_create(solutions, batch_size=_BATCH)
    hints = [ProblemHint(problem=row, level=level, text=text) for row, draft in pairs for level, text in enumerate(draft.hints)]
    ProblemHint.objects.bulk_create(hints, batch_size=_BATCH)
    return problems


@transaction.atomic
def problem_text_add(*, problem: Problem, draft: ProblemDraft, by: User | None) -> ProblemVersion:
    """Add a version with the texts of a draft, and set its solutions; title, topic and source stay.

    Most formats have no hints: a draft without them keeps those of the problem.
    """
    locked = Problem.objects.select_for_update().get(pk=problem.pk)
    _set_solutions(locked, draft.solutions)
    if draft.hints:
        _set_hints(locked, draft.hints)
    return _add_version(locked, locked.current.number + 1, draft, by)


def problem_list_or_not(*, problem: Problem, is_listed: bool) -> None:
    """Add a problem to the library or remove it; its URL, runs and solutions stay."""
    Problem.objects.filter(pk=problem.pk).update(is_listed=is_listed)


@transaction.atomic
def import_draft_keep(*, user: User, filename: str, shape: str, data: bytes) -> ImportDraft:
    """Store an upload until its confirmation. Deletes the owner's earlier upload and expired ones."""
    ImportDraft.objects.filter(Q(owner=user) | Q(created_at__lt=timezone.now() - KEPT_FOR)).delete()
    return ImportDraft.objects.create(owner=user, filename=filename[:200], shape=shape, data=data)


@transaction.atomic
def import_draft_confirm(*, draft: ImportDraft, by: User) -> tuple[int, int]:
    """Import the valid rows of an upload and delete it. Returns the numbers of imported and skipped rows."""
    plan = plan_make(bytes(draft.data), draft.shape)
    problems_import(drafts=[row.draft for row in plan.good], by=by)
    draft.delete()
    return len(plan.good), len(plan.wrong)


@transaction.atomic
def sample_library_load() -> int:
    """Load the sample library. Returns the number of added or updated problems.

    Problems edited by users are skipped, except that they get the hints of their file if they never had any and their
    statement is still that of the file. Others are updated from their files.
    """
    known = {problem.external_id: problem for problem in Problem.objects.filter(origin=ORIGIN)}
    changed = 0
    for draft in sample_library():
        problem = known.get(draft.external_id)
        if problem is None:
            problem_create(draft=draft)
        elif problem.edited_at is not None:
            if problem.hints.exists() or problem.current.statement != draft.statement:
                continue
            _set_hints(problem, draft.hints)
            problem.save(update_fields=["updated_at"])  # An open editor does not have these hints; saving it must warn.
        elif draft_of(problem) == replace(draft, slug=problem.slug):
            continue
        else:
            problem_revise(problem=problem, draft=draft, by=None)
        changed += 1
    return changed


def _slugs() -> set[str]:
    return set(Problem.objects.values_list("slug", flat=True))


def _values(draft: ProblemDraft, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(draft, name) for name in names}


def _set_facts(problem: Problem, draft: ProblemDraft) -> None:
    for name, value in _values(draft, _FACTS).items():
        setattr(problem, name, value)


def _add_version(problem: Problem, number: int, draft: ProblemDraft, by: User | None) -> ProblemVersion:
    version = ProblemVersion(problem=problem, number=number, created_by=by, **_values(draft, _TEXTS))
    version.full_clean(validate_unique=False, validate_constraints=False)
    version.save()
    return version


def _set_solutions(problem: Problem, drafts: Sequence[SolutionDraft]) -> None:
    """Set the reference solutions to `drafts` in this order; existing rows keep their ids where possible."""
    rows = list(problem.reference_solutions.order_by("position", "pk"))
    for row in rows[len(drafts) :]:
        row.delete()
    for position, draft in enumerate(drafts):
        row = rows[position] if position < len(rows) else ReferenceSolution(problem=problem)
        row.approach, row.text, row.position = draft.approach, draft.text, position
        row.full_clean()
        row.save()


def _set_hints(problem: Problem, texts: Sequence[str]) -> None:
    """Set the hints by level; removed ones become empty rows."""
    problem.hints.filter(level__gte=len(texts)).update(text="")
    for level, text in enumerate(texts):
        ProblemHint.objects.update_or_create(problem=problem, level=level, defaults={"text": text})
