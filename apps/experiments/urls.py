"""URLs of experiments: list, form, results, downloads, commands."""

from django.urls import path

from apps.experiments import views
from apps.experiments.solving.comparing.views import experiment_ablations, experiment_compare, experiment_endings
from apps.experiments.solving.curves.views import curve_page
from apps.experiments.solving.extending.views import experiment_extend
from apps.experiments.solving.files.views import file_download, file_list
from apps.experiments.solving.people.views import mark_list, mark_page
from apps.experiments.solving.rehearsal.views import rehearsal
from apps.experiments.solving.views import cell_list, solving_new

app_name = "experiments"
urlpatterns = [
    path("experiments/", views.experiment_list, name="list"),
    path("experiments/new/", views.experiment_new, name="new"),
    path("experiments/tables/", views.table_list, name="tables"),
    path("experiments/new/solving/", solving_new, name="solving_new"),
    path("experiments/<uuid:experiment_id>/", views.experiment_detail, name="detail"),
    path("experiments/<uuid:experiment_id>/results.csv", views.experiment_csv, name="csv"),
    path("experiments/<uuid:experiment_id>/results.jsonl", views.experiment_jsonl, name="jsonl"),
    path("experiments/<uuid:experiment_id>/cells/", cell_list, name="cells"),
    path("experiments/<uuid:experiment_id>/budgets/", curve_page, name="curves"),
    path("experiments/<uuid:experiment_id>/marks/", mark_list, name="marks"),
    path("experiments/<uuid:experiment_id>/marks/<slug:answer>/", mark_page, name="mark"),
    path("experiments/<uuid:experiment_id>/compare/", experiment_compare, name="compare"),
    path("experiments/<uuid:experiment_id>/ablations/", experiment_ablations, name="ablations"),
    path("experiments/<uuid:experiment_id>/endings/", experiment_endings, name="endings"),
    path("experiments/<uuid:experiment_id>/files/", file_list, name="files"),
    path("experiments/<uuid:experiment_id>/files/<str:name>", file_download, name="file"),
    path("experiments/<uuid:experiment_id>/rehearsal/", rehearsal, name="rehearsal"),
    path("experiments/<uuid:experiment_id>/add/", experiment_extend, name="extend"),
    path("experiments/<uuid:experiment_id>/<slug:verb>/", views.experiment_command, name="command"),
]
