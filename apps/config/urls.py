"""All URLs. Each app has its own `urls.py`; this file includes them."""

from django.templatetags.static import static
from django.urls import include, path
from django.utils.functional import lazy
from django.views.generic import RedirectView

from apps.config.api.urls import api_urls
from apps.config.api.views import api_docs
from apps.config.health import healthz
from apps.config.home.views import home

handler404 = "apps.config.errors.not_found"
handler500 = "apps.config.errors.server_error"
urlpatterns = [
    path("", home, name="home"),
    path("healthz", healthz, name="healthz"),
    path("favicon.ico", RedirectView.as_view(url=lazy(static, str)("favicon.svg")), name="favicon"),
    path("api/", api_docs, name="api_docs"),
    path("api/v1/", api_urls()),
    path("help/", include("apps.help.urls")),
    path("accounts/", include("apps.accounts.urls")),
    path("problems/", include("apps.problems.urls")),
    path("problem-sets/", include("apps.problem_sets.urls")),
    path("", include("apps.schemes.urls")),
    path("contests/", include("apps.contests.urls")),
    path("", include("apps.submissions.urls")),
    path("", include("apps.scanning.urls")),
    path("", include("apps.tables.urls")),
    path("", include("apps.results.urls")),
    path("", include("apps.practice.urls")),
    path("", include("apps.marks.urls")),
    path("office/", include("apps.marks.office.urls")),
    path("models/", include("apps.trials.urls")),
    path("", include("apps.notes.urls")),
    path("", include("apps.sharing.urls")),
    path("", include("apps.lemmas.urls")),
    path("", include("apps.explorations.urls")),
    path("", include("apps.graders.urls")),
    path("", include("apps.graded_sets.urls")),
    path("", include("apps.preparation.urls")),
    path("", include("apps.experiments.urls")),
    path("", include("apps.agreement.urls")),
    path("learning/datasets/", include("apps.datasets.urls")),
    path("learning/", include("apps.learning.urls")),
    path("", include("apps.operations.urls")),
]
