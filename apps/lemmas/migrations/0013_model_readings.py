"""Readings by a model, and their requests."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('lemmas', '0012_kernel_checks'),
        ('runs', '0007_fill_columns_of_the_run_list'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ModelReadings',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('subject', models.CharField(max_length=80)),
                ('alias', models.CharField(max_length=80)),
                ('state', models.CharField(choices=[('queued', 'waiting'), ('running', 'under way'), ('done', 'done'), ('failed', 'failed')], default='queued', max_length=10)),
                ('reason', models.CharField(blank=True, max_length=500)),
                ('items', models.JSONField(default=list)),
                ('left', models.PositiveIntegerField(default=0)),
                ('calls', models.PositiveIntegerField(default=0)),
                ('tokens', models.PositiveIntegerField(default=0)),
                ('asked_at', models.DateTimeField()),
                ('touched_at', models.DateTimeField()),
                ('asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='model_readings', to='runs.run')),
            ],
            options={
                'ordering': ['asked_at', 'pk'],
                'constraints': [models.UniqueConstraint(fields=('run', 'subject', 'alias'), name='model_readings_once')],
            },
        ),
    ]
