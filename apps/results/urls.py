"""Addresses of results: releases, an author's results, appeals, feedback, revisions."""

from django.urls import path

from apps.results.views import appeals, feedback, own, ranking, release, revision

app_name = "results"
urlpatterns = [
    path("contests/<uuid:contest_id>/release/", release.release, name="release"),
    path("contests/<uuid:contest_id>/release/<uuid:batch_id>/undo/", release.release_undo, name="release_undo"),
    path("contests/<uuid:contest_id>/release/preview/<uuid:case_id>/", release.preview, name="preview"),
    path("contests/<uuid:contest_id>/results/", own.own, name="own"),
    path("contests/<uuid:contest_id>/ranking/", ranking.ranking, name="ranking"),
    path("contests/<uuid:contest_id>/ranking/change/", ranking.ranking_change, name="ranking_change"),
    path("contests/<uuid:contest_id>/ranking.<slug:form>", ranking.ranking_file, name="ranking_file"),
    path("submissions/<uuid:version_id>/result/", own.result, name="result"),
    path("submissions/<uuid:version_id>/result.pdf", own.result_pdf, name="result_pdf"),
    path("submissions/<uuid:version_id>/appeal/", appeals.appeal_write, name="appeal_write"),
    path("appeals/<uuid:appeal_id>/withdraw/", appeals.appeal_withdraw, name="appeal_withdraw"),
    path("contests/<uuid:contest_id>/appeals/", appeals.appeal_list, name="appeal_list"),
    path("appeals/<uuid:appeal_id>/", appeals.appeal_detail, name="appeal"),
    path("appeals/<uuid:appeal_id>/<slug:verb>/", appeals.appeal_command, name="appeal_command"),
    path("submissions/<uuid:version_id>/feedback/", feedback.own, name="feedback_own"),
    path("feedback/<uuid:request_id>/<int:level>/", feedback.ask, name="feedback_ask"),
    path("contests/<uuid:contest_id>/feedback/", feedback.queue, name="feedback_queue"),
    path("contests/problems/<uuid:problem_id>/feedback/", feedback.rules_save, name="feedback_rules"),
    path("feedback/<uuid:request_id>/", feedback.answer, name="feedback_answer"),
    path("feedback/<uuid:request_id>/proposal/<slug:verb>/", feedback.proposal, name="feedback_proposal"),
    path("scripts/<uuid:version_id>/revision/", revision.revision, name="revision"),
]
