from django.urls import path

from apps.scanning.views import files, pages

app_name = "scanning"
urlpatterns = [
    path("contests/<uuid:contest_id>/scans/", files.overview, name="overview"),
    path("contests/<uuid:contest_id>/scans/progress/", files.progress, name="progress"),
    path("contests/<uuid:contest_id>/scans/sheets/", files.sheets, name="sheets"),
    path("contests/<uuid:contest_id>/scans/begin/", files.begin, name="begin"),
    path("contests/<uuid:contest_id>/scans/add/", files.add, name="add"),
    path("contests/<uuid:contest_id>/scans/hand-in/", files.hand_in, name="hand_in"),
    path("contests/<uuid:contest_id>/scans/again/", files.place_again, name="place_again"),
    path("contests/<uuid:contest_id>/scans/tray/", pages.tray, name="tray"),
    path("contests/<uuid:contest_id>/scans/pages/", pages.gallery, name="gallery"),
    path("contests/<uuid:contest_id>/scans/pages/assign/", pages.assign, name="assign"),
    path("scans/files/<uuid:file_id>/", files.file, name="file"),
    path("scans/files/<uuid:file_id>/pieces/", files.piece, name="piece"),
    path("scans/pages/<uuid:page_id>/", pages.picture, name="picture"),
    path("scans/pages/<uuid:page_id>/change/", pages.change, name="change"),
]
