"""The tables of `graded_sets` were made by the migrations of `grading`; only the state of the models moves here."""

import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ("grading", "0042_seeds_of_repeats"),
        ('problems', '0006_is_listed'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name='GradedSet',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('title', models.CharField(max_length=120)),
                        ('shape', models.CharField(max_length=40)),
                        ('credit', models.CharField(max_length=200)),
                        ('licence', models.CharField(max_length=80)),
                        ('digest', models.CharField(max_length=64, unique=True)),
                        ('left_out', models.JSONField(default=list)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('imported_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'db_table': 'grading_gradedset',
                        'ordering': ['title', 'pk'],
                    },
                ),
                migrations.CreateModel(
                    name='GradedScript',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('position', models.PositiveIntegerField()),
                        ('name', models.CharField(max_length=150)),
                        ('problem_name', models.CharField(max_length=150)),
                        ('author', models.CharField(blank=True, max_length=150)),
                        ('author_kind', models.CharField(choices=[('student', 'Student'), ('model', 'Model')], default='model', max_length=8)),
                        ('text', models.TextField(blank=True)),
                        ('digest', models.CharField(help_text='sha-256 of the text, in hex.', max_length=64)),
                        ('issues', models.JSONField(default=list)),
                        ('problem', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='problems.problemversion')),
                        ('graded_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scripts', to='graded_sets.gradedset')),
                    ],
                    options={
                        'db_table': 'grading_gradedscript',
                        'ordering': ['position'],
                    },
                ),
                migrations.CreateModel(
                    name='HumanScore',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('rater', models.CharField(max_length=150)),
                        ('points', models.DecimalField(decimal_places=2, max_digits=6)),
                        ('out_of', models.DecimalField(decimal_places=2, max_digits=6)),
                        ('words', models.TextField(blank=True)),
                        ('script', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='human_scores', to='graded_sets.gradedscript')),
                    ],
                    options={
                        'db_table': 'grading_humanscore',
                        'ordering': ['rater', 'pk'],
                    },
                ),
                migrations.AddConstraint(
                    model_name='gradedscript',
                    constraint=models.UniqueConstraint(fields=('graded_set', 'position'), name='graded_script_position'),
                ),
                migrations.AddConstraint(
                    model_name='gradedscript',
                    constraint=models.UniqueConstraint(fields=('graded_set', 'name'), name='graded_script_name'),
                ),
                migrations.AddConstraint(
                    model_name='humanscore',
                    constraint=models.UniqueConstraint(fields=('script', 'rater'), name='human_score_once'),
                ),
                migrations.AddConstraint(
                    model_name='humanscore',
                    constraint=models.CheckConstraint(condition=models.Q(('points__gte', 0), ('points__lte', models.F('out_of')), ('out_of__gt', 0)), name='human_score_on_its_scale'),
                ),
            ],
        ),
    ]
