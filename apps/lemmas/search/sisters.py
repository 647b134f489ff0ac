"""The sisters of a lemma: lemmas of other runs of its problem that say the same, or nearly."""

from dataclasses import dataclass

from django.db.models import QuerySet

from apps.lemmas.models import Lemma, LemmaState, LemmaText
from apps.reasoning.graph.terms import form_of, likeness, terms_of
from apps.runs.models import Run

LEAST_ALIKE = 0.8
SHOWN = 12
#: Newest lemmas of other runs that are compared by likeness.
_COMPARED = 3_000
_JUDGED = (LemmaState.VERIFIED, LemmaState.DOUBTFUL, LemmaState.REJECTED)


@dataclass(frozen=True)
class Sister:
    """A lemma of another run; `likeness` is 1.0 if it says the same. A fork's own copy is `is_inherited`."""

    lemma: Lemma
    likeness: float
    is_inherited: bool

    @property
    def is_same(self) -> bool:
        return self.likeness == 1.0

    @property
    def state_words(self) -> str:
        """The verdict by votes, also of a retired lemma."""
        return self.lemma.state_words if self.lemma.judged not in _JUDGED else LemmaState(self.lemma.judged).label


@dataclass(frozen=True)
class Sisters:
    """One sister per run, those with the same statement first. `held` of `judged` runs verified that statement.

    Unjudged lemmas and copies in forks are in neither number.
    """

    rows: list[Sister]
    held: int
    judged: int

    @property
    def held_words(self) -> str:
        """`Held in 3 of 4 other runs that judged the same statement.`"""
        if not self.judged:
            return ""
        runs = f"{self.judged} other run{'s' if self.judged != 1 else ''}"
        return f"Held in {self.held} of {runs} that judged the same statement."


def sisters_of(lemma: Lemma, runs: QuerySet[Run]) -> Sisters:
    """The sisters of a lemma in `runs`, which the reader may see; only runs of its problem count."""
    problem = lemma.run.problem_version.problem_id
    texts = LemmaText.objects.filter(run__in=runs.filter(problem_version__problem=problem), is_latest=True)
    texts = texts.exclude(run=lemma.run_id).exclude(lemma__status=LemmaState.MERGED).order_by("-pk")
    form = form_of(lemma.statement)
    same = [
        Sister(text.lemma, 1.0, text.is_inherited)
        for text in texts.filter(form=form).select_related("lemma__run__problem_version__problem")
    ]
    by_run = {one.lemma.run_id: one for one in reversed(same)}
    counted = [one.lemma for one in by_run.values() if not one.is_inherited and one.lemma.judged in _JUDGED]
    alike = _alike(lemma, texts.exclude(form=form).exclude(run__in=by_run))
    return Sisters(
        rows=[*sorted(by_run.values(), key=lambda one: -one.lemma.pk), *alike][:SHOWN],
        held=sum(one.status == LemmaState.VERIFIED for one in counted),
        judged=len(counted),
    )


def _alike(lemma: Lemma, texts: QuerySet[LemmaText]) -> list[Sister]:
    """The most alike lemma of each run that is like this one, the most alike first."""
    mine = terms_of(lemma.statement)
    best: dict[int, tuple[float, int]] = {}
    for pk, run, terms in texts.values_list("pk", "run", "terms")[:_COMPARED]:
        score = round(likeness(mine, terms.split()), 4)
        if score >= LEAST_ALIKE and score > best.get(run, (0.0, 0))[0]:
            # Equal terms in another order, or another spelling, are not the same statement.
            best[run] = min(score, 0.99), pk
    chosen = sorted(best.values(), reverse=True)[:SHOWN]
    rows = LemmaText.objects.select_related("lemma__run__problem_version__problem").in_bulk([pk for _, pk in chosen])
    return [Sister(rows[pk].lemma, score, rows[pk].is_inherited) for score, pk in chosen if pk in rows]
