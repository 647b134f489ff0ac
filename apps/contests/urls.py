"""URLs of contests."""

from django.urls import path

from apps.contests.views import people, reading, staff, writing

app_name = "contests"
urlpatterns = [
    path("", reading.contest_list, name="list"),
    path("all/", staff.contest_administration, name="administration"),
    path("all/<uuid:contest_id>/<slug:verb>/", staff.contest_administer, name="administer"),
    path("new/", writing.contest_create, name="create"),
    path("<uuid:contest_id>/", reading.contest_detail, name="detail"),
    path("<uuid:contest_id>/edit/", writing.contest_edit, name="edit"),
    path("<uuid:contest_id>/delete/", writing.contest_delete, name="delete"),
    path("<uuid:contest_id>/problems/", writing.problem_change, name="problem_change"),
    path("<uuid:contest_id>/coaches/", people.coach_change, name="coach_change"),
    path("<uuid:contest_id>/roster/", people.roster, name="roster"),
    path("<uuid:contest_id>/roster/group/", people.group_add, name="roster_group"),
    path("<uuid:contest_id>/roster/remove/", people.student_remove, name="student_remove"),
    path("<uuid:contest_id>/papers/<uuid:paper_id>/author/", people.identity_reveal, name="identity_reveal"),
    path("<uuid:contest_id>/state/<str:verb>/", writing.contest_move, name="move"),
]
