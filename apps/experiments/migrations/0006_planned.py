from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0005_rehearsals"),
    ]

    operations = [
        migrations.AlterField(
            model_name="experiment",
            name="state",
            field=models.CharField(
                choices=[
                    ("planned", "planned"),
                    ("running", "running"),
                    ("paused", "paused"),
                    ("done", "done"),
                    ("cancelled", "cancelled"),
                ],
                default="running",
                max_length=10,
            ),
        ),
    ]
