"""Statements of geometry that a model drafts."""

import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('problems', '0007_problem_hint'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='GeometryDraft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('words', models.TextField()),
                ('alias', models.CharField(max_length=80)),
                ('state', models.CharField(choices=[('queued', 'waiting'), ('running', 'under way'), ('done', 'done'), ('failed', 'failed')], default='queued', max_length=10)),
                ('text', models.TextField(blank=True)),
                ('refusal', models.TextField(blank=True)),
                ('reason', models.CharField(blank=True, max_length=500)),
                ('asked_at', models.DateTimeField(auto_now_add=True)),
                ('started_at', models.DateTimeField(null=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='geometry_drafts', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['asked_at', 'pk'],
            },
        ),
    ]
