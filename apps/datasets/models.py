"""Locations of recorded calls' tokens, and immutable dataset versions. The database contains no tokens."""

import uuid
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models

from apps.runs.models import Run


class TokenShard(models.Model):
    """One Parquet file of captured calls of one run, all sampled under the same policy, tokenizer and chat template.

    `uri` is the file's path below `DATA_DIR/tokens`. `logprobs_of` names the distribution of the log-probabilities
    (`apps.reasoning.domain.generation.Capture`).
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="token_shards")
    uri = models.CharField(max_length=200, unique=True)
    sha256 = models.CharField(max_length=64)
    rows = models.PositiveIntegerField()
    size = models.PositiveBigIntegerField()
    tokenizer = models.CharField(max_length=64)
    chat_template = models.CharField(max_length=64, blank=True)
    policy = models.CharField(max_length=200)
    logprobs_of = models.CharField(max_length=10)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.uri


class TokenRow(models.Model):
    """Location of one completion's tokens. `key` is the call's key in the journal; `sample` 0 is its answer, 1 … the others."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="token_rows", db_index=False)
    key = models.CharField(max_length=180)
    sample = models.PositiveSmallIntegerField(default=0)
    shard = models.ForeignKey(TokenShard, on_delete=models.CASCADE, related_name="places")
    row = models.PositiveIntegerField()

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["run", "key", "sample"], name="token_row_once")]


class DatasetVersion(models.Model):
    """One immutable version of a dataset: a folder `DATA_DIR/<path>` with `rows/*.parquet` and `manifest.json`.

    `hash` is the SHA-256 of the manifest, which contains the hashes of all files. `counts` is a part of the manifest.
    """

    name = models.CharField(max_length=60)
    version = models.PositiveIntegerField()
    path = models.CharField(max_length=200, unique=True)
    hash = models.CharField(max_length=64)
    recipe = models.CharField(max_length=40)
    options: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict)
    counts: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict)
    rows_count = models.PositiveIntegerField()
    has_logprobs = models.BooleanField()
    has_tokens = models.BooleanField(default=True, help_text="False: texts only, which the trainer's environment tokenises.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created", "-pk"]
        constraints = [models.UniqueConstraint(fields=["name", "version"], name="dataset_version_once")]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"

    @property
    def folder(self) -> Path:
        return Path(settings.DATA_DIR) / self.path


class DatasetBuild(models.Model):
    """One build of a version: its order, state and result. Its program writes only `progress.json`."""

    class State(models.TextChoices):
        MAKING = "making", "making"
        READY = "ready", "ready"
        FAILED = "failed", "failed"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=60)
    recipe = models.CharField(max_length=40)
    options: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict)
    runs: "models.JSONField[list[str], list[str]]" = models.JSONField(default=list)
    state = models.CharField(max_length=10, choices=State, default=State.MAKING)
    message = models.TextField(blank=True)
    pid = models.PositiveIntegerField(null=True)
    version = models.OneToOneField(DatasetVersion, null=True, on_delete=models.CASCADE, related_name="build")
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created = models.DateTimeField(auto_now_add=True)
    ended = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created", "-pk"]

    def __str__(self) -> str:
        return self.name
