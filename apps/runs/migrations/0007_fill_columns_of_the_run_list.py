"""Models, seed, rounds and money of the runs that there are, in batches."""

from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Max, Sum

BATCH = 500


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    run, step = apps.get_model("runs", "Run"), apps.get_model("runs", "Step")
    last = 0
    while batch := list(run.objects.filter(pk__gt=last).order_by("pk").only("preset", "spec")[:BATCH]):
        last = batch[-1].pk
        rounds = dict(step.objects.filter(run__in=batch).order_by().values_list("run").annotate(Max("round")))
        for one in batch:
            names = {role.get("alias", "") for role in (one.spec.get("roles") or {}).values()} - {""}
            one.aliases = "".join(f"\n{name}" for name in sorted(names)) + "\n" if names else ""
            one.seed = None if one.preset == "imported" else one.spec.get("seed")
            one.rounds = rounds.get(one.pk) or 0
            prices = one.spec.get("prices") or {}
            one.money = money(step, one.pk, prices) if prices and names <= set(prices) else None
        run.objects.bulk_update(batch, ["aliases", "seed", "rounds", "money"])


def money(step: Any, run_pk: int, prices: dict[str, dict[str, float]]) -> float:
    """The cost of the calls that the run itself made; prices are per million tokens."""
    asked = step.objects.filter(run=run_pk, kind="call", alias__in=prices).exclude(attempt=0).order_by()
    rows = asked.values_list("alias").annotate(Sum("prompt_tokens"), Sum("completion_tokens"))
    return sum(prices[name]["input"] * prompt + prices[name]["output"] * answer for name, prompt, answer in rows) / 1_000_000


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("runs", "0006_columns_of_the_run_list")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
