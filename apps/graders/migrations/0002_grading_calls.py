from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('grading', '0001_prepared_pieces'),
    ]

    operations = [
        migrations.CreateModel(
            name='GradingCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('grading', models.CharField(max_length=32)),
                ('key', models.CharField(max_length=180)),
                ('record', models.JSONField()),
                ('at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('grading', 'key'), name='grading_call_once')],
            },
        ),
    ]
