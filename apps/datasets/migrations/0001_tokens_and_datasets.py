import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('runs', '0004_runs_share_one_index'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='TokenShard',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uri', models.CharField(max_length=200, unique=True)),
                ('sha256', models.CharField(max_length=64)),
                ('rows', models.PositiveIntegerField()),
                ('size', models.PositiveBigIntegerField()),
                ('tokenizer', models.CharField(max_length=64)),
                ('chat_template', models.CharField(blank=True, max_length=64)),
                ('policy', models.CharField(max_length=200)),
                ('logprobs_of', models.CharField(max_length=10)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='token_shards', to='runs.run')),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='TokenRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=180)),
                ('sample', models.PositiveSmallIntegerField(default=0)),
                ('row', models.PositiveIntegerField()),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='token_rows', to='runs.run')),
                ('shard', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='places', to='datasets.tokenshard')),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('run', 'key', 'sample'), name='token_row_once')],
            },
        ),
        migrations.CreateModel(
            name='DatasetVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60)),
                ('version', models.PositiveIntegerField()),
                ('path', models.CharField(max_length=200, unique=True)),
                ('hash', models.CharField(max_length=64)),
                ('recipe', models.CharField(max_length=40)),
                ('options', models.JSONField(default=dict)),
                ('counts', models.JSONField(default=dict)),
                ('rows_count', models.PositiveIntegerField()),
                ('has_logprobs', models.BooleanField()),
                ('has_tokens', models.BooleanField(default=True, help_text='False: texts only, which the trainer\'s environment tokenises.')),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created', '-pk'],
                'constraints': [models.UniqueConstraint(fields=('name', 'version'), name='dataset_version_once')],
            },
        ),
        migrations.CreateModel(
            name='DatasetBuild',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(max_length=60)),
                ('recipe', models.CharField(max_length=40)),
                ('options', models.JSONField(default=dict)),
                ('runs', models.JSONField(default=list)),
                ('state', models.CharField(choices=[('making', 'making'), ('ready', 'ready'), ('failed', 'failed')], default='making', max_length=10)),
                ('message', models.TextField(blank=True)),
                ('pid', models.PositiveIntegerField(null=True)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('ended', models.DateTimeField(null=True)),
                ('started_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('version', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='build', to='datasets.datasetversion')),
            ],
            options={
                'ordering': ['-created', '-pk'],
            },
        ),
    ]
