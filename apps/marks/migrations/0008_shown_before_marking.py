"""Who was shown something about a text before it came to marking. What is kept never changes, but that a person goes."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

TABLE, NAME, WORDS = "marks_earlyreveal", "early_reveal_kept", "who was shown what never changes"
FIELDS = ("submission_id", "kind", "trigger", "at")


def refused(differs):
    changed = " OR ".join(f'NEW."{field}" {differs} OLD."{field}"' for field in FIELDS)
    return f"{changed} OR (NEW.person_id {differs} OLD.person_id AND NEW.person_id IS NOT NULL)"


def forwards(apps, editor):
    if editor.connection.vendor == "sqlite":
        editor.execute(
            f"CREATE TRIGGER {NAME} BEFORE UPDATE ON {TABLE} WHEN {refused('IS NOT')} BEGIN SELECT RAISE(ABORT, '{WORDS}'); END"
        )
    elif editor.connection.vendor == "postgresql":
        editor.execute(
            f"CREATE FUNCTION {NAME}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"IF {refused('IS DISTINCT FROM')} THEN RAISE EXCEPTION '{WORDS}' USING ERRCODE = 'integrity_constraint_violation'; "
            "END IF; RETURN NEW; END $$"
        )
        editor.execute(f"CREATE TRIGGER {NAME} BEFORE UPDATE ON {TABLE} FOR EACH ROW EXECUTE FUNCTION {NAME}()")


def backwards(apps, editor):
    if editor.connection.vendor == "sqlite":
        editor.execute(f"DROP TRIGGER {NAME}")
    elif editor.connection.vendor == "postgresql":
        editor.execute(f"DROP TRIGGER {NAME} ON {TABLE}")
        editor.execute(f"DROP FUNCTION {NAME}()")


class Migration(migrations.Migration):
    dependencies = [
        ("marks", "0007_questions_and_hints_shown"),
        ("submissions", "0004_transcriptions"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="EarlyReveal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("locations", "Where findings are"),
                            ("findings", "Types and reasons"),
                            ("items", "Items and distribution"),
                            ("colleague", "A colleague's mark"),
                            ("precedents", "Precedents"),
                            ("question", "A marker's question"),
                            ("hints", "Hints for its author"),
                        ],
                        max_length=12,
                    ),
                ),
                ("trigger", models.CharField(max_length=40)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "person",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "submission",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="early_reveals",
                        to="submissions.submission",
                    ),
                ),
            ],
            options={
                "ordering": ["at", "pk"],
                "constraints": [
                    models.UniqueConstraint(fields=("submission", "person", "kind"), name="early_reveal_once")
                ],
            },
        ),
        migrations.RunPython(forwards, backwards),
    ]
