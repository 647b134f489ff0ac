from django.db import migrations, models
from django.db.models import FloatField, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce


def seconds_count_calls_only(apps, schema_editor):
    """The seconds of a cell counted its tools and formula checks too."""
    calls = apps.get_model("runs", "Step").objects.filter(run=OuterRef("run"), kind="call").order_by().values("run")
    took = Subquery(calls.annotate(took=Sum("duration_s")).values("took"), output_field=FloatField())
    cells = apps.get_model("experiments", "SolvingCell").objects.filter(run__isnull=False, state="finished")
    cells.update(seconds=Coalesce(took, 0.0))


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0006_planned"),
        ("runs", "0005_inherited_counters"),
    ]

    operations = [
        migrations.AddField(
            model_name="solvingcell",
            name="text",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.RunPython(seconds_count_calls_only, migrations.RunPython.noop),
    ]
