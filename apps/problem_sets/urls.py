"""URLs of problem sets: list, import, a set from the library, one set with its versions, splits, file."""

from django.urls import path

from apps.problem_sets import views

app_name = "problem_sets"
urlpatterns = [
    path("", views.set_list, name="list"),
    path("import/", views.set_upload, name="import"),
    path("from-library/", views.set_from_library, name="from_library"),
    path("<slug:slug>/", views.set_detail, name="detail"),
    path("<slug:slug>/split/", views.set_split, name="split"),
    path("<slug:slug>/file/", views.set_file, name="file"),
]
