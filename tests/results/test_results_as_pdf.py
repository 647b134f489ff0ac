"""A student's PDF of a result: the released parts, and no other."""

from collections.abc import Callable

from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from tests.answers import pdf_text
from tests.results.factory import FOR_MARKERS, FOR_STUDENT, VERDICT_WORDS, marked, released, version_of

ClientFor = Callable[[User | None], Client]


def test_the_pdf_contains_only_the_released_parts(bob: User, charlie: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie)
    url = reverse("results:result_pdf", kwargs={"version_id": version_of(problem, charlie).public_id})
    client = client_for(charlie)
    assert client.get(url).status_code == 404, "nothing is released"
    released(problem.contest, bob, "comments")
    text = pdf_text(client.get(url).content)
    assert FOR_STUDENT in text
    for words in ("was not looked at", "Points", FOR_MARKERS, "Marking scheme"):
        assert words not in text, words
    released(problem.contest, bob)
    text = pdf_text(client.get(url).content)
    for words in (
        FOR_STUDENT,
        VERDICT_WORDS[:8],
        "was not looked at",
        "Points: ",
        "follows from the error at step 2",
        "Marking scheme",
    ):
        assert words in text, words
    assert FOR_MARKERS not in text
    assert "PDF" in client.get(url.replace("result.pdf", "result/")).content.decode()


def test_a_result_is_closed_to_other_users(bob: User, charlie: User, dana: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie)
    released(problem.contest, bob)
    url = reverse("results:result_pdf", kwargs={"version_id": version_of(problem, charlie).public_id})
    for person in (bob, dana):
        assert client_for(person).get(url).status_code == 404
