"""Addresses of the library. The fixed words are reserved: no problem has them as its slug."""

from django.urls import path

from apps.problems.views import reading

app_name = "problems"
urlpatterns = [
    path("", reading.problem_list, name="list"),
    path("<slug:slug>/", reading.problem_detail, name="detail"),
]
