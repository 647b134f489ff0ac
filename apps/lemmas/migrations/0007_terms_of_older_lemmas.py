"""Index the lemmas of older runs, in batches. Interrupted, it continues where it was; `manage.py index_lemmas` does the same."""

from django.db import migrations

from apps.lemmas.search.index import Tables, index_missing


def fill(apps, editor):
    index_missing(
        Tables(
            apps.get_model("lemmas", "Lemma"),
            apps.get_model("lemmas", "LemmaText"),
            apps.get_model("lemmas", "LemmaWord"),
            apps.get_model("runs", "Step"),
            apps.get_model("runs", "RunEvent"),
        )
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("lemmas", "0006_lemma_search")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
