"""The tables of `experiments` were made by the migrations of `grading`; only the state of the models moves here."""

from django.conf import settings
from django.db import migrations, models
import django.db.models.deletion
import uuid


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('contests', '0002_deleted_and_external_ids'),
        ('grading', '0042_seeds_of_repeats'),
        ('graded_sets', '0001_from_grading'),
        ('runs', '0005_inherited_counters'),
        ('submissions', '0004_transcriptions'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name='ExperimentCell',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('position', models.PositiveIntegerField()),
                        ('problem', models.CharField(max_length=64)),
                        ('workflow', models.CharField(max_length=60)),
                        ('alias', models.CharField(max_length=200)),
                        ('settings', models.CharField(blank=True, max_length=12)),
                        ('seed', models.PositiveBigIntegerField(null=True)),
                        ('prepares', models.BooleanField(default=False)),
                        ('attempt', models.PositiveSmallIntegerField(default=1)),
                        ('state', models.CharField(choices=[('waiting', 'waiting'), ('running', 'being graded'), ('scored', 'scored'), ('unscored', 'unscored'), ('failed', 'failed'), ('cancelled', 'cancelled')], default='waiting', max_length=10)),
                        ('trouble', models.TextField(blank=True)),
                        ('points', models.DecimalField(decimal_places=2, max_digits=6, null=True)),
                        ('scale', models.DecimalField(decimal_places=2, max_digits=6, null=True)),
                        ('unscored', models.TextField(blank=True)),
                        ('findings', models.PositiveSmallIntegerField(default=0)),
                        ('suspicious', models.PositiveSmallIntegerField(default=0)),
                        ('calls', models.PositiveIntegerField(default=0)),
                        ('tokens', models.PositiveBigIntegerField(default=0)),
                        ('prepared_calls', models.PositiveIntegerField(default=0)),
                        ('prepared_tokens', models.PositiveBigIntegerField(default=0)),
                        ('seconds', models.FloatField(default=0.0)),
                        ('ended_at', models.DateTimeField(null=True)),
                    ],
                    options={
                        'db_table': 'grading_experimentcell',
                        'ordering': ['position'],
                    },
                ),
                migrations.CreateModel(
                    name='Experiment',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('start_id', models.UUIDField(editable=False, help_text='The form it was started with.', null=True, unique=True)),
                        ('title', models.CharField(max_length=120)),
                        ('chosen', models.CharField(blank=True, help_text='Which scripts, in words.', max_length=300)),
                        ('workflows', models.JSONField()),
                        ('aliases', models.JSONField()),
                        ('params', models.JSONField(default=dict)),
                        ('at_once', models.PositiveSmallIntegerField(default=4)),
                        ('state', models.CharField(choices=[('running', 'running'), ('paused', 'paused'), ('done', 'done'), ('cancelled', 'cancelled')], default='running', max_length=10)),
                        ('state_reason', models.TextField(blank=True)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('begun_at', models.DateTimeField(null=True)),
                        ('ended_at', models.DateTimeField(null=True)),
                        ('contest', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='experiments', to='contests.contest')),
                    ],
                    options={
                        'db_table': 'grading_experiment',
                        'ordering': ['-created_at', '-pk'],
                    },
                ),
                migrations.AddField(
                    model_name='experiment',
                    name='graded_set',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='experiments', to='graded_sets.gradedset'),
                ),
                migrations.AddField(
                    model_name='experiment',
                    name='owner',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
                ),
                migrations.AddField(
                    model_name='experimentcell',
                    name='experiment',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cells', to='experiments.experiment'),
                ),
                migrations.AddField(
                    model_name='experimentcell',
                    name='run',
                    field=models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='cell', to='runs.run'),
                ),
                migrations.AddField(
                    model_name='experimentcell',
                    name='script',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='cells', to='graded_sets.gradedscript'),
                ),
                migrations.AddField(
                    model_name='experimentcell',
                    name='version',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='submissions.submissionversion'),
                ),
                migrations.AddConstraint(
                    model_name='experiment',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('contest__isnull', False), ('graded_set__isnull', True)), models.Q(('contest__isnull', True), ('graded_set__isnull', False)), _connector='OR'), name='experiment_of_one_source'),
                ),
                migrations.AddIndex(
                    model_name='experimentcell',
                    index=models.Index(fields=['experiment', 'state', 'position'], name='cell_state'),
                ),
                migrations.AddIndex(
                    model_name='experimentcell',
                    index=models.Index(fields=['experiment', 'ended_at'], name='cell_ended'),
                ),
                migrations.AddIndex(
                    model_name='experimentcell',
                    index=models.Index(fields=['experiment', 'problem', 'workflow', 'alias'], name='cell_group'),
                ),
                migrations.AddConstraint(
                    model_name='experimentcell',
                    constraint=models.UniqueConstraint(fields=('experiment', 'position'), name='cell_position'),
                ),
                migrations.AddConstraint(
                    model_name='experimentcell',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('script__isnull', True), ('version__isnull', False)), models.Q(('script__isnull', False), ('version__isnull', True)), _connector='OR'), name='cell_of_one_script'),
                ),
                migrations.AddConstraint(
                    model_name='experimentcell',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'scored'), _negated=True), models.Q(('points__isnull', False), ('unscored', '')), _connector='OR'), name='cell_scored_has_points'),
                ),
                migrations.AddConstraint(
                    model_name='experimentcell',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'unscored'), _negated=True), ('points__isnull', True), _connector='OR'), name='cell_unscored_has_none'),
                ),
            ],
        ),
    ]
