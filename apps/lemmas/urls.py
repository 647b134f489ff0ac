"""The search over all runs, and URLs under a run: the graph, its data and exports, and the permalinks of lemmas and proofs."""

from django.urls import path

from apps.lemmas import views
from apps.lemmas.kernel.views import kernel_file, kernel_request, kernel_state
from apps.lemmas.readings.views import readings_request, readings_state
from apps.lemmas.search.views import lemma_search

app_name = "lemmas"
urlpatterns = [
    path("lemmas/", lemma_search, name="search"),
    path("runs/<uuid:run_id>/graph/", views.graph_page, name="graph"),
    path("runs/<uuid:run_id>/graph.json", views.graph_data, name="graph_data"),
    path("runs/<uuid:run_id>/graph/outline/", views.outline, name="outline"),
    path("runs/<uuid:run_id>/graph/export.<slug:form>", views.graph_export, name="graph_export"),
    path("runs/<uuid:run_id>/kernel/", kernel_request, name="kernel_request"),
    path("runs/<uuid:run_id>/kernel/<int:check>/", kernel_state, name="kernel_state"),
    path("runs/<uuid:run_id>/kernel/<int:check>/file/", kernel_file, name="kernel_file"),
    path("runs/<uuid:run_id>/readings/", readings_request, name="readings_request"),
    path("runs/<uuid:run_id>/readings/<int:readings>/", readings_state, name="readings_state"),
    path("runs/<uuid:run_id>/lemmas/<path:lemma>/", views.lemma_panel, name="lemma_panel"),
    path("runs/<uuid:run_id>/proofs/<str:name>/", views.proof_panel, name="proof_panel"),
]
