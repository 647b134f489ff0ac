"""URLs of experiments and graded sets."""

from django.urls import path

from apps.grading import views_experiments, views_sets

urlpatterns = [
    path("experiments/", views_experiments.experiment_list, name="experiment_list"),
    path("experiments/new/", views_experiments.experiment_new, name="experiment_new"),
    path("experiments/<uuid:experiment_id>/", views_experiments.experiment_detail, name="experiment"),
    path("experiments/<uuid:experiment_id>/results.csv", views_experiments.experiment_csv, name="experiment_csv"),
    path("experiments/<uuid:experiment_id>/results.jsonl", views_experiments.experiment_jsonl, name="experiment_jsonl"),
    path("experiments/<uuid:experiment_id>/<slug:verb>/", views_experiments.experiment_command, name="experiment_command"),
    path("graded-sets/", views_sets.set_list, name="set_list"),
    path("graded-sets/import/", views_sets.set_upload, name="set_import"),
    path("graded-sets/<uuid:set_id>/", views_sets.set_detail, name="set"),
    path("graded-sets/<uuid:set_id>/<uuid:script_id>/", views_sets.set_script, name="set_script"),
]
