"""A model's transcription of a page, stored with its picture."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("submissions", "0003_scans")]

    operations = [
        migrations.CreateModel(
            name="Transcription",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("alias", models.CharField(max_length=60)),
                ("revision", models.CharField(blank=True, help_text="Which weights answered.", max_length=200)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Waits to be read"),
                            ("running", "Being read"),
                            ("ready", "To be checked"),
                            ("failed", "Not read"),
                            ("declined", "Laid aside"),
                            ("taken", "In the text"),
                        ],
                        default="queued",
                        max_length=8,
                    ),
                ),
                ("text", models.TextField(blank=True)),
                ("edited", models.TextField(blank=True)),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("tries", models.PositiveSmallIntegerField(default=1)),
                ("tokens", models.PositiveIntegerField(default=0)),
                ("asked_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("done_at", models.DateTimeField(blank=True, null=True)),
                (
                    "scan",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="transcription",
                        to="submissions.scan",
                    ),
                ),
            ],
            options={
                "ordering": ["asked_at", "pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ("ready", "taken")), _negated=True)
                        | models.Q(("text", ""), _negated=True),
                        name="transcription_ready_has_text",
                    )
                ],
            },
        ),
    ]
