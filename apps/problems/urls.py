from django.urls import URLPattern

app_name = "problems"
urlpatterns: list[URLPattern] = []
