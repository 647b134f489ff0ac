"""Writes of pairs: join or part lemmas, and withdraw a decision. Who may steer all runs concerned may decide."""

from collections.abc import Sequence
from itertools import combinations

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction

from apps.accounts.models import User
from apps.lemmas.models import Lemma
from apps.lemmas.pairs.models import LemmaPair
from apps.runs.access import run_may_steer
from apps.runs.models import Run

#: A lemma of a run, by its id.
Named = tuple[Run, str]
#: Lemmas of one decision; each pair of them is one row.
AT_MOST = 12


def pairs_decide(*, user: User, lemmas: Sequence[Named], is_same: bool) -> int:
    """Record for each pair of these lemmas that they say the same, or that they differ. Returns the number of pairs.

    Raises `ValidationError` for fewer than two lemmas, too many or unknown ones, and `PermissionDenied`.
    """
    chosen = sorted(set(lemmas), key=lambda one: (one[0].pk, one[1]))
    if len(chosen) < 2:
        raise ValidationError("Choose at least two lemmas: a decision is about a pair.")
    if len(chosen) > AT_MOST:
        raise ValidationError(f"You chose {len(chosen)} lemmas. Choose at most {AT_MOST} at once.")
    _may_decide(user, [run for run, _ in chosen])
    for run, name in chosen:
        if not Lemma.objects.filter(run=run, lemma=name).exists():
            raise ValidationError(f"“{run.title}” has no lemma {name}. Load the page again and choose its lemmas there.")
    pairs = list(combinations(chosen, 2))
    with transaction.atomic():
        for (first_run, first), (second_run, second) in pairs:
            LemmaPair.objects.update_or_create(
                first_run=first_run,
                first_lemma=first,
                second_run=second_run,
                second_lemma=second,
                defaults={"is_same": is_same, "by": user},
            )
    return len(pairs)


def pair_withdraw(*, user: User, pair: LemmaPair) -> None:
    """Delete a decision: the computed comparison counts again. Raises `PermissionDenied`."""
    _may_decide(user, [pair.first_run, pair.second_run])
    pair.delete()


def _may_decide(user: User, runs: Sequence[Run]) -> None:
    if not all(run_may_steer(user, run) for run in runs):
        raise PermissionDenied("You may join and part lemmas only of runs that you may steer. Ask a researcher.")
