"""Triggers on SQLite and PostgreSQL that keep sealed marks, decisions, views and records unchanged.

A sealed mark may become a draft again, until a grade rests on it or its marker was shown something. A migration that rebuilds
one of these tables on SQLite must create its triggers again.
"""

from django.conf import settings
from django.db import migrations, models

SEALED = ("sealed_sheet", "sealed_points", "task_id", "marker_id")
OPENED_AGAIN = (
    "NEW.state = 'draft' AND NEW.sealed_sheet IS NULL AND NEW.sealed_points IS NULL "
    "AND NOT EXISTS (SELECT 1 FROM marks_finalgrade WHERE mark_id = OLD.id) "
    "AND NOT EXISTS (SELECT 1 FROM marks_reveal AS shown JOIN marks_markingtask AS task ON task.case_id = shown.case_id "
    "WHERE task.id = OLD.task_id AND shown.person_id = OLD.marker_id)"
)
REVEAL = ("case_id", "kind", "suggestion_id", "mark_id", "trigger", "at")


def rules(differs):
    """Name, table, event, when it is refused, and with which words. `differs` is the database's word for it."""

    def changed(fields):
        return " OR ".join(f'NEW."{field}" {differs} OLD."{field}"' for field in fields)

    is_moved = f"({changed(SEALED)} OR NEW.state = 'draft')"
    return (
        ("mark_sealed_kept", "marks_mark", "UPDATE",
         f"OLD.sealed_sheet IS NOT NULL AND {is_moved} AND NOT ({OPENED_AGAIN})", "a sealed mark never changes"),
        ("mark_sealed_stays", "marks_mark", "DELETE", "OLD.sealed_sheet IS NOT NULL", "a sealed mark stays"),
        ("reveal_kept", "marks_reveal", "UPDATE",
         f"{changed(REVEAL)} OR (NEW.person_id {differs} OLD.person_id AND NEW.person_id IS NOT NULL)",
         "who was shown what never changes"),
        ("reveal_stays", "marks_reveal", "DELETE", "1 = 1", "who was shown what stays"),
        ("grade_kept", "marks_finalgrade", "UPDATE", "1 = 1", "a grade never changes: a later one supersedes it"),
        ("grade_stays", "marks_finalgrade", "DELETE", "1 = 1", "a grade stays: a later one supersedes it"),
        ("audit_kept", "marks_auditevent", "UPDATE", "1 = 1", "what was written down never changes"),
        ("audit_stays", "marks_auditevent", "DELETE", "1 = 1", "what was written down stays"),
    )  # fmt: skip


def forwards(apps, editor):
    if editor.connection.vendor == "sqlite":
        for name, table, event, refused, words in rules("IS NOT"):
            editor.execute(
                f"CREATE TRIGGER {name} BEFORE {event} ON {table} WHEN {refused} BEGIN SELECT RAISE(ABORT, '{words}'); END"
            )
    elif editor.connection.vendor == "postgresql":
        for name, table, event, refused, words in rules("IS DISTINCT FROM"):
            raised = f"RAISE EXCEPTION '{words}' USING ERRCODE = 'integrity_constraint_violation'"
            row = "OLD" if event == "DELETE" else "NEW"
            editor.execute(
                f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                f"IF {refused} THEN {raised}; END IF; RETURN {row}; END $$"
            )
            editor.execute(f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()")


def backwards(apps, editor):
    for name, table, *_ in rules("IS NOT"):
        if editor.connection.vendor == "sqlite":
            editor.execute(f"DROP TRIGGER {name}")
        elif editor.connection.vendor == "postgresql":
            editor.execute(f"DROP TRIGGER {name} ON {table}")
            editor.execute(f"DROP FUNCTION {name}()")


class Migration(migrations.Migration):
    dependencies = [
        ("contests", "0001_contests"),
        ("marks", "0001_marks"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="markingsetup",
            name="asks_place",
            field=models.BooleanField(
                default=True, help_text="Points between none and all need a reason with its place."
            ),
        ),
        migrations.RemoveConstraint(model_name="phrase", name="phrase_once"),
        migrations.AddConstraint(
            model_name="phrase",
            constraint=models.UniqueConstraint(fields=("problem", "author", "words"), name="phrase_once"),
        ),
        migrations.RunPython(forwards, backwards),
    ]
