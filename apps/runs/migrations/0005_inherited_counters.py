"""Counters of what a fork took over, counted from the recorded calls of the forks that there are."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def count_inherited(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    run, step = apps.get_model("runs", "Run"), apps.get_model("runs", "Step")
    sums = {
        "inherited_calls": models.Count("pk"),
        "inherited_prompt_tokens": models.Sum("prompt_tokens"),
        "inherited_completion_tokens": models.Sum("completion_tokens"),
    }
    for row in step.objects.filter(kind="call", attempt=0).order_by().values("run").annotate(**sums):
        run.objects.filter(pk=row.pop("run")).update(**row)


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0004_runs_share_one_index"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="inherited_calls",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="run",
            name="inherited_completion_tokens",
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="run",
            name="inherited_prompt_tokens",
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.RunPython(count_inherited, migrations.RunPython.noop),
    ]
