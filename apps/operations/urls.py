"""URLs of the operations pages and of the metrics for Prometheus."""

from django.urls import path

from apps.operations import views

app_name = "operations"
urlpatterns = [
    path("operations/", views.operations_now, name="now"),
    path("operations/history.json", views.operations_history, name="history"),
    path("operations/log/<uuid:run_id>/", views.call_log, name="log"),
    path("metrics", views.metrics, name="metrics"),
]
