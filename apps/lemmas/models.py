"""Lemma, edge, verdict and proof rows: projections of a run's events, written by `projection.py`.

Nothing here is a source of truth: all rows can be rebuilt from `RunEvent`. Pages never write these rows. `LemmaPair`,
`KernelCheck`, `ModelReadings` and the checks of `later`, imported so that Django finds them, are kept by themselves.
"""

from collections.abc import Sequence
from typing import Any

from django.db import models

from apps.lemmas.kernel.models import KernelCheck as KernelCheck
from apps.lemmas.later.models import LaterCheck as LaterCheck
from apps.lemmas.later.models import LaterChecks as LaterChecks
from apps.lemmas.pairs.models import LemmaPair as LemmaPair
from apps.lemmas.readings.models import ModelReadings as ModelReadings
from apps.lemmas.titles import title_once
from apps.reasoning.domain.verdicts import NO_FAULT
from apps.reasoning.reading.proofs import WAY_WORDS
from apps.reasoning.story.lemmas import PROOF_PREFIX as PROOF_PREFIX
from apps.runs.models import Run


class LemmaState(models.TextChoices):
    """The states of the domain's `LemmaStatus`, with labels."""

    PROPOSED = "proposed", "not yet verified"
    VERIFIED = "verified", "verified"
    DOUBTFUL = "doubtful", "doubtful"
    REJECTED = "rejected", "rejected"
    REFUTED = "refuted", "refuted"
    RETIRED = "retired", "retired"
    MERGED = "merged", "merged"


class Judged(models.Model):
    """Combined votes on one subject. `confidence` is null while unverified, or with a reason in `unscored`.

    Until the verdict the counts grow with each vote; `expected` is the number of requested votes.
    """

    expected = models.PositiveIntegerField(default=0)
    passes = models.PositiveIntegerField(default=0)
    valid = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    confidence = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    unscored = models.TextField(blank=True)

    class Meta:
        abstract = True


class Lemma(Judged):
    """One lemma version of a run, under the id its events use (`s0.7`, `s0.7-fixed`).

    `judged` is the state by proposal and votes; `status` is shown, where `merged` and `retired` override it. `found_in` lists
    the rollouts that found it, those of lemmas merged into it included. `first_seq` and `last_seq` are the first and the
    newest event about it.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="lemmas", db_index=False)
    lemma = models.CharField(max_length=80)
    number = models.PositiveIntegerField()
    version = models.PositiveIntegerField(default=1)
    rollout = models.PositiveIntegerField()
    round = models.PositiveIntegerField()
    statement = models.TextField()
    title = models.CharField(max_length=120, default="", db_default="", help_text="The model's, else computed (titles.py).")
    steps: "models.JSONField[list[str], list[str]]" = models.JSONField(default=list)
    origin = models.CharField(max_length=10, default="model")
    call = models.CharField(max_length=180, blank=True)
    supersedes = models.CharField(max_length=80, blank=True)
    merged_into = models.CharField(max_length=80, blank=True)
    retired_reason = models.TextField(blank=True)
    is_retired = models.BooleanField(default=False)
    judged = models.CharField(max_length=10, choices=LemmaState, default=LemmaState.PROPOSED)
    status = models.CharField(max_length=10, choices=LemmaState, default=LemmaState.PROPOSED)
    found_in: "models.JSONField[list[int], list[int]]" = models.JSONField(default=list)
    first_seq = models.PositiveIntegerField()
    last_seq = models.PositiveIntegerField()

    class Meta:
        ordering = ["first_seq"]
        constraints = [models.UniqueConstraint(fields=["run", "lemma"], name="lemma_run_lemma")]

    def __str__(self) -> str:
        return self.lemma

    @property
    def rollouts_count(self) -> int:
        """Number of rollouts that found it."""
        return len(self.found_in)

    @property
    def label(self) -> str:
        """Its number, with a prime for each correction."""
        return f"{self.number}{'′' * (self.version - 1)}"

    @property
    def short_title(self) -> str:
        """A few words for drawings and lists."""
        return self.title or title_once(self.statement)

    @property
    def state_words(self) -> str:
        """Label of the status; `unscored` if no vote could be read."""
        return "unscored" if self.unscored and self.status == LemmaState.PROPOSED else self.get_status_display()

    @property
    def is_live(self) -> bool:
        """Whether it is in the library: neither merged nor retired."""
        return self.status not in (LemmaState.MERGED, LemmaState.RETIRED)


class LemmaText(models.Model):
    """The search terms of a lemma version (`reasoning.graph.terms`), written with its row by `search/index.py`.

    `form` is equal for statements that say the same. `model` is the alias that proposed it, empty without a call.
    `finding` is the outcome of its newest formula check. `status` and `confidence` are copies of the lemma's, for sorting.
    `is_inherited`: a fork took it over from its parent run. Migration 0005 adds what Django does not know: on PostgreSQL the
    column `vector` with its index, on SQLite the FTS5 table `lemmas_terms` with triggers on this table. A migration that
    remakes this table must make them again.
    """

    lemma = models.OneToOneField(Lemma, on_delete=models.CASCADE, primary_key=True, related_name="text")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="lemma_texts")
    terms = models.TextField()
    form = models.CharField(max_length=32, db_index=True)
    model = models.CharField(max_length=80, blank=True, db_index=True)
    finding = models.CharField(max_length=14, blank=True)
    status = models.CharField(max_length=10)
    confidence = models.FloatField(null=True)
    is_latest = models.BooleanField(default=True)
    is_inherited = models.BooleanField(default=False)


class LemmaWord(models.Model):
    """A word of the index, to find similarly spelled ones. Writers do not wait for each other, so a word may occur twice."""

    word = models.CharField(max_length=60, db_index=True)


class LemmaEdge(models.Model):
    """`user` (a lemma version or a proof id) uses the lemma `used`; `evidence` is a `TextAnchor`."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="lemma_edges", db_index=False)
    user = models.CharField(max_length=80)
    used = models.CharField(max_length=80)
    evidence: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField()
    seq = models.PositiveIntegerField()

    class Meta:
        ordering = ["seq"]
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="lemma_edge_seq")]
        indexes = [
            models.Index(fields=["run", "user"], name="lemma_edge_user"),
            models.Index(fields=["run", "used"], name="lemma_edge_used"),
        ]


class LemmaLikeness(models.Model):
    """Two lemmas look like near-duplicates; they are not merged automatically."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="lemma_likenesses", db_index=False)
    lemma = models.CharField(max_length=80)
    other = models.CharField(max_length=80)
    similarity = models.FloatField()
    seq = models.PositiveIntegerField()

    class Meta:
        ordering = ["-similarity", "seq"]
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="lemma_likeness_seq")]


class Verdict(models.Model):
    """One vote on a lemma version or a proof (`subject`), from its verifier call.

    Its texts on the steps are stored only in its event, `seq`: duplicates were a tenth of a contest run's database.
    `apps.lemmas.selectors.votes` reads both.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="verdicts", db_index=False)
    subject = models.CharField(max_length=80)
    index = models.PositiveIntegerField()
    of = models.PositiveIntegerField()
    call = models.CharField(max_length=180)
    first_fault = models.IntegerField(null=True)
    wrong_lemma = models.CharField(max_length=80, blank=True)
    unscored = models.TextField(blank=True)
    seq = models.PositiveIntegerField()

    checks: Sequence[dict[str, Any]] = ()
    summary: str = ""

    class Meta:
        ordering = ["seq"]
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="verdict_seq")]
        indexes = [models.Index(fields=["run", "subject"], name="verdict_subject")]

    @property
    def is_pass(self) -> bool:
        return not self.unscored and self.first_fault == NO_FAULT and not self.wrong_lemma


class HumanVerdict(models.Model):
    """A person's accept or reject of a lemma. It counts from `applied_seq` on; null means requested, not yet in effect."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="human_verdicts")
    command = models.CharField(max_length=80)
    lemma = models.CharField(max_length=80)
    accepted = models.BooleanField()
    by = models.CharField(max_length=150)
    reason = models.TextField(blank=True)
    refused = models.TextField(blank=True)
    requested_seq = models.PositiveIntegerField()
    applied_seq = models.PositiveIntegerField(null=True)

    class Meta:
        ordering = ["requested_seq"]
        constraints = [models.UniqueConstraint(fields=["run", "command"], name="human_verdict_command")]


class ProofVersion(Judged):
    """One version of the run's proof (`proof/1`; candidates `proof/3.2`). `selected` marks the selected proof."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="proof_versions")
    proof = models.CharField(max_length=80)
    text = models.TextField()
    steps: "models.JSONField[list[str], list[str]]" = models.JSONField(default=list)
    revises = models.CharField(max_length=80, blank=True)
    candidate = models.PositiveIntegerField(default=0)
    call = models.CharField(max_length=180, blank=True)
    read_as = models.CharField(
        max_length=10, default="tags", db_default="tags", help_text="How it was found in the answer (reading/proofs.py)."
    )
    rollout = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=14, blank=True)
    selected = models.BooleanField(default=False)
    accepted = models.BooleanField(null=True)
    selected_reason = models.TextField(blank=True)
    first_seq = models.PositiveIntegerField()
    last_seq = models.PositiveIntegerField()

    class Meta:
        ordering = ["first_seq"]
        constraints = [models.UniqueConstraint(fields=["run", "proof"], name="proof_version_run_proof")]

    @property
    def name(self) -> str:
        """The id without its prefix: `2`, `3.2`."""
        return self.proof.removeprefix(PROOF_PREFIX)

    @property
    def read_words(self) -> str:
        """How the proof was found in an answer that was not in the requested form."""
        return WAY_WORDS.get(self.read_as, "")
