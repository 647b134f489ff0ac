"""URLs of practice and help."""

from django.urls import path

from apps.practice.views import attempts, coaches, courses, help, remarks

app_name = "practice"
urlpatterns = [
    path("practice/", attempts.path_page, name="path"),
    path("practice/try/<slug:slug>/", attempts.problem_try, name="try"),
    path("practice/problems/<uuid:problem_id>/decide/<slug:verb>/", attempts.decide, name="decide"),
    path("practice/problems/<uuid:problem_id>/check/", help.formulas, name="check"),
    path("practice/problems/<uuid:problem_id>/hints/", help.hints, name="hints"),
    path("practice/attempts/<uuid:version_id>/", attempts.attempt, name="attempt"),
    path("practice/attempts/<uuid:version_id>/check/", help.formulas_of_version, name="check_version"),
    path("practice/attempts/<uuid:version_id>/ask/", help.ask, name="ask"),
    path("practice/attempts/<uuid:version_id>/model/", help.model, name="model"),
    path("practice/attempts/<uuid:version_id>/compare/", help.compare, name="compare"),
    path("practice/questions/<uuid:question_id>/withdraw/", help.withdraw, name="withdraw"),
    path("practice/remarks/<uuid:remark_id>/<slug:verb>/", remarks.reply, name="remark_reply"),
    path("practice/queue/", coaches.queue, name="queue"),
    path("practice/queue/next/", coaches.next_one, name="next"),
    path("practice/answers/<uuid:version_id>/", coaches.answer, name="answer"),
    path("practice/answers/<uuid:version_id>/remark/", coaches.remark, name="remark"),
    path("practice/answers/<uuid:version_id>/example/", courses.example, name="example"),
    path("practice/answers/remarks/<uuid:remark_id>/<slug:verb>/", coaches.decide, name="remark_decide"),
    path("practice/phrases/", courses.phrases, name="phrases"),
    path("practice/errors/", courses.errors, name="errors"),
    path("practice/models/", courses.models, name="models"),
    path("practice/data/", courses.data, name="data"),
    path("practice/data/practice.zip", courses.export, name="export"),
    path("practice/sheets/<uuid:contest_id>/help/", coaches.rules, name="rules"),
]
