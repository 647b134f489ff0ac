from django.urls import URLPattern

app_name = "explorations"
urlpatterns: list[URLPattern] = []
