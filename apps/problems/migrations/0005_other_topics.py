from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("problems", "0004_levels_in_one_spelling")]

    operations = [
        migrations.AlterField(
            model_name="problem",
            name="topic",
            field=models.CharField(
                choices=[
                    ("A", "Algebra"),
                    ("C", "Combinatorics"),
                    ("G", "Geometry"),
                    ("N", "Number theory"),
                    ("O", "Other"),
                ],
                max_length=1,
            ),
        ),
    ]
