r"""Index the lemmas with `\dbinom` or `\tbinom` again: they now have the terms and the normal form of `\binom`."""

from django.db import migrations
from django.db.models import Q

from apps.lemmas.search.index import Tables, index_missing


def fill(apps, editor):
    names = (("lemmas", "Lemma"), ("lemmas", "LemmaText"), ("lemmas", "LemmaWord"), ("runs", "Step"), ("runs", "RunEvent"))
    tables = Tables(*(apps.get_model(*name) for name in names))
    changed = Q(lemma__statement__contains=r"\dbinom") | Q(lemma__statement__contains=r"\tbinom")
    tables.texts.objects.filter(changed).delete()
    index_missing(tables)


class Migration(migrations.Migration):
    dependencies = [("lemmas", "0008_fill_columns_of_runs")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
