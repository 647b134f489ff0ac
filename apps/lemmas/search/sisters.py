"""The sisters of a lemma: lemmas of other runs of its problem that say the same, or nearly.

What says the same is decided as in a comparison of runs (`apps.lemmas.pairs.grouping`).
"""

from dataclasses import dataclass

from django.db.models import QuerySet

from apps.lemmas.models import Lemma, LemmaText
from apps.lemmas.pairs.grouping import How, Statement, groups_of
from apps.lemmas.search.selectors import newest
from apps.lemmas.search.statements import Held, held_in, verdict_words
from apps.reasoning.graph.statements import similarity
from apps.reasoning.graph.terms import form_of, terms_of
from apps.runs.models import Run

SHOWN = 12
#: Newest lemmas of other runs of which the most similar are compared, and the least share of terms for that.
_SCANNED, _COMPARED, _LEAST_SHARED = 3_000, 60, 0.5


@dataclass(frozen=True)
class Sister:
    """A lemma of another run. `how` it says the same; `likeness` is 1.0 unless it is only alike. A fork's own copy is
    `is_inherited`.
    """

    lemma: Lemma
    how: How
    likeness: float
    is_inherited: bool

    @property
    def how_words(self) -> str:
        if self.how == How.ALIKE:
            return f"{self.likeness:.0%} alike".replace("%", " %")
        return "same statement" if self.how == How.EQUAL else "same up to names of variables"

    @property
    def state_words(self) -> str:
        return verdict_words(self.lemma)


@dataclass(frozen=True)
class Sisters:
    """One sister per run, those with the same statement first. `held` counts the runs with the same normal form."""

    rows: list[Sister]
    held: Held

    @property
    def held_words(self) -> str:
        """`Held in 3 of 4 other runs that judged the same statement.`"""
        if not self.held.judged:
            return ""
        runs = f"{self.held.judged} other run{'s' if self.held.judged != 1 else ''}"
        return f"Held in {self.held.held} of {runs} that judged the same statement."


def sisters_of(lemma: Lemma, runs: QuerySet[Run]) -> Sisters:
    """The sisters of a lemma in `runs`, which the reader may see; only runs of its problem count."""
    version = lemma.run.problem_version
    texts = newest(LemmaText.objects.filter(run__in=runs.filter(problem_version__problem=version.problem_id)))
    texts = texts.exclude(run=lemma.run_id).order_by("-pk")
    form = form_of(lemma.statement)
    same = list(texts.filter(form=form).select_related("lemma__run__problem_version__problem"))
    by_run = {text.run_id: text for text in reversed(same)}
    near = _near(lemma, texts.exclude(form=form).exclude(run__in=by_run), version.statement)
    equal = sorted(by_run.values(), key=lambda text: -text.pk)
    return Sisters(
        rows=[*(Sister(text.lemma, How.EQUAL, 1.0, text.is_inherited) for text in equal), *near][:SHOWN],
        held=held_in(
            (text.run_id, text.lemma.judged, text.lemma.status, text.is_inherited or text.lemma.run.is_authored)
            for text in same
        ),
    )


def _near(lemma: Lemma, texts: QuerySet[LemmaText], problem: str) -> list[Sister]:
    """The nearest lemma of each run that says the same in other words or letters, the nearest first."""
    mine = frozenset(terms_of(lemma.statement))
    shared = ((similarity(mine, frozenset(terms.split())), pk) for pk, terms in texts.values_list("pk", "terms")[:_SCANNED])
    chosen = sorted((one for one in shared if one[0] >= _LEAST_SHARED), reverse=True)[:_COMPARED]
    rows = LemmaText.objects.select_related("lemma__run__problem_version__problem").in_bulk([pk for _, pk in chosen])
    found: dict[int, Sister] = {}
    for text in (rows[pk] for _, pk in chosen if pk in rows):
        pair = [Statement(0, lemma.statement), Statement(1, text.lemma.statement)]
        group, *others = groups_of(pair, problem)
        if not others and group.how is not None:
            sister = Sister(text.lemma, group.how, 1.0 if group.score is None else group.score, text.is_inherited)
            known = found.get(text.run_id)
            if known is None or sister.likeness > known.likeness:
                found[text.run_id] = sister
    return sorted(found.values(), key=lambda one: (one.how, -one.likeness, -one.lemma.pk))[:SHOWN]
