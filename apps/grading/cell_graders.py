"""The graders of experiments as agreement pages name them: `<variant>@<players>#<settings>`.

Gradings with different settings or prompts are never pooled (`asked_with`). What was graded before settings were kept has
none in its name. What was graded by a marking scheme counts under the meaning that this scheme has: it stands in the run.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping

from django.db.models import IntegerField, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from apps.grading.asked_with import settings_words
from apps.grading.experiment_models import CellState, ExperimentCell
from apps.grading.naming import BY_SCHEME, VARIANTS, title_of
from apps.grading.shown import ViewShown, shown_of
from apps.reasoning.marking.lineage import content_hash, meaning_hash
from apps.reasoning.marking.scheme import Scheme
from apps.schemes.models import SchemeVersion

ENDED = (CellState.SCORED, CellState.UNSCORED)
Cells = QuerySet[ExperimentCell]


def cells_compared(cells: Cells) -> Cells:
    """Those in which a model judged, but for graders that are gone and, by a scheme, for runs that are: nobody knows by which.

    A failure is no judgement.
    """
    return cells.filter(state__in=ENDED, workflow__in=list(VARIANTS)).exclude(Q(workflow__in=BY_SCHEME, run__isnull=True))


def meanings_of(cells: Cells) -> dict[int, frozenset[str]]:
    """By key of each cell that was graded by a scheme: the meaning of that scheme, as the versions with its content have it.

    Usually one; the same content has two where somebody declared a change back to be one of wording only.
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


def failed_in_words(cells: Cells) -> str:
    """How many of these cells failed, as a sentence with a space before it; empty where none did."""
    count = cells.filter(state=CellState.FAILED).count()
    return f" {count:,} grading{'s' * (count != 1)} of experiments failed and {'are' if count > 1 else 'is'} left out." * bool(
        count
    )


def graders_named(cells: Cells) -> list[tuple[str, str]]:
    """The graders of such cells: name and words. Settings are told where the same models were asked with several."""
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
    """The cells of the grader of this name, oldest first."""
    grader, _, key = name.partition("#")
    workflow, _, alias = grader.partition("@")
    return cells.filter(workflow=workflow, alias=alias, settings=key).order_by("pk")


def seeds_of(cells: Cells) -> dict[int, int | None]:
    """By key of a cell the seed of its run; None where there is no run."""
    return dict(
        cells.annotate(run_seed=Cast(KeyTextTransform("seed", "run__spec"), IntegerField())).values_list("pk", "run_seed")
    )


def replays_in_words(words: str, count: int) -> str:
    """How many replays of a grader were left out, "" for none."""
    if not count:
        return ""
    runs = "1 run is a replay" if count == 1 else f"{count:,} runs are replays"
    return f"{words}: {runs} of another on the same script with the same seed, and left out."


def views_of(cells: Cells, name: str) -> tuple[ViewShown, ...]:
    """What the grader of this name was shown; the name has the settings in it, so all of its cells were shown the same."""
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
