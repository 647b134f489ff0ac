"""URLs of trials, below that of a model."""

from django.urls import path

from apps.trials import views

app_name = "trials"
urlpatterns = [
    path("<slug:alias>/trial/", views.trial, name="trial"),
    path("<slug:alias>/trial/answers.jsonl", views.answers, name="answers"),
]
