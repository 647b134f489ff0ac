"""Folds a run's events into lemma, edge, verdict and proof rows.

`project` is called by the journal's writer in the transaction that adds the events; `rebuild` folds the stored events again.
Both give the same rows for any batching, and folding an event twice has no effect: a row stores its newest event (`last_seq`),
and constant rows are inserted once under `(run, seq)`.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import transaction

from apps.lemmas.fold import Fold
from apps.lemmas.models import HumanVerdict, Lemma, LemmaEdge, LemmaLikeness, ProofVersion, Verdict
from apps.lemmas.run_columns import run_columns_write
from apps.lemmas.search import index
from apps.reasoning.domain.events import Event
from apps.reasoning.story.vocabulary import event_from
from apps.runs.models import Run, RunEvent

StoredEvent = tuple[int, str, datetime, Event]
"""`(seq, key, at, event)` from the journal's writer."""

REBUILD_BATCH = 2_000


def project(run: Run, events: Sequence[StoredEvent]) -> None:
    """Fold `events` (ascending seq) into the rows of `run`. No query if none of them concerns lemmas or proofs."""
    folded = [(seq, event) for seq, _key, _at, event in events if event.kind in Fold.KINDS]
    if folded:
        Fold(run).apply(folded)
    index.follow(run, [event for _seq, _key, _at, event in events])


def rebuild(run: Run) -> int:
    """Drop the rows of `run` and fold its stored events again, in one transaction. Returns the number of events."""
    with transaction.atomic():
        words = index.words_of([run])
        for model in (Lemma, LemmaEdge, LemmaLikeness, Verdict, HumanVerdict, ProofVersion):
            model._default_manager.filter(run=run).delete()
        rows = RunEvent.objects.filter(run=run, kind__in=Fold.KINDS).order_by("seq")
        folded = 0
        for batch in _batches(rows.iterator(chunk_size=REBUILD_BATCH)):
            Fold(run).apply([(row.seq, event_from(row.kind, row.body)) for row in batch])
            folded += len(batch)
        index.index_run(run)
        index.words_forget(words)
        run_columns_write(run.pk)
    return folded


def _batches(rows: Iterable[RunEvent]) -> Iterable[list[RunEvent]]:
    batch: list[RunEvent] = []
    for row in rows:
        batch.append(row)
        if len(batch) == REBUILD_BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
