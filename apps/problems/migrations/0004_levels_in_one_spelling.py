from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from apps.problems.levels import level_spelled


def spell(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    problems = apps.get_model("problems", "Problem")
    for level in set(problems.objects.order_by().values_list("level", flat=True)):
        if level_spelled(level) != level:
            problems.objects.filter(level=level).update(level=level_spelled(level))


class Migration(migrations.Migration):
    dependencies = [("problems", "0003_subtopic_and_import_draft")]
    operations = [migrations.RunPython(spell, migrations.RunPython.noop, elidable=True)]
