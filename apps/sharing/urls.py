"""URLs of links: those of their makers under the run, those of readers under the token."""

from django.urls import path

from apps.sharing import reading, views

app_name = "sharing"
urlpatterns = [
    path("runs/<uuid:run_id>/share/", views.link_list, name="link_list"),
    path("runs/<uuid:run_id>/share/<uuid:link_id>/revoke/", views.link_revoke, name="link_revoke"),
    path("shared/<str:token>/", reading.shared_run, name="shared_run"),
    path("shared/<str:token>/graph.json", reading.shared_graph, name="shared_graph"),
    path("shared/<str:token>/lemmas/<path:lemma>/", reading.shared_lemma, name="shared_lemma"),
    path("shared/<str:token>/proofs/<str:name>/", reading.shared_proof, name="shared_proof"),
]
