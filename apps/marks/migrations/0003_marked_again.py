from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("marks", "0002_sealed_for_ever")]

    operations = [
        migrations.AlterField(
            model_name="markingtask",
            name="slot",
            field=models.CharField(
                choices=[
                    ("first", "First mark"),
                    ("second", "Second mark"),
                    ("third", "Fresh mark"),
                    ("calibration", "Calibration"),
                    ("remark", "Re-mark"),
                    ("appeal", "Answer to an appeal"),
                    ("again", "Marked again, the scheme was changed"),
                ],
                max_length=12,
            ),
        ),
    ]
