"""URLs of notes, under their run."""

from django.urls import path

from apps.notes import views

app_name = "notes"
urlpatterns = [
    path("runs/<uuid:run_id>/notes/", views.note_list, name="note_list"),
    path("runs/<uuid:run_id>/notes/write/", views.note_write, name="note_write"),
    path("runs/<uuid:run_id>/notes/tag/", views.part_tag, name="part_tag"),
    path("runs/<uuid:run_id>/notes/<int:note_id>/edit/", views.note_edit, name="note_edit"),
    path("runs/<uuid:run_id>/notes/<int:note_id>/change/", views.note_change, name="note_change"),
    path("notes/<int:note_id>/seen/", views.mention_seen, name="mention_seen"),
]
