"""URLs of the agreement pages, in the namespace `grading`."""

from django.urls import path

from apps.grading import views_agreement, views_agreement_pairs, views_agreement_places, views_cards

SOURCE = "<slug:kind>/<uuid:source_id>/"
urlpatterns = [
    path("", views_agreement.agreement_list, name="agreement_list"),
    path("cards/", views_cards.agreement_cards, name="agreement_cards"),
    path("file/<uuid:file_id>/columns/", views_agreement.agreement_columns, name="agreement_columns"),
    path("file/<uuid:file_id>/delete/", views_agreement.agreement_file_delete, name="agreement_file_delete"),
    path("contest/<uuid:source_id>/places/", views_agreement_places.agreement_places, name="agreement_places"),
    path(SOURCE, views_agreement.agreement, name="agreement"),
    path(f"{SOURCE}charts.json", views_agreement.agreement_data, name="agreement_data"),
    path(f"{SOURCE}agreement.json", views_agreement.agreement_json, name="agreement_json"),
    path(f"{SOURCE}pairs/", views_agreement_pairs.agreement_pairs, name="agreement_pairs"),
    path(f"{SOURCE}bucket/", views_agreement_pairs.agreement_bucket, name="agreement_bucket"),
]
