"""Answers that people mark: which text each sampled cell handed in, what is left for a person, and the marks.

Equal texts on a problem are one answer, under a digest that says nothing of its method. A mark counts for all sampled cells
that handed in the text.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.experiments.access import items_hidden
from apps.experiments.models import CellScore, Experiment, ExperimentState, SolvingCell, SolvingState
from apps.experiments.refusals import ExperimentRefused
from apps.experiments.solving.manifest import Manifest, Scorer
from apps.experiments.solving.people.models import PersonMark
from apps.experiments.solving.people.sampling import people_in
from apps.experiments.solving.scoring import AT_ONCE, handed_in
from apps.experiments.solving.services import manifest_stored
from apps.reasoning.answers.points import NOTHING
from apps.reasoning.marking.schemes.scheme import points_words

GONE = "the run was deleted"
CANCELLED = "The experiment was cancelled, so the mark was not saved. Marks given before are kept."
_HUNDREDTH = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as its marker sees it: `problem` is a name in the set, `points` the marker's own mark, if any."""

    digest: str
    problem: str
    points: Decimal | None

    @property
    def is_open(self) -> bool:
        return self.points is None


def digest_of(experiment: Experiment, scorer: str, problem: str, text: str) -> str:
    """Sha-256 in hex over a text for a scorer of the experiment and a problem of its set."""
    return hashlib.sha256(f"{experiment.public_id}/{scorer}/{problem}/{text}".encode()).hexdigest()


def answers_settle(experiment: Experiment) -> int:
    """Note which texts the sampled cells that have finished handed in, and give them the marks of equal texts.

    Returns the number of cells, at most `AT_ONCE`. Call it in a transaction.
    """
    scorers = people_in(manifest_stored(experiment))
    if not scorers:
        return 0
    waiting = _asked(experiment).filter(state=CellScore.State.ASKED, digest="", cell__state=SolvingState.FINISHED)
    rows = list(waiting.filter(scorer__in=scorers).select_related("cell__run", "cell__item").order_by("pk")[:AT_ONCE])
    new: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        text = handed_in(row.cell, row.cell.answer)
        row.answer = row.cell.answer
        if text:
            row.digest = digest_of(experiment, row.scorer, row.cell.item.name, text)
            new[row.scorer].add(row.digest)
        else:
            row.state, row.ended_at = CellScore.State.UNSCORED, timezone.now()
            row.unscored = GONE if row.cell.answer else NOTHING
    CellScore.objects.bulk_update(rows, ["answer", "digest", "state", "unscored", "ended_at"], batch_size=AT_ONCE)
    for name, digests in new.items():
        _count(experiment, scorers[name], digests)
    return len(rows)


def answers_of(user: User, experiment: Experiment, scorer: Scorer) -> list[Answer]:
    """The answers that a person may mark, in an order of their own, without problems that are held back from them."""
    rows = _with_text(experiment).filter(scorer=scorer.name).exclude(digest="")
    rows = rows.exclude(cell__item__in=items_hidden(user, experiment))
    found = dict(rows.order_by().values_list("digest", "cell__item__name").distinct())
    own = dict(PersonMark.objects.filter(experiment=experiment, by=user).values_list("digest", "points"))
    ordered = sorted(found, key=lambda digest: hashlib.sha256(f"{user.pk}/{digest}".encode()).digest())
    return [Answer(digest, found[digest], own.get(digest)) for digest in ordered]


def next_open(answers: list[Answer], after: str = "") -> Answer | None:
    """The next answer without the person's mark that is not `after`, from there on and then from the start; None if none."""
    start = next((number for number, one in enumerate(answers, 1) if one.digest == after), 0)
    return next((one for one in answers[start:] + answers[:start] if one.is_open and one.digest != after), None)


def cell_of(experiment: Experiment, digest: str) -> SolvingCell | None:
    """A cell that handed in the text of an answer and still has it."""
    rows = _with_text(experiment).filter(digest=digest)
    found = rows.select_related("cell__run", "cell__item__problem__problem").order_by("pk").first()
    return found.cell if found else None


def answers_marked(experiment: Experiment, manifest: Manifest) -> int:
    """The number of different answers with a mark."""
    rows = _asked(experiment).filter(scorer__in=people_in(manifest), state=CellScore.State.SCORED)
    return rows.order_by().values("digest").distinct().count()


@transaction.atomic
def mark_save(*, user: User, experiment: Experiment, scorer: Scorer, digest: str, points: Decimal, comment: str) -> None:
    """Save or change the mark of a person. Raises `ExperimentRefused`."""
    locked = Experiment.objects.select_for_update().get(pk=experiment.pk)
    if locked.state == ExperimentState.CANCELLED:
        raise ExperimentRefused(CANCELLED)
    if not 0 <= points <= scorer.points:
        raise ExperimentRefused(f"Give 0 to {points_words(Decimal(scorer.points))}.")
    given = {"points": points, "comment": comment}
    PersonMark.objects.update_or_create(experiment=locked, digest=digest, by=user, defaults=given)
    _count(locked, scorer, {digest})


def _count(experiment: Experiment, scorer: Scorer, digests: Collection[str]) -> None:
    """Give the sampled cells of these answers the mean of their marks."""
    marks: dict[str, list[Decimal]] = defaultdict(list)
    for digest, points in PersonMark.objects.filter(experiment=experiment, digest__in=digests).values_list("digest", "points"):
        marks[digest].append(points)
    given = {"state": CellScore.State.SCORED, "scale": Decimal(scorer.points), "ended_at": timezone.now()}
    for digest, each in marks.items():
        mean = (sum(each, Decimal(0)) / len(each)).quantize(_HUNDREDTH)
        _asked(experiment).filter(scorer=scorer.name, digest=digest).update(points=mean, **given)


def _with_text(experiment: Experiment) -> QuerySet[CellScore]:
    return _asked(experiment).filter(Q(cell__run__isnull=False) | ~Q(cell__text=""))


def _asked(experiment: Experiment) -> QuerySet[CellScore]:
    return CellScore.objects.filter(cell__experiment=experiment)
