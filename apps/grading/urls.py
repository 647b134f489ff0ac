"""URLs of gradings by models."""

from django.urls import include, path

from apps.grading import urls_experiments, urls_problems, views

app_name = "grading"
urlpatterns = [
    path("problems/<slug:slug>/grade/", views.start, name="start"),
    path("gradings/<uuid:run_id>/", views.detail, name="detail"),
    *urls_problems.urlpatterns,
    *urls_experiments.urlpatterns,
    path("grading/agreement/", include("apps.grading.agreement_urls")),
]
