from django.urls import URLPattern

app_name = "lemmas"
urlpatterns: list[URLPattern] = []
