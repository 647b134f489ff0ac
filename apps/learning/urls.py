"""Addresses of learning."""

from django.urls import path

from apps.learning.views import jobs as views_jobs
from apps.learning.views import models as views_models
from apps.learning.views import schedules as views
from apps.learning.views import sweeps as views_sweeps

app_name = "learning"
urlpatterns = [
    path("", views_jobs.job_list, name="job_list"),
    path("jobs/new/", views_jobs.job_new, name="job_new"),
    path("jobs/<uuid:job_id>/", views_jobs.job_detail, name="job"),
    path("jobs/<uuid:job_id>/curves.json", views_jobs.job_curves, name="job_curves"),
    path("jobs/<uuid:job_id>/samples/", views_jobs.job_samples, name="job_samples"),
    path("jobs/<uuid:job_id>/settings/", views_jobs.job_settings, name="job_settings"),
    path("jobs/<uuid:job_id>/register/<int:step>/", views_models.model_register, name="model_register"),
    path("jobs/<uuid:job_id>/sweep/", views_sweeps.sweep_new, name="sweep_new"),
    path("jobs/<uuid:job_id>/<str:verb>/", views_jobs.job_command, name="job_command"),
    path("sweeps/<uuid:sweep_id>/", views_sweeps.sweep_detail, name="sweep"),
    path("sweeps/<uuid:sweep_id>/add/", views_sweeps.sweep_add, name="sweep_add"),
    path("sweeps/<uuid:sweep_id>/stop/", views_sweeps.sweep_stop, name="sweep_stop"),
    path("runs/", views_sweeps.runs_chosen, name="runs"),
    path("runs/curves.json", views_sweeps.runs_curves, name="runs_curves"),
    path("models/", views_models.model_list, name="model_list"),
    path("models/<slug:name>/", views_models.model_detail, name="model"),
    path("models/<slug:name>/compare/<str:kind>/", views_models.model_compare, name="model_compare"),
    path("models/<slug:name>/decide/", views_models.model_decision, name="model_decision"),
    path("schedules/", views.schedule_simulate, name="schedule"),
    path("schedules/figures.json", views.schedule_data, name="schedule_data"),
]
