"""URLs of the agreement pages."""

from django.urls import path

from apps.agreement.views import agreement, cards, pairs, places

app_name = "agreement"
ROOT = "grading/agreement/"
SOURCE = f"{ROOT}<slug:kind>/<uuid:source_id>/"
urlpatterns = [
    path(ROOT, agreement.agreement_list, name="list"),
    path(f"{ROOT}cards/", cards.agreement_cards, name="cards"),
    path(f"{ROOT}file/<uuid:file_id>/columns/", agreement.agreement_columns, name="columns"),
    path(f"{ROOT}file/<uuid:file_id>/delete/", agreement.agreement_file_delete, name="file_delete"),
    path(f"{ROOT}contest/<uuid:source_id>/places/", places.agreement_places, name="places"),
    path(SOURCE, agreement.agreement, name="detail"),
    path(f"{SOURCE}charts.json", agreement.agreement_data, name="data"),
    path(f"{SOURCE}agreement.json", agreement.agreement_json, name="json"),
    path(f"{SOURCE}pairs/", pairs.agreement_pairs, name="pairs"),
    path(f"{SOURCE}bucket/", pairs.agreement_bucket, name="bucket"),
]
