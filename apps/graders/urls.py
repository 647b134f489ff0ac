"""URLs of gradings by models: of a pasted script, and of a result."""

from django.urls import path

from apps.graders import views

app_name = "graders"
urlpatterns = [
    path("problems/<slug:slug>/grade/", views.start, name="start"),
    path("gradings/<uuid:run_id>/", views.detail, name="detail"),
]
