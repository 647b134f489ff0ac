from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('marks', '0006_graders_of_a_problem'),
    ]

    operations = [
        migrations.AlterField(
            model_name='reveal',
            name='kind',
            field=models.CharField(choices=[('locations', 'Where findings are'), ('findings', 'Types and reasons'), ('items', 'Items and distribution'), ('colleague', "A colleague's mark"), ('precedents', 'Precedents'), ('question', "A marker's question"), ('hints', 'Hints for its author')], max_length=12),
        ),
    ]
