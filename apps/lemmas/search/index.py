"""Writes the search terms of lemmas: with the projection of their events, or for older rows that have none."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, models, transaction

from apps.lemmas.models import LaterCheck, Lemma, LemmaText, LemmaWord
from apps.reasoning.domain.check_events import FormulasChecked
from apps.reasoning.domain.control import ControlApplied, ControlRefused
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.domain.events import (
    Event,
    LemmaMerged,
    LemmaProposed,
    LemmaRestored,
    LemmaRetired,
    VerdictReached,
)
from apps.reasoning.graph.terms import OF_FORMULA, form_of, terms_of
from apps.runs.journal.rows import insert
from apps.runs.models import Run, RunEvent, Step

_AT_ONCE = 500
#: One statement a lemma: what the writer's hot path can afford. Values: terms, form, run, id of the lemma.
_INSERT_ONE = """
    INSERT INTO lemmas_lemmatext (lemma_id, run_id, terms, form, model, finding, status, confidence, is_latest, is_inherited)
    SELECT lemma.id, lemma.run_id, %s, %s, coalesce(step.alias, ''), '', lemma.status, lemma.confidence, true,
           coalesce(step.attempt = 0, false)
    FROM lemmas_lemma AS lemma LEFT JOIN runs_step AS step ON step.run_id = lemma.run_id AND step.key = lemma.call
    WHERE lemma.run_id = %s AND lemma.lemma = %s
    ON CONFLICT DO NOTHING
"""
_COPY_VERDICTS = """
    UPDATE lemmas_lemmatext SET status = lemma.status, confidence = lemma.confidence FROM lemmas_lemma AS lemma
    WHERE lemmas_lemmatext.lemma_id = lemma.id AND lemmas_lemmatext.run_id = %s AND (
        lemmas_lemmatext.status <> lemma.status
        OR coalesce(lemmas_lemmatext.confidence, -1) <> coalesce(lemma.confidence, -1)
    )
"""
#: Events that may change the status or the confidence of lemmas.
_JUDGING = (VerdictReached, LemmaMerged, LemmaRetired, LemmaRestored, ControlApplied, ControlRefused)


def follow(run: Run, events: Sequence[Event]) -> None:
    """Index the lemmas that these events propose, and note the checks of formulas. The lemma rows are written already."""
    proposed = [event for event in events if isinstance(event, LemmaProposed)]
    if proposed:
        rows = [(*_terms(one.statement), run.pk, one.lemma) for one in proposed]
        with connection.cursor() as cursor:
            cursor.executemany(_INSERT_ONE, rows)
        _add_words(Tables(), (row[0] for row in rows))
    if replaced := {one.supersedes for one in proposed} - {""}:
        _texts_of(run, replaced).update(is_latest=False)
    if any(isinstance(event, _JUDGING) for event in events):
        with connection.cursor() as cursor:
            cursor.execute(_COPY_VERDICTS, [run.pk])
    for event in events:
        if isinstance(event, FormulasChecked):
            _texts_of(run, {event.subject}).update(finding=event.outcome)


@dataclass(frozen=True)
class Tables:
    """The models of the rows; a migration passes those of its time."""

    lemmas: Any = Lemma
    texts: Any = LemmaText
    words: Any = LemmaWord
    steps: Any = Step
    events: Any = RunEvent


def index_run(run: Run) -> None:
    """Index all lemmas of a run that have no terms yet."""
    _fill(Tables(), run=run.pk)


def index_missing(tables: Tables | None = None, *, everything: bool = False) -> int:
    """Index all lemmas without terms, in batches; with `everything`, drop all terms first. Returns their number."""
    tables = tables or Tables()
    if everything:
        tables.texts.objects.all().delete()
        tables.words.objects.all().delete()
    return _fill(tables)


def _fill(tables: Tables, **of: int) -> int:
    done, last = 0, 0
    while rows := list(tables.lemmas.objects.filter(text=None, pk__gt=last, **of).order_by("pk")[:_AT_ONCE]):
        with transaction.atomic():
            _insert_with_context(tables, rows)
        done, last = done + len(rows), rows[-1].pk
    return done


def _insert_with_context(tables: Tables, rows: Sequence[Any]) -> None:
    """Index lemmas of any runs, with what their runs know of them by now."""
    runs = {row.run_id for row in rows}
    asked = tables.steps.objects.filter(run__in=runs, key__in={row.call for row in rows}).order_by()
    steps = {(run, key): (alias, attempt) for run, key, alias, attempt in asked.values_list("run", "key", "alias", "attempt")}
    checks = tables.events.objects.filter(run__in=runs, kind=Kind.FORMULAS_CHECKED).order_by("seq")
    findings = {(run, name): outcome for run, name, outcome in checks.values_list("run", "body__subject", "body__outcome")}
    later = LaterCheck.objects.filter(run__in=runs) if tables.lemmas is Lemma else LaterCheck.objects.none()
    findings = {(run, name): one for run, name, one in later.values_list("run", "subject", "body__outcome")} | findings
    newer = tables.lemmas.objects.filter(run__in=runs).exclude(supersedes="").order_by()
    replaced = set(newer.values_list("run", "supersedes"))
    indexed = []
    for row in rows:
        name = (row.run_id, row.lemma)
        indexed.append(_row(row, steps) | {"finding": findings.get(name, ""), "is_latest": name not in replaced})
    insert(tables.texts, indexed, new_only=True)
    _add_words(tables, (row["terms"] for row in indexed))


def words_of(runs: Iterable[Run]) -> set[str]:
    """The words of their lemmas. Pass them to `words_forget` after the lemmas were deleted."""
    return _words_in(LemmaText.objects.filter(run__in=[run.pk for run in runs]).values_list("terms", flat=True))


def words_forget(words: Iterable[str]) -> None:
    """Delete those of these words that no lemma has, after lemmas were deleted."""
    has_word = {
        "postgresql": "SELECT 1 FROM lemmas_lemmatext WHERE vector @@ to_tsquery('simple', word)",
        "sqlite": "SELECT 1 FROM lemmas_terms WHERE lemmas_terms MATCH '\"' || word || '\"'",
    }[connection.vendor]
    chosen = sorted(words)
    for start in range(0, len(chosen), _AT_ONCE):
        unused = LemmaWord.objects.filter(word__in=chosen[start : start + _AT_ONCE])
        unused.extra(where=[f"NOT EXISTS ({has_word})"]).delete()  # noqa: S610


def _words_in(texts: Iterable[str]) -> set[str]:
    return {term for terms in texts for term in terms.split() if len(term) > 2 and not OF_FORMULA.match(term)}


def _add_words(tables: Tables, texts: Iterable[str]) -> None:
    """Add the words of these terms that are new."""
    words = _words_in(texts)
    known = set(tables.words.objects.filter(word__in=words).values_list("word", flat=True))
    if new := sorted(words - known):
        tables.words.objects.bulk_create([tables.words(word=word) for word in new])


def _row(lemma: Lemma, steps: "dict[tuple[int, str], tuple[str, int]]") -> dict[str, Any]:
    """The columns of its terms. `steps` has alias and attempt by run and call; a call taken over by a fork is attempt 0."""
    terms, form = _terms(lemma.statement)
    alias, attempt = steps.get((lemma.run_id, lemma.call), ("", 1))
    return {
        "lemma_id": lemma.pk,
        "run_id": lemma.run_id,
        "terms": terms,
        "form": form,
        "model": alias,
        "finding": "",
        "status": lemma.status,
        "confidence": lemma.confidence,
        "is_latest": True,
        "is_inherited": attempt == 0,
    }


def _terms(statement: str) -> tuple[str, str]:
    return " ".join(terms_of(statement)), form_of(statement)


def _texts_of(run: Run, names: Iterable[str]) -> "models.QuerySet[LemmaText]":
    return LemmaText.objects.filter(lemma__in=Lemma.objects.filter(run=run, lemma__in=names).order_by().values("pk"))
