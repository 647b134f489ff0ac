"""Addresses of gradings by models."""

from django.urls import path

from apps.grading import views

app_name = "grading"
urlpatterns = [
    path("problems/<slug:slug>/grade/", views.start, name="start"),
    path("gradings/<uuid:run_id>/", views.detail, name="detail"),
]
