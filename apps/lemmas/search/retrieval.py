"""Lemmas accepted in earlier runs, offered to the searches of a run (docs/tools.md, "Lemmas of earlier runs")."""

from collections.abc import Iterator

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.expressions import OrderBy

from apps.accounts.models import User
from apps.lemmas.models import HumanVerdict, LemmaState, LemmaText
from apps.lemmas.search.matching import matching
from apps.lemmas.search.origin import accepted_by
from apps.lemmas.search.query import Query, read
from apps.lemmas.search.selectors import searchable_runs
from apps.lemmas.words import confidence_words, lemma_name
from apps.problems.holding import Text, held_back
from apps.problems.models import Problem
from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.tools import LemmaOrigin, SearchHit, SearchJob, scope_of
from apps.reasoning.reading.turns.actions import LEMMAS
from apps.runs.models import Run

#: Matches that are looked at; equal statements are offered once.
_LOOKED_AT = 60


def lemmas_offered(run: Run, job: SearchJob) -> list[SearchHit]:
    """The accepted lemmas of earlier runs that match any word or formula of the query, the best first.

    Raises `RequestRejected` for a run without the option or without an owner.
    """
    if job.scope == "none" or job.scope != scope_of(run.spec.get("params") or {}):
        raise RequestRejected("This run may not search lemmas of earlier runs: it was started without them.")
    query = read(job.query)
    runs = _runs_for(run, job)
    if query.finds_nothing or not query.is_asked:
        return []
    forms: dict[str, SearchHit] = {}
    for text, hit in _accepted(_ranked(_texts_in(runs), query.for_any())):
        if text.form not in forms:
            forms[text.form] = hit
        if len(forms) == job.top:
            break
    return list(forms.values())


def _runs_for(run: Run, job: SearchJob) -> QuerySet[Run]:
    """Earlier runs that the owner may see by now, on problems within the scope, without authored examples.

    People who see this run may not see solutions that are held back from them. So only its own problem may be held back from
    anyone, as this run is then hidden like the others.
    """
    owner = User.objects.filter(runs=run).first()
    if owner is None:
        raise RequestRejected("This run has no owner, so there are no earlier runs that it may search for lemmas.")
    problem = run.problem_version.problem
    held = Problem.objects.filter(held_back(Text.SOLUTIONS, None)).exclude(pk=problem.pk)
    is_own = Q(problem_version__problem=problem)
    is_other = Q(problem_version__problem__topic=problem.topic) & ~is_own & ~Q(problem_version__problem__in=held)
    earlier = searchable_runs(owner).filter(created_at__lt=run.created_at, is_authored=False)
    return earlier.filter(is_other | is_own if job.scope == "problem" else is_other)


def _texts_in(runs: QuerySet[Run]) -> QuerySet[LemmaText]:
    by_person = HumanVerdict.objects.filter(
        run=OuterRef("run"), lemma=OuterRef("lemma__lemma"), applied_seq__isnull=False, accepted=True
    )
    texts = LemmaText.objects.filter(Q(lemma__judged=LemmaState.VERIFIED) | Exists(by_person), run__in=runs, is_latest=True)
    return texts.exclude(lemma__status__in=[LemmaState.MERGED, LemmaState.RETIRED]).exclude(finding="refuted")


#: A list, because mypy would miss the column that `matching` adds.
_RANK: list[str] = ["rank"]


def _ranked(texts: QuerySet[LemmaText], query: Query) -> QuerySet[LemmaText]:
    by_confidence = OrderBy(F("confidence"), descending=True, nulls_last=True)
    return matching(texts, query).order_by(*_RANK, by_confidence, "is_inherited", "-pk")


def _accepted(texts: QuerySet[LemmaText]) -> Iterator[tuple[LemmaText, SearchHit]]:
    for text in texts.select_related("lemma", "run__problem_version__problem")[:_LOOKED_AT]:
        lemma, by = text.lemma, accepted_by(text.lemma)
        if not by:
            continue
        run = str(text.run.public_id)
        name = f"Lemma {lemma_name(text.run, lemma)} of run {run[:8]} on “{text.run.problem_version.problem.title}”"
        verdict = "accepted by a person" if by == "person" else f"verified by {confidence_words(lemma)}"
        origin = LemmaOrigin(run=run, lemma=lemma.lemma, name=name, verdict=verdict)
        score = -float(vars(text)["rank"])
        yield text, SearchHit(library=LEMMAS, name=name, text=lemma.statement, score=score, origin=origin)
