"""URLs of submissions for authors, markers and imports."""

from django.urls import path

from apps.submissions.views import importing, marking, pages, transcriptions, writing

app_name = "submissions"
urlpatterns = [
    path("contests/<uuid:contest_id>/own/", writing.own, name="own"),
    path("contests/problems/worker.js", writing.drafts_worker, name="drafts_worker"),
    path("contests/problems/<uuid:problem_id>/write/", writing.write, name="write"),
    path("contests/problems/<uuid:problem_id>/draft/", writing.draft, name="draft"),
    path("contests/problems/<uuid:problem_id>/preview/", writing.preview, name="preview"),
    path("contests/problems/<uuid:problem_id>/pages/", pages.pages_add, name="pages_add"),
    path("contests/problems/<uuid:problem_id>/pages/change/", pages.page_change, name="page_change"),
    path("contests/problems/<uuid:problem_id>/transcription/<slug:verb>/", transcriptions.transcription, name="transcription"),
    path("pages/<uuid:scan_id>/", pages.page_image, name="page_image"),
    path("pages/<uuid:scan_id>/transcription/", transcriptions.transcription_state, name="transcription_state"),
    path("submissions/<uuid:version_id>/", writing.version_own, name="version_own"),
    path("submissions/<uuid:version_id>/withdraw/", writing.version_withdraw, name="version_withdraw"),
    path("contests/<uuid:contest_id>/papers/", marking.paper_list, name="paper_list"),
    path("scripts/<uuid:version_id>/", marking.script, name="script"),
    path("contests/<uuid:contest_id>/import/", importing.import_upload, name="import"),
    path("contests/<uuid:contest_id>/import/<uuid:file_id>/", importing.import_preview, name="import_preview"),
    path("contests/<uuid:contest_id>/import/<uuid:file_id>/confirm/", importing.import_confirm, name="import_confirm"),
]
