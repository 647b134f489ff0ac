import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0001_results"),
    ]

    operations = [
        migrations.AddField(
            model_name="feedbackrules",
            name="guesser",
            field=models.CharField(
                blank=True, help_text="The model that tests how much hints reveal.", max_length=60, default=""
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="feedbackrules",
            name="writer",
            field=models.CharField(
                blank=True, help_text="The model that proposes hints; empty for none.", max_length=60, default=""
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="rungasked",
            name="origin",
            field=models.CharField(
                choices=[
                    ("coach", "Written by a coach"),
                    ("model", "Written by AI, read and approved by a coach"),
                    ("changed", "Written by AI, changed by a coach"),
                ],
                default="coach",
                max_length=8,
            ),
        ),
        migrations.CreateModel(
            name="HintProposal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("writer", models.CharField(max_length=60)),
                ("guesser", models.CharField(blank=True, max_length=60)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Being written"),
                            ("ready", "To be approved"),
                            ("failed", "Failed"),
                            ("declined", "Declined"),
                            ("given", "Given"),
                        ],
                        default="queued",
                        max_length=8,
                    ),
                ),
                ("text", models.TextField(blank=True)),
                ("level", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("dropped", models.JSONField(default=list)),
                ("gain", models.FloatField(blank=True, null=True)),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("calls", models.PositiveIntegerField(default=0)),
                ("tokens", models.PositiveIntegerField(default=0)),
                ("asked_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("done_at", models.DateTimeField(blank=True, null=True)),
                (
                    "rung",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="proposal", to="results.rungasked"
                    ),
                ),
            ],
            options={
                "ordering": ["asked_at", "pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ("ready", "given")), _negated=True)
                        | models.Q(("text", ""), _negated=True),
                        name="proposal_ready_has_text",
                    ),
                ],
            },
        ),
    ]
