"""Answers of proof assistants on formulas."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('lemmas', '0011_later_checks'),
        ('runs', '0007_fill_columns_of_the_run_list'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='KernelCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('subject', models.CharField(max_length=80)),
                ('text_id', models.CharField(max_length=40)),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('tool', models.CharField(max_length=10)),
                ('state', models.CharField(choices=[('queued', 'waiting'), ('running', 'under way'), ('done', 'done')], default='queued', max_length=10)),
                ('result', models.JSONField(default=dict)),
                ('asked_at', models.DateTimeField()),
                ('asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='kernel_checks', to='runs.run')),
            ],
            options={
                'ordering': ['asked_at', 'pk'],
                'constraints': [models.UniqueConstraint(fields=('run', 'subject', 'text_id', 'start', 'end', 'tool'), name='kernel_check_once')],
            },
        ),
    ]
