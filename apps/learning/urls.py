"""Addresses of learning."""

from django.urls import path

from apps.learning import views

app_name = "learning"
urlpatterns = [
    path("schedules/", views.schedule_simulate, name="schedule"),
    path("schedules/figures.json", views.schedule_data, name="schedule_data"),
]
