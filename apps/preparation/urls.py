"""URLs of a problem's prepared pieces, scheme proposals, quality and difficulty."""

from django.urls import path

from apps.preparation.views import pieces, proposals, quality

app_name = "preparation"
PREPARE = "problems/<slug:slug>/prepare/"
urlpatterns = [
    path(PREPARE, pieces.prepare, name="prepare"),
    path(f"{PREPARE}references/", pieces.prepare_add, name="prepare_add"),
    path(f"{PREPARE}references/<uuid:post_id>/remove/", pieces.prepare_remove, name="prepare_remove"),
    path(f"{PREPARE}piece/", pieces.piece, name="piece"),
    path(f"{PREPARE}versions/<uuid:version_id>/", pieces.piece_version, name="piece_version"),
    path(f"{PREPARE}versions/<uuid:version_id>/<str:verb>/", pieces.piece_command, name="piece_command"),
    path("problems/<slug:slug>/scheme-writer/", proposals.scheme_writer, name="scheme_writer"),
    path("problems/<slug:slug>/quality/", quality.quality, name="quality"),
    path("problems/<slug:slug>/quality/summary/", quality.quality_summary, name="quality_summary"),
    path("scheme-proposals/<uuid:run_id>/", proposals.proposal, name="proposal"),
]
