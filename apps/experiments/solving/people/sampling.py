"""The cells that people are asked to mark: a random sample, the same problems and repeats for each method, team and budget."""

import hashlib
from typing import NamedTuple

from apps.experiments.models import CellScore, Experiment
from apps.experiments.solving.manifest import Manifest, Scorer

_BATCH = 500


class Pair(NamedTuple):
    """A problem of the set, by name, and a repeat."""

    problem: str
    repeat: int


def people_in(manifest: Manifest) -> dict[str, Scorer]:
    """The scorers by people, by name."""
    return {one.name: one for one in manifest.scorers if one.kind == "people"}


def order_of(seed: int, pair: Pair) -> tuple[int, str]:
    """The place of a pair in the random order: first repeat 0 of every problem, as marks on many problems say more."""
    return pair.repeat, hashlib.sha256(f"people/{seed}/{pair.problem}/{pair.repeat}".encode()).hexdigest()


def sample_of(manifest: Manifest, size: int, pairs: set[Pair], known: set[Pair]) -> set[Pair]:
    """The first `size` pairs in the random order (0: all), and all up to the last pair that is `known` from earlier.

    So a sample only grows, and new problems enter with the same chance as the earlier ones.
    """
    ordered = sorted(pairs, key=lambda pair: order_of(manifest.seed, pair))
    kept = max((number for number, pair in enumerate(ordered, 1) if pair in known), default=0)
    return set(ordered[: max(size, kept)] if size else ordered)


def sample_draw(experiment: Experiment, manifest: Manifest) -> None:
    """Ask for marks on the sampled cells that are not asked for yet. Call it in the transaction that adds cells or scorers."""
    if not (scorers := people_in(manifest)):
        return
    here = experiment.solving_cells.exclude(method__in=manifest.external, text="")
    rows = here.order_by().values_list("pk", "item__name", "repeat")
    cells = {pk: Pair(problem, repeat) for pk, problem, repeat in rows}
    for scorer in scorers.values():
        asked = CellScore.objects.filter(cell__experiment=experiment, scorer=scorer.name).values_list("cell", flat=True)
        known = set(asked)
        chosen = sample_of(manifest, scorer.sample, set(cells.values()), {cells[pk] for pk in known})
        new = [pk for pk, pair in cells.items() if pair in chosen and pk not in known]
        scores = [CellScore(cell_id=pk, scorer=scorer.name, state=CellScore.State.ASKED) for pk in new]
        CellScore.objects.bulk_create(scores, batch_size=_BATCH)
