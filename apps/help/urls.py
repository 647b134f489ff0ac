"""URLs of help: the contents and the documents by name."""

from django.urls import path

from apps.help import views

app_name = "help"
urlpatterns = [
    path("", views.contents, name="contents"),
    path("<path:name>/", views.page, name="page"),
]
