"""A cell knows the seed of its repeat; one without is sampled with the seed of its experiment."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("grading", "0041_prepared_and_online_apart")]

    operations = [migrations.AddField("experimentcell", "seed", models.PositiveBigIntegerField(null=True))]
