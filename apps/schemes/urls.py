"""URLs of marking schemes: lists below their problem, single schemes by id."""

from django.urls import path

from apps.schemes.views import reading, writing

app_name = "schemes"
urlpatterns = [
    path("problems/<slug:slug>/schemes/", reading.scheme_list, name="list"),
    path("problems/<slug:slug>/schemes/new/", writing.scheme_create, name="create"),
    path("problems/<slug:slug>/schemes/import/", writing.scheme_import, name="import"),
    path("schemes/check/", writing.scheme_check, name="check"),
    path("schemes/<uuid:scheme_id>/", reading.scheme_detail, name="detail"),
    path("schemes/<uuid:scheme_id>/try/", reading.scheme_try, name="try"),
    path("schemes/<uuid:scheme_id>/download/", reading.scheme_download, name="download"),
    path("schemes/<uuid:scheme_id>/edit/", writing.scheme_edit, name="edit"),
    path("schemes/<uuid:scheme_id>/<str:verb>/", writing.scheme_command, name="command"),
]
