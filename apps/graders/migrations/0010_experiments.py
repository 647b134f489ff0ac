"""Imported sets with points by people, and experiments over scripts."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("contests", "0001_contests"),
        ("grading", "0002_grading_calls"),
        ("problems", "0004_levels_in_one_spelling"),
        ("runs", "0004_runs_share_one_index"),
        ("submissions", "0003_scans"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="GradedSet",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("title", models.CharField(max_length=120)),
                ("shape", models.CharField(max_length=40)),
                ("credit", models.CharField(max_length=200)),
                ("licence", models.CharField(max_length=80)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("left_out", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "imported_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"ordering": ["title", "pk"]},
        ),
        migrations.CreateModel(
            name="GradedScript",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("position", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=150)),
                ("problem_name", models.CharField(max_length=150)),
                ("author", models.CharField(blank=True, max_length=150)),
                (
                    "author_kind",
                    models.CharField(choices=[("student", "Student"), ("model", "Model")], default="model", max_length=8),
                ),
                ("text", models.TextField(blank=True)),
                ("digest", models.CharField(help_text="sha-256 of the text, in hex.", max_length=64)),
                ("issues", models.JSONField(default=list)),
                (
                    "graded_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="scripts", to="grading.gradedset"
                    ),
                ),
                (
                    "problem",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="problems.problemversion",
                    ),
                ),
            ],
            options={"ordering": ["position"]},
        ),
        migrations.CreateModel(
            name="HumanScore",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("rater", models.CharField(max_length=150)),
                ("points", models.DecimalField(decimal_places=2, max_digits=6)),
                ("out_of", models.DecimalField(decimal_places=2, max_digits=6)),
                ("words", models.TextField(blank=True)),
                (
                    "script",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="human_scores",
                        to="grading.gradedscript",
                    ),
                ),
            ],
            options={"ordering": ["rater", "pk"]},
        ),
        migrations.CreateModel(
            name="Experiment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "start_id",
                    models.UUIDField(editable=False, help_text="The form it was started with.", null=True, unique=True),
                ),
                ("title", models.CharField(max_length=120)),
                ("chosen", models.CharField(blank=True, help_text="Which scripts, in words.", max_length=300)),
                ("workflows", models.JSONField()),
                ("aliases", models.JSONField()),
                ("params", models.JSONField(default=dict)),
                ("at_once", models.PositiveSmallIntegerField(default=4)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("running", "running"),
                            ("paused", "paused"),
                            ("done", "done"),
                            ("cancelled", "cancelled"),
                        ],
                        default="running",
                        max_length=10,
                    ),
                ),
                ("state_reason", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("begun_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "contest",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="experiments",
                        to="contests.contest",
                    ),
                ),
                (
                    "graded_set",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="experiments",
                        to="grading.gradedset",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"ordering": ["-created_at", "-pk"]},
        ),
        migrations.CreateModel(
            name="ExperimentCell",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("position", models.PositiveIntegerField()),
                ("problem", models.CharField(max_length=64)),
                ("workflow", models.CharField(max_length=60)),
                ("alias", models.CharField(max_length=80)),
                ("prepares", models.BooleanField(default=False)),
                ("attempt", models.PositiveSmallIntegerField(default=1)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("running", "being graded"),
                            ("scored", "scored"),
                            ("unscored", "unscored"),
                            ("failed", "failed"),
                            ("cancelled", "cancelled"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("trouble", models.TextField(blank=True)),
                ("points", models.DecimalField(decimal_places=2, max_digits=6, null=True)),
                ("scale", models.DecimalField(decimal_places=2, max_digits=6, null=True)),
                ("unscored", models.TextField(blank=True)),
                ("findings", models.PositiveSmallIntegerField(default=0)),
                ("suspicious", models.PositiveSmallIntegerField(default=0)),
                ("calls", models.PositiveIntegerField(default=0)),
                ("tokens", models.PositiveBigIntegerField(default=0)),
                ("seconds", models.FloatField(default=0.0)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "experiment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="cells", to="grading.experiment"
                    ),
                ),
                (
                    "run",
                    models.OneToOneField(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="cell", to="runs.run"
                    ),
                ),
                (
                    "script",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="cells",
                        to="grading.gradedscript",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="submissions.submissionversion",
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
                "indexes": [
                    models.Index(fields=["experiment", "state", "position"], name="cell_state"),
                    models.Index(fields=["experiment", "ended_at"], name="cell_ended"),
                    models.Index(fields=["experiment", "problem", "workflow", "alias"], name="cell_group"),
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="gradedscript",
            constraint=models.UniqueConstraint(fields=("graded_set", "position"), name="graded_script_position"),
        ),
        migrations.AddConstraint(
            model_name="gradedscript",
            constraint=models.UniqueConstraint(fields=("graded_set", "name"), name="graded_script_name"),
        ),
        migrations.AddConstraint(
            model_name="humanscore",
            constraint=models.UniqueConstraint(fields=("script", "rater"), name="human_score_once"),
        ),
        migrations.AddConstraint(
            model_name="humanscore",
            constraint=models.CheckConstraint(
                condition=models.Q(("points__gte", 0), ("points__lte", models.F("out_of")), ("out_of__gt", 0)),
                name="human_score_on_its_scale",
            ),
        ),
        migrations.AddConstraint(
            model_name="experiment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("contest__isnull", False), ("graded_set__isnull", True)),
                    models.Q(("contest__isnull", True), ("graded_set__isnull", False)),
                    _connector="OR",
                ),
                name="experiment_of_one_source",
            ),
        ),
        migrations.AddConstraint(
            model_name="experimentcell",
            constraint=models.UniqueConstraint(fields=("experiment", "position"), name="cell_position"),
        ),
        migrations.AddConstraint(
            model_name="experimentcell",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("script__isnull", True), ("version__isnull", False)),
                    models.Q(("script__isnull", False), ("version__isnull", True)),
                    _connector="OR",
                ),
                name="cell_of_one_script",
            ),
        ),
        migrations.AddConstraint(
            model_name="experimentcell",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "scored"), _negated=True),
                    models.Q(("points__isnull", False), ("unscored", "")),
                    _connector="OR",
                ),
                name="cell_scored_has_points",
            ),
        ),
        migrations.AddConstraint(
            model_name="experimentcell",
            constraint=models.CheckConstraint(
                condition=models.Q(models.Q(("state", "unscored"), _negated=True), ("points__isnull", True), _connector="OR"),
                name="cell_unscored_has_none",
            ),
        ),
    ]
