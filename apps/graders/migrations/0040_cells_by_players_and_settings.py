from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("grading", "0031_tryout_scripts")]

    operations = [
        migrations.AlterField("experimentcell", "alias", models.CharField(max_length=200)),
        migrations.AddField(
            "experimentcell", "settings", models.CharField(blank=True, default="", max_length=12), preserve_default=False
        ),
    ]
