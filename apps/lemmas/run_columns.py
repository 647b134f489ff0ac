"""Columns of a run that count its lemmas, for the list of runs. Written in the transaction that changes the lemmas."""

import functools

from django.db import connection

from apps.lemmas.models import Lemma, LemmaState, ProofVersion
from apps.runs.models import Run


def run_columns_write(run_pk: int) -> None:
    """Count the lemmas of a run, without merged ones, and those verified; take the confidence of its selected proof.

    Plain SQL like `apps.runs.journal.rows`: it runs at most once a commit of the journal.
    """
    with connection.cursor() as cursor:
        cursor.execute(_sql(), [LemmaState.MERGED, LemmaState.VERIFIED, run_pk])


@functools.cache
def _sql() -> str:
    run, lemma, proof = (f'"{model._meta.db_table}"' for model in (Run, Lemma, ProofVersion))
    return (
        f"UPDATE {run} SET "  # noqa: S608  (names of ours)
        f"lemmas_count = (SELECT COUNT(*) FROM {lemma} WHERE run_id = {run}.id AND status <> %s), "
        f"lemmas_held = (SELECT COUNT(*) FROM {lemma} WHERE run_id = {run}.id AND status = %s), "
        f"confidence = (SELECT MAX(confidence) FROM {proof} WHERE run_id = {run}.id AND selected) "
        "WHERE id = %s"
    )
