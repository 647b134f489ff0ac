"""Names of the graders of experiments on agreement pages: `<variant>@<players>#<settings>`.

Gradings with different settings or prompts are never pooled (`asked_with`). The names of older gradings have no settings. A
grading by a marking scheme counts under the meaning of the scheme in its run.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping

from django.db.models import IntegerField, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from apps.experiments.models import CellState, ExperimentCell
from apps.graders.planning.naming import BY_SCHEME, VARIANTS, title_of
from apps.graders.planning.settings import settings_words
from apps.graders.planning.shown import ViewShown, shown_of
from apps.reasoning.marking.schemes.lineage import content_hash, meaning_hash
from apps.reasoning.marking.schemes.scheme import Scheme
from apps.schemes.models import SchemeVersion

ENDED = (CellState.SCORED, CellState.UNSCORED)
Cells = QuerySet[ExperimentCell]


def cells_compared(cells: Cells) -> Cells:
    """Cells with a model's judgement; failures are none. Excludes removed graders.

    Also excludes gradings by a scheme whose run was deleted, as their scheme is unknown.
    """
    return cells.filter(state__in=ENDED, workflow__in=list(VARIANTS)).exclude(Q(workflow__in=BY_SCHEME, run__isnull=True))


def meanings_of(cells: Cells) -> dict[int, frozenset[str]]:
    """By primary key of each cell graded by a scheme: the meanings of the scheme versions with the same content.

    Usually one. The same content has two meanings if a change back to it was declared as wording only.
    """
    rows = cells.filter(workflow__in=BY_SCHEME, run__isnull=False).values_list("pk", "run__spec__params__scheme")
    schemes = {pk: json.dumps(scheme, sort_keys=True) if scheme else "" for pk, scheme in rows}
    known = _meanings({text: Scheme.model_validate_json(text) for text in set(schemes.values()) if text})
    return {pk: known.get(text, frozenset()) for pk, text in schemes.items()}


def _meanings(schemes: Mapping[str, Scheme]) -> dict[str, frozenset[str]]:
    hashes = {text: content_hash(scheme) for text, scheme in schemes.items()}
    found: dict[str, set[str]] = defaultdict(set)
    versions = SchemeVersion.objects.filter(content_hash__in=set(hashes.values()))
    for content, meaning in versions.values_list("content_hash", "meaning_hash"):
        found[content].add(meaning)
    return {text: frozenset(found[hashes[text]] or {meaning_hash(scheme)}) for text, scheme in schemes.items()}


def failure_note(cells: Cells) -> str:
    """The number of failed cells as a sentence with a leading space, or ""."""
    count = cells.filter(state=CellState.FAILED).count()
    if not count:
        return ""
    return f" Excluded: {count:,} failed experiment grading{'s' * (count != 1)}."


def grader_names(cells: Cells) -> list[tuple[str, str]]:
    """Names and labels of the graders of these cells. Labels include settings if the same models ran with several."""
    found = cells.order_by("workflow", "alias", "settings").values_list("workflow", "alias", "settings").distinct()
    counts = Counter((workflow, alias) for workflow, alias, _ in found)
    return [
        (
            _name(workflow, alias, key),
            _words(cells, workflow, alias, key) if counts[workflow, alias] > 1 else f"{title_of(workflow)} · {alias}",
        )
        for workflow, alias, key in found
    ]


def cells_by(cells: Cells, name: str) -> Cells:
    """The cells of a grader, oldest first."""
    grader, _, key = name.partition("#")
    workflow, _, alias = grader.partition("@")
    return cells.filter(workflow=workflow, alias=alias, settings=key).order_by("pk")


def seeds_of(cells: Cells) -> dict[int, int | None]:
    """By primary key of a cell: the seed of its run, None without a run."""
    return dict(
        cells.annotate(run_seed=Cast(KeyTextTransform("seed", "run__spec"), IntegerField())).values_list("pk", "run_seed")
    )


def replay_note(words: str, count: int) -> str:
    """The number of excluded replays of a grader as a sentence, "" for none."""
    if not count:
        return ""
    runs = "1 run that repeats" if count == 1 else f"{count:,} runs that repeat"
    return f"{words}: excluded {runs} another run on the same script with the same seed."


def views_of(cells: Cells, name: str) -> tuple[ViewShown, ...]:
    """The view of the grader of this name. The name includes the settings, so all its cells have the same view."""
    run = cells_by(cells, name).filter(run__isnull=False).order_by("-pk").values("run__scaffold", "run__spec__params").first()
    return (shown_of(run["run__scaffold"], run["run__spec__params"]),) if run else ()


def _name(workflow: str, alias: str, key: str) -> str:
    return f"{workflow}@{alias}#{key}" if key else f"{workflow}@{alias}"


def _words(cells: Cells, workflow: str, alias: str, key: str) -> str:
    newest = cells.filter(workflow=workflow, alias=alias, settings=key, run__isnull=False).order_by("-pk")
    spec = newest.values("run__scaffold", "run__spec__params", "run__spec__roles").first()
    words = "settings not kept"
    if key and spec is not None:
        words = settings_words(spec["run__scaffold"], spec["run__spec__params"], spec["run__spec__roles"])
    return f"{title_of(workflow)} · {alias} · {words}{f' ({key})' if key else ''}"
