"""The tables of `preparation` were made by the migrations of `grading`; only the state of the models moves here."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ("grading", "0042_seeds_of_repeats"),
        ('graded_sets', '0001_from_grading'),
        ('runs', '0005_inherited_counters'),
        ('schemes', '0002_immutable_versions'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name='BenchmarkText',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('collection', models.CharField(max_length=80)),
                        ('name', models.CharField(max_length=120)),
                        ('text', models.TextField()),
                        ('loaded_at', models.DateTimeField(auto_now=True)),
                    ],
                    options={
                        'db_table': 'grading_benchmarktext',
                        'ordering': ['collection', 'name'],
                        'constraints': [models.UniqueConstraint(fields=('collection', 'name'), name='benchmark_text_once')],
                    },
                ),
                migrations.CreateModel(
                    name='SchemeProposal',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('text', models.TextField()),
                        ('approved_at', models.DateTimeField(auto_now_add=True)),
                        ('approved_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='proposal', to='runs.run')),
                        ('scheme', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='schemes.markingscheme')),
                    ],
                    options={
                        'db_table': 'grading_schemeproposal',
                    },
                ),
                migrations.CreateModel(
                    name='SchemeTryout',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('label', models.CharField(max_length=200)),
                        ('digest', models.CharField(max_length=64)),
                        ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='runs.run')),
                        ('script', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='graded_sets.gradedscript')),
                        ('writer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tryouts', to='runs.run')),
                    ],
                    options={
                        'db_table': 'grading_schemetryout',
                        'ordering': ['pk'],
                    },
                ),
            ],
        ),
    ]
