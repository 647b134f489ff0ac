from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('marks', '0005_suggestion_begun'),
    ]

    operations = [
        migrations.AddField(
            model_name='markingsetup',
            name='graders',
            field=models.JSONField(default=None, help_text='Names of graders asked for suggestions; empty for those of the settings.', null=True),
        ),
        migrations.AlterField(
            model_name='suggestion',
            name='grader',
            field=models.CharField(max_length=120),
        ),
        migrations.AddField(
            model_name='suggestion',
            name='lease_until',
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
