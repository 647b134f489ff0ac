"""Triggers on SQLite and PostgreSQL that keep submitted versions unchanged, except for their time of withdrawal."""

from django.db import migrations

MESSAGE = "a text that was handed in never changes"
FIELDS = (
    "public_id", "submission_id", "number", "format", "origin", "raw", "source", "digest", "segmenter", "handed_in_at",
)
VERSION = "submissions_submissionversion"


def forwards(apps, editor):
    if editor.connection.vendor == "sqlite":
        changed = " OR ".join(f"NEW.{field} IS NOT OLD.{field}" for field in FIELDS)
        editor.execute(
            f"CREATE TRIGGER submission_version_kept BEFORE UPDATE ON {VERSION} "
            f"WHEN {changed} BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END"
        )
    elif editor.connection.vendor == "postgresql":
        changed = " OR ".join(f"NEW.{field} IS DISTINCT FROM OLD.{field}" for field in FIELDS)
        raised = f"RAISE EXCEPTION '{MESSAGE}' USING ERRCODE = 'integrity_constraint_violation'"
        editor.execute(
            f"CREATE FUNCTION submission_version_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"IF {changed} THEN {raised}; END IF; RETURN NEW; END $$"
        )
        editor.execute(
            f"CREATE TRIGGER submission_version_kept BEFORE UPDATE ON {VERSION} "
            f"FOR EACH ROW EXECUTE FUNCTION submission_version_kept()"
        )


def backwards(apps, editor):
    if editor.connection.vendor == "sqlite":
        editor.execute("DROP TRIGGER submission_version_kept")
    elif editor.connection.vendor == "postgresql":
        editor.execute(f"DROP TRIGGER submission_version_kept ON {VERSION}")
        editor.execute("DROP FUNCTION submission_version_kept()")


class Migration(migrations.Migration):
    dependencies = [("submissions", "0001_submissions")]

    operations = [migrations.RunPython(forwards, backwards)]
