"""URLs of explorations: start, runs with their parts and permalinks, models."""

from django.urls import path

from apps.explorations.comparing import views as comparing
from apps.explorations.views import (
    calls,
    formulas,
    imports,
    lineage,
    models,
    replay,
    run_table,
    runs,
    start,
    steering,
    take_away,
)

app_name = "explorations"
urlpatterns = [
    path("problems/<slug:slug>/explore/", start.start, name="start"),
    path("problems/<slug:slug>/explore/estimate/", start.estimate, name="estimate"),
    path("runs/", run_table.run_list, name="run_list"),
    path("runs/selected/", run_table.run_selection, name="run_selection"),
    path("runs/delete/", run_table.run_delete, name="run_delete"),
    path("runs/export.zip", run_table.run_export, name="run_export"),
    path("runs/views/", run_table.run_view, name="run_view"),
    path("runs/import/", imports.run_import, name="run_import"),
    path("runs/compare/", comparing.run_compare, name="run_compare"),
    path("runs/compare/difference.json", comparing.run_difference, name="run_difference"),
    path("runs/compare/pairs/", comparing.pairs_change, name="pairs_change"),
    path("runs/<uuid:run_id>/", runs.run_detail, name="run_detail"),
    path("runs/<uuid:run_id>/header/", runs.run_header, name="run_header"),
    path("runs/<uuid:run_id>/solutions/", runs.run_solutions, name="run_solutions"),
    path("runs/<uuid:run_id>/lineage.json", lineage.run_lineage, name="run_lineage"),
    path("runs/<uuid:run_id>/lineage/outline/", lineage.run_lineage_outline, name="run_lineage_outline"),
    path("runs/<uuid:run_id>/replay.json", replay.run_replay, name="run_replay"),
    path("runs/<uuid:run_id>/texts/<path:key>/", replay.call_text, name="call_text"),
    path("runs/<uuid:run_id>/timeline/", runs.run_timeline, name="run_timeline"),
    path("runs/<uuid:run_id>/panel/", runs.run_panel, name="run_panel"),
    path("runs/<uuid:run_id>/charts.json", runs.run_charts, name="run_charts"),
    path("runs/<uuid:run_id>/log/", runs.run_log, name="run_log"),
    path("runs/<uuid:run_id>/calls/<path:key>/", calls.call, name="call"),
    path("runs/<uuid:run_id>/events/<int:seq>/", calls.event, name="event"),
    path("runs/<uuid:run_id>/commands/", steering.command, name="command"),
    path("runs/<uuid:run_id>/resume/", steering.resume, name="resume"),
    path("runs/<uuid:run_id>/fork/", start.fork, name="fork"),
    path("runs/<uuid:run_id>/export.jsonl", steering.export, name="export"),
    path("runs/<uuid:run_id>/take-away/<slug:form>/", take_away.take_away, name="take_away"),
    path("worked-example/", start.worked_example, name="worked_example"),
    path("formulas/", formulas.formula_list, name="formula_list"),
    path("formulas.json", formulas.formula_data, name="formula_data"),
    path("models/", models.model_list, name="model_list"),
    path("models/<slug:alias>/test/", models.model_test, name="model_test"),
]
