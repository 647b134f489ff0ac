"""All URLs. Each app has its own `urls.py`; this file only says where they hang."""

from django.urls import include, path

urlpatterns = [
    path("accounts/", include("apps.accounts.urls")),
    path("problems/", include("apps.problems.urls")),
    path("", include("apps.lemmas.urls")),
    path("", include("apps.explorations.urls")),
]
