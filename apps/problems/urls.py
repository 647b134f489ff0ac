"""URLs of the library. Fixed path segments are reserved (`drafts.RESERVED_SLUGS`)."""

from django.urls import path

from apps.problems.views import files, geometry, reading, writing

app_name = "problems"
urlpatterns = [
    path("", reading.problem_list, name="list"),
    path("new/", writing.problem_create, name="create"),
    path("preview/", writing.problem_preview, name="preview"),
    path("import/", files.problem_import, name="import"),
    path("import/<uuid:draft_id>/", files.problem_import_preview, name="import_preview"),
    path("import/<uuid:draft_id>/confirm/", files.problem_import_confirm, name="import_confirm"),
    path("export/", files.problem_export, name="export"),
    path("geometry/", geometry.geometry, name="geometry"),
    path("geometry/proof/", geometry.geometry_proof, name="geometry_proof"),
    path("geometry/drafts/", geometry.geometry_draft, name="geometry_draft"),
    path("<slug:slug>/", reading.problem_detail, name="detail"),
    path("<slug:slug>/listed/", writing.problem_list_or_not, name="list_or_not"),
    path("<slug:slug>/edit/", writing.problem_edit, name="edit"),
]
