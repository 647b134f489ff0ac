"""Models of sets, preparation, experiments and agreement live in their own apps; their tables stay as they are."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ("grading", "0042_seeds_of_repeats"),
        ("graded_sets", "0001_from_grading"),
        ("preparation", "0001_from_grading"),
        ("experiments", "0001_from_grading"),
        ("agreement", "0001_from_grading"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.DeleteModel("HumanScore"),
                migrations.DeleteModel("ExperimentCell"),
                migrations.DeleteModel("Experiment"),
                migrations.DeleteModel("SchemeTryout"),
                migrations.DeleteModel("SchemeProposal"),
                migrations.DeleteModel("GradedScript"),
                migrations.DeleteModel("GradedSet"),
                migrations.DeleteModel("BenchmarkText"),
                migrations.DeleteModel("DisagreementBucket"),
                migrations.DeleteModel("AgreementFile"),
            ],
        ),
    ]
