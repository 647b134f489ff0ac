from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0006_planned"),
    ]

    operations = [
        migrations.AddField(
            model_name="solvingcell",
            name="text",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
    ]
