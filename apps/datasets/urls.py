"""Addresses of datasets."""

from django.urls import path

from apps.datasets import views

app_name = "datasets"
urlpatterns = [
    path("", views.dataset_list, name="list"),
    path("new/", views.dataset_new, name="new"),
    path("<slug:name>/v<int:version>/", views.dataset_version, name="version"),
    path("<slug:name>/v<int:version>/files/<path:path>", views.dataset_file, name="file"),
    path("<slug:name>/v<int:version>/views/<slug:view>", views.dataset_view, name="view"),
]
