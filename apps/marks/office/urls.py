"""Addresses of the contest office: the pages of captains and organisers, except marking itself."""

from django.urls import path

from apps.marks.views import blanks, letters, office, scheme_change, tables, team
from apps.marks.views.awards import awards
from apps.marks.views.paper_pdf import paper_pdf

app_name = "office"
urlpatterns = [
    path("problem/<uuid:problem_id>/scheme/", scheme_change.scheme_change, name="scheme_change"),
    path("problem/<uuid:problem_id>/table/", tables.marks_table, name="marks_table"),
    path("problem/<uuid:problem_id>/table.csv", tables.marks_table_download, name="marks_table_download"),
    path("<uuid:contest_id>/team/", team.team, name="team"),
    path("<uuid:contest_id>/team/conflicts", team.conflict_change, name="conflict_change"),
    path("<uuid:contest_id>/scripts/", team.matrix, name="matrix"),
    path("<uuid:contest_id>/blank/", blanks.blanks, name="blanks"),
    path("problem/<uuid:problem_id>/assign", team.team_assign, name="team_assign"),
    path("problem/<uuid:problem_id>/hand-over", team.team_hand_over, name="team_hand_over"),
    path("problem/<uuid:problem_id>/blank", blanks.blanks_settle, name="blanks_settle"),
    path("problem/<uuid:problem_id>/blank/<int:event_id>/undo", blanks.blanks_undo, name="blanks_undo"),
    path("<uuid:contest_id>/statistics/", office.statistics, name="statistics"),
    path("<uuid:contest_id>/statistics/<uuid:problem_id>/data", office.statistics_data, name="statistics_data"),
    path("<uuid:contest_id>/statistics/data", office.totals_data, name="totals_data"),
    path("<uuid:contest_id>/results/", office.results, name="results"),
    path("<uuid:contest_id>/results.<slug:form>", office.download, name="download"),
    path("<uuid:contest_id>/results/names/", office.names_open, name="names_open"),
    path("<uuid:contest_id>/awards/", awards, name="awards"),
    path("<uuid:contest_id>/letters/<slug:kind>/", letters.texts, name="letters"),
    path("<uuid:contest_id>/letters/<slug:kind>.pdf", letters.letters_pdf, name="letters_pdf"),
    path("<uuid:contest_id>/scripts.csv", office.scripts_csv, name="scripts_csv"),
    path("<uuid:contest_id>/research.jsonl", office.research, name="research"),
    path("<uuid:contest_id>/papers/<slug:number>/", office.paper, name="paper"),
    path("<uuid:contest_id>/papers/<slug:number>/pdf/", paper_pdf, name="paper_pdf"),
    path("<uuid:contest_id>/record/", office.record, name="record"),
]
