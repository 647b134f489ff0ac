# Files of points that people put up, and why a grader and a person disagree about a paper.

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("grading", "0010_experiments"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AgreementFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("filename", models.CharField(max_length=200)),
                ("data", models.BinaryField()),
                ("digest", models.CharField(help_text="sha-256 of the bytes, in hex.", max_length=64)),
                ("asked", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={"ordering": ["-created_at", "-pk"]},
        ),
        migrations.CreateModel(
            name="DisagreementBucket",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("source", models.CharField(max_length=80)),
                ("grader", models.CharField(max_length=200)),
                ("paper", models.CharField(max_length=200)),
                (
                    "bucket",
                    models.CharField(
                        choices=[
                            ("generous", "Over-generous"),
                            ("scheme", "Scheme ambiguous"),
                            ("missed", "Missed error"),
                            ("comprehension", "Misread the proof"),
                        ],
                        max_length=16,
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=500)),
                ("at", models.DateTimeField(auto_now=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["at", "pk"],
                "indexes": [models.Index(fields=["source", "grader"], name="buckets_of_grader")],
                "constraints": [
                    models.UniqueConstraint(fields=("source", "grader", "paper", "by"), name="bucket_of_person_once")
                ],
            },
        ),
    ]
