"""Lemmas and confidence of the runs that there are, in batches."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Count, Q

BATCH = 500


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    run, lemma = apps.get_model("runs", "Run"), apps.get_model("lemmas", "Lemma")
    proof = apps.get_model("lemmas", "ProofVersion")
    last = 0
    while batch := list(run.objects.filter(pk__gt=last).order_by("pk").only("pk")[:BATCH]):
        last = batch[-1].pk
        counted = lemma.objects.filter(run__in=batch).exclude(status="merged").order_by().values_list("run")
        counts = {pk: (of, held) for pk, of, held in counted.annotate(of=Count("pk"), held=Count("pk", filter=Q(status="verified")))}
        selected = dict(proof.objects.filter(run__in=batch, selected=True).order_by().values_list("run", "confidence"))
        for one in batch:
            one.lemmas_count, one.lemmas_held = counts.get(one.pk, (0, 0))
            one.confidence = selected.get(one.pk)
        run.objects.bulk_update(batch, ["lemmas_count", "lemmas_held", "confidence"])


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("lemmas", "0007_terms_of_older_lemmas"), ("runs", "0006_columns_of_the_run_list")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
