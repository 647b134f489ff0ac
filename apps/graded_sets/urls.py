"""URLs of graded sets: list, import, a set, one script."""

from django.urls import path

from apps.graded_sets import views

app_name = "graded_sets"
urlpatterns = [
    path("graded-sets/", views.set_list, name="list"),
    path("graded-sets/import/", views.set_upload, name="import"),
    path("graded-sets/<uuid:set_id>/", views.set_detail, name="detail"),
    path("graded-sets/<uuid:set_id>/<uuid:script_id>/", views.set_script, name="script"),
]
