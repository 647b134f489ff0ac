"""Cells store the calls that prepared other scripts; for finished cells they are counted from recorded steps."""

from django.db import migrations, models
from django.db.models import Count, Sum

#: As in `apps.reasoning.domain.spending` when this was written.
OFFLINE = ("clusterer", "analyst", "designer")


def count_steps(apps, schema_editor):
    cells = apps.get_model("grading", "ExperimentCell")
    steps = apps.get_model("runs", "Step").objects.filter(
        kind="call", attempt__gt=0, role__in=OFFLINE, run__cell__ended_at__isnull=False
    )
    spent = steps.order_by().values("run").annotate(
        calls=Count("pk"), prompt=Sum("prompt_tokens"), completion=Sum("completion_tokens")
    )
    for row in list(spent):
        tokens = row["prompt"] + row["completion"]
        cells.objects.filter(run=row["run"]).update(prepared_calls=row["calls"], prepared_tokens=tokens)


class Migration(migrations.Migration):
    dependencies = [("grading", "0040_cells_by_players_and_settings"), ("runs", "0004_runs_share_one_index")]

    operations = [
        migrations.AddField("experimentcell", "prepared_calls", models.PositiveIntegerField(default=0)),
        migrations.AddField("experimentcell", "prepared_tokens", models.PositiveBigIntegerField(default=0)),
        migrations.RunPython(count_steps, migrations.RunPython.noop),
    ]
