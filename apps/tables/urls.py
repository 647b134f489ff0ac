"""URLs of table imports."""

from django.urls import path

from apps.tables import views

app_name = "tables"
urlpatterns = [
    path("contests/table/", views.upload_new, name="upload_new"),
    path("contests/<uuid:contest_id>/table/", views.upload, name="upload"),
    path("contests/tables/<uuid:file_id>/", views.review, name="review"),
    path("contests/tables/<uuid:file_id>/left-out.csv", views.left_out, name="left_out"),
    path("contests/tables/imports/<uuid:import_id>/", views.imported, name="imported"),
    path("contests/tables/imports/<uuid:import_id>/left-out.csv", views.imported_left_out, name="imported_left_out"),
    path("contests/tables/imports/<uuid:import_id>/passwords/", views.imported_passwords, name="imported_passwords"),
    path("contests/tables/imports/<uuid:import_id>/points.csv", views.imported_points, name="imported_points"),
]
