"""Addresses of the contest office: what captains and organisers do about marking besides marking."""

from django.urls import path

from apps.marks.views import scheme_change

app_name = "office"
urlpatterns = [
    path("problem/<uuid:problem_id>/scheme/", scheme_change.scheme_change, name="scheme_change"),
]
