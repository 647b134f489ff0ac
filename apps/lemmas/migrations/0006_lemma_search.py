"""The search terms of lemmas, with the full-text index of each database.

PostgreSQL needs the extension pg_trgm, which its own packages and images include. The owner of the database may create it.
"""

import django.db.models.deletion
from django.db import migrations, models

POSTGRESQL = (
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    "ALTER TABLE lemmas_lemmatext ADD COLUMN vector tsvector GENERATED ALWAYS AS (to_tsvector('simple', terms)) STORED",
    "CREATE INDEX lemmas_lemmatext_vector ON lemmas_lemmatext USING gin (vector)",
    "CREATE INDEX lemmas_lemmaword_trigrams ON lemmas_lemmaword USING gin (word gin_trgm_ops)",
)
SQLITE = (
    "CREATE VIRTUAL TABLE lemmas_terms USING fts5(terms, content='lemmas_lemmatext', content_rowid='lemma_id')",
    "CREATE TRIGGER lemmas_terms_added AFTER INSERT ON lemmas_lemmatext BEGIN "
    "INSERT INTO lemmas_terms (rowid, terms) VALUES (NEW.lemma_id, NEW.terms); END",
    "CREATE TRIGGER lemmas_terms_gone AFTER DELETE ON lemmas_lemmatext BEGIN "
    "INSERT INTO lemmas_terms (lemmas_terms, rowid, terms) VALUES ('delete', OLD.lemma_id, OLD.terms); END",
    "CREATE TRIGGER lemmas_terms_changed AFTER UPDATE OF terms ON lemmas_lemmatext BEGIN "
    "INSERT INTO lemmas_terms (lemmas_terms, rowid, terms) VALUES ('delete', OLD.lemma_id, OLD.terms); "
    "INSERT INTO lemmas_terms (rowid, terms) VALUES (NEW.lemma_id, NEW.terms); END",
)


def forwards(apps, editor):
    for sql in {"postgresql": POSTGRESQL, "sqlite": SQLITE}.get(editor.connection.vendor, ()):
        editor.execute(sql)


def backwards(apps, editor):
    if editor.connection.vendor == "sqlite":
        for name in ("added", "gone", "changed"):
            editor.execute(f"DROP TRIGGER lemmas_terms_{name}")
        editor.execute("DROP TABLE lemmas_terms")


class Migration(migrations.Migration):
    dependencies = [("lemmas", "0005_pairs_decided_by_people"), ("runs", "0005_inherited_counters")]

    operations = [
        migrations.CreateModel(
            name="LemmaText",
            fields=[
                (
                    "lemma",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="text",
                        serialize=False,
                        to="lemmas.lemma",
                    ),
                ),
                ("terms", models.TextField()),
                ("form", models.CharField(db_index=True, max_length=32)),
                ("model", models.CharField(blank=True, db_index=True, max_length=80)),
                ("finding", models.CharField(blank=True, max_length=14)),
                ("status", models.CharField(max_length=10)),
                ("confidence", models.FloatField(null=True)),
                ("is_latest", models.BooleanField(default=True)),
                ("is_inherited", models.BooleanField(default=False)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="lemma_texts", to="runs.run"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="LemmaWord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("word", models.CharField(db_index=True, max_length=60)),
            ],
        ),
        migrations.RunPython(forwards, backwards),
    ]
