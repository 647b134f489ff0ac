"""URLs of experiments: list, form, results, downloads, commands."""

from django.urls import path

from apps.experiments import views
from apps.experiments.solving.rehearsal.views import rehearsal
from apps.experiments.solving.views import cell_list, solving_new

app_name = "experiments"
urlpatterns = [
    path("experiments/", views.experiment_list, name="list"),
    path("experiments/new/", views.experiment_new, name="new"),
    path("experiments/new/solving/", solving_new, name="solving_new"),
    path("experiments/<uuid:experiment_id>/", views.experiment_detail, name="detail"),
    path("experiments/<uuid:experiment_id>/results.csv", views.experiment_csv, name="csv"),
    path("experiments/<uuid:experiment_id>/results.jsonl", views.experiment_jsonl, name="jsonl"),
    path("experiments/<uuid:experiment_id>/cells/", cell_list, name="cells"),
    path("experiments/<uuid:experiment_id>/rehearsal/", rehearsal, name="rehearsal"),
    path("experiments/<uuid:experiment_id>/<slug:verb>/", views.experiment_command, name="command"),
]
