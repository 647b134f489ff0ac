"""URLs of pieces, scheme proposals, quality and difficulty of a problem; part of `apps.grading.urls`."""

from django.urls import path

from apps.grading import views_preparing, views_proposals, views_quality

urlpatterns = [
    path("problems/<slug:slug>/prepare/", views_preparing.prepare, name="prepare"),
    path("problems/<slug:slug>/prepare/references/", views_preparing.prepare_add, name="prepare_add"),
    path(
        "problems/<slug:slug>/prepare/references/<uuid:post_id>/remove/", views_preparing.prepare_remove, name="prepare_remove"
    ),
    path("problems/<slug:slug>/prepare/piece/", views_preparing.piece, name="piece"),
    path("problems/<slug:slug>/prepare/versions/<uuid:version_id>/", views_preparing.piece_version, name="piece_version"),
    path(
        "problems/<slug:slug>/prepare/versions/<uuid:version_id>/<str:verb>/",
        views_preparing.piece_command,
        name="piece_command",
    ),
    path("problems/<slug:slug>/scheme-writer/", views_proposals.scheme_writer, name="scheme_writer"),
    path("problems/<slug:slug>/quality/", views_quality.quality, name="quality"),
    path("problems/<slug:slug>/quality/summary/", views_quality.quality_summary, name="quality_summary"),
    path("scheme-proposals/<uuid:run_id>/", views_proposals.proposal, name="proposal"),
]
