"""Triggers on SQLite and PostgreSQL that keep versions unchanged once they have been active.

Status, who activated or retired, and when it was first used may change; what the version says may not. Deleting is left to foreign
keys: marks protect the versions they were made with.
"""

from django.db import migrations

MESSAGE = "a scheme version that was active never changes"
FIELDS = ("scheme_id", "number", "parent_id", "body", "content_hash", "meaning_hash", "is_wording_only", "reason")
VERSION, ITEM = "schemes_schemeversion", "schemes_schemeitem"


def forwards(apps, editor):
    if editor.connection.vendor == "sqlite":
        changed = " OR ".join(f"NEW.{field} IS NOT OLD.{field}" for field in FIELDS)
        editor.execute(
            f"CREATE TRIGGER scheme_version_kept BEFORE UPDATE ON {VERSION} "
            f"WHEN OLD.status <> 'draft' AND (NEW.status = 'draft' OR {changed}) BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END"
        )
        editor.execute(
            f"CREATE TRIGGER scheme_item_kept BEFORE UPDATE ON {ITEM} "
            f"WHEN (SELECT status FROM {VERSION} WHERE id = OLD.version_id) <> 'draft' BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END"
        )
    elif editor.connection.vendor == "postgresql":
        changed = " OR ".join(f"NEW.{field} IS DISTINCT FROM OLD.{field}" for field in FIELDS)
        raised = f"RAISE EXCEPTION '{MESSAGE}' USING ERRCODE = 'integrity_constraint_violation'"
        editor.execute(
            f"CREATE FUNCTION scheme_version_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"IF OLD.status <> 'draft' AND (NEW.status = 'draft' OR {changed}) THEN {raised}; END IF; RETURN NEW; END $$"
        )
        editor.execute(
            f"CREATE FUNCTION scheme_item_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"IF (SELECT status FROM {VERSION} WHERE id = OLD.version_id) <> 'draft' THEN {raised}; END IF; RETURN NEW; END $$"
        )
        for name, table in (("scheme_version_kept", VERSION), ("scheme_item_kept", ITEM)):
            editor.execute(f"CREATE TRIGGER {name} BEFORE UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()")


def backwards(apps, editor):
    for name, table in (("scheme_version_kept", VERSION), ("scheme_item_kept", ITEM)):
        if editor.connection.vendor == "sqlite":
            editor.execute(f"DROP TRIGGER {name}")
        elif editor.connection.vendor == "postgresql":
            editor.execute(f"DROP TRIGGER {name} ON {table}")
            editor.execute(f"DROP FUNCTION {name}()")


class Migration(migrations.Migration):
    dependencies = [("schemes", "0001_marking_schemes")]

    operations = [migrations.RunPython(forwards, backwards)]
