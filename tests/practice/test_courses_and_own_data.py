"""A coach's view of a class, examples and phrases; a student's path, export and erasure."""

import io
import json
import zipfile
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import Role, User
from apps.contests.models import Contest, ContestKind
from apps.practice import attempts, questions, remarks
from apps.practice.coaching import sharing
from apps.practice.helping.rules import HelpRefused
from apps.practice.models import AnswerPhrase, Attempt, Example
from apps.practice.path import path_of
from apps.submissions.models import SubmissionVersion
from tests.contests.factory import enter, hand_in
from tests.practice.factory import OWN, attempted, handed_in, on_sheet, sheet_of, tried, with_hints
from tests.problems.factory import make_problem

ClientFor = Callable[[User | None], Client]


def test_common_errors_are_counted_by_step_of_the_solution(charlie: User, bob: User, dana: User, client_for: ClientFor) -> None:
    row = sheet_of(bob, charlie, with_hints())
    first = on_sheet(row.contest, charlie)
    second = hand_in(enter(row.contest, User.objects.create_user("erin", role=Role.STUDENT))[0], row, OWN + " Erin.")
    for version in (first, second):
        remarks.remark_add(version=version, step=2, words="", kind="gap", by=bob, reference_step=2)
    dropped = remarks.remark_add(version=first, step=3, words="", kind="missing-case", by=bob, reference_step=3)
    objection = remarks.disagree(remark=dropped, words="There is no other case.")
    remarks.disagreement_answer(disagreement=objection, is_upheld=True, reply="", by=bob)
    url = f"{reverse('practice:errors')}?course={row.contest.public_id}"
    page = client_for(bob).get(url).content.decode()
    assert "A gap × 2" in page
    assert "2 texts" in page
    assert "A case is missing" not in page
    assert "No texts yet" in client_for(dana).get(url).content.decode()


def test_a_lent_text_becomes_an_example_without_a_name(charlie: User, bob: User, client_for: ClientFor) -> None:
    problem = with_hints()
    version = attempted(charlie, problem)
    questions.question_ask(version=version, words="Is step two enough?")
    coach, page = client_for(bob), reverse("practice:answer", args=[version.public_id])
    assert "Make it an example" not in coach.get(page).content.decode()
    with pytest.raises(HelpRefused, match="has not lent"):
        sharing.example_make(version=version, title="Parity", words="", by=bob)
    client_for(charlie).post(reverse("practice:decide", args=[version.submission.problem.public_id, "lend"]))
    coach.post(reverse("practice:example", args=[version.public_id]), {"title": "By parity", "words": "Look at step two."})
    erin = User.objects.create_user("erin", role=Role.STUDENT)
    compare = reverse("practice:compare", args=[attempted(erin, problem, OWN + " Erin.").public_id])
    shown = client_for(erin).get(compare).content.decode()
    assert "By parity" in shown
    assert "harlie" not in shown
    client_for(charlie).post(reverse("practice:decide", args=[version.submission.problem.public_id, "keep"]))
    assert not Example.objects.exists()
    assert "By parity" not in client_for(erin).get(compare).content.decode()


@pytest.mark.parametrize("name", ["Chebyshev", "charlie"])
def test_a_text_with_its_authors_name_is_no_example(name: str, charlie: User, bob: User) -> None:
    charlie.last_name = "Chebyshev"
    charlie.save()
    version = attempted(charlie, text=OWN + f"\n\nWritten by {name}.")
    questions.question_ask(version=version, words="Is step two enough?")
    attempts.lend(paper=version.submission.paper, problem=version.submission.problem, allows=True)
    with pytest.raises(HelpRefused, match="name"):
        sharing.example_make(version=version, title="Parity", words="", by=bob)


@pytest.mark.parametrize(("words", "is_refused"), [("A neat idea of Bo.", True), ("Both bound it, so a bo is no name.", False)])
def test_a_short_name_counts_as_a_whole_word_also_in_the_comment(
    words: str, is_refused: bool, charlie: User, bob: User
) -> None:
    charlie.first_name = "Bo"
    charlie.save()
    version = attempted(charlie)
    questions.question_ask(version=version, words="Is step two enough?")
    attempts.lend(paper=version.submission.paper, problem=version.submission.problem, allows=True)
    if is_refused:
        with pytest.raises(HelpRefused, match="Title and comment"):
            sharing.example_make(version=version, title="Parity", words=words, by=bob)
    else:
        assert sharing.example_make(version=version, title="Parity", words=words, by=bob).words == words


def test_phrases_are_buttons_next_to_the_answer(charlie: User, bob: User, dana: User, client_for: ClientFor) -> None:
    version = attempted(charlie)
    questions.question_ask(version=version, words="Is step two enough?")
    coach = client_for(bob)
    coach.post(reverse("practice:phrases"), {"phrases": "Say why.\n\n  Test it with  small numbers. \n"})
    assert list(AnswerPhrase.objects.values_list("words", flat=True)) == ["Say why.", "Test it with small numbers."]
    page = reverse("practice:answer", args=[version.public_id])
    assert "Test it with small numbers." in coach.get(page).content.decode()
    assert "Say why." not in client_for(dana).get(page).content.decode()
    coach.post(reverse("practice:phrases"), {"phrases": "one\n" * 31})
    assert AnswerPhrase.objects.count() == 2


def test_the_path_suggests_topics_that_were_missed_and_brings_problems_back(charlie: User) -> None:
    make_problem("Angles", topic="G", level="First steps")
    make_problem("Sums", topic="A", level="IMO hard")
    assert [one.title for one in path_of(charlie).suggested] == ["Angles", "Sums"]
    done = tried(charlie, make_problem("Numbers", topic="N"))
    attempts.call_done(paper=done.contest.papers.get(), problem=done)
    missed = tried(charlie, make_problem("More sums", topic="A"))
    attempts.set_aside(paper=missed.contest.papers.get(), problem=missed)
    path = path_of(charlie)
    assert [one.title for one in path.suggested] == ["Sums", "Angles"]
    assert [row.problem.title for row in path.resting] == ["More sums"]
    Attempt.objects.exclude(returns_at=None).update(returns_at=timezone.now() - timedelta(hours=1))
    path = path_of(charlie)
    assert [row.problem.title for row in path.returning] == ["More sums"]
    assert path.resting == []


def test_a_student_downloads_and_erases_the_own_practice(charlie: User, bob: User, client_for: ClientFor) -> None:
    version = attempted(charlie)
    questions.question_answer(
        question=questions.question_ask(version=version, words="Is step two enough?"), words="Yes.", outcome="complete", by=bob
    )
    newer = handed_in(version.submission.problem, OWN + " Newer.")
    client_for(charlie).post(reverse("submissions:version_withdraw", args=[newer.public_id]))
    row = sheet_of(bob, charlie, make_problem("On the sheet"))
    on_sheet(row.contest, charlie)
    erin = User.objects.create_user("erin", role=Role.STUDENT)
    other = attempted(erin, text="Erin writes this herself.")
    hand_in(enter(row.contest, erin)[0], row, "Erin writes on the same sheet.")
    assert {one.submission.paper.contest_id for one in path_of(charlie).rows} == {
        version.submission.paper.contest_id,
        row.contest_id,
    }
    assert len(path_of(charlie).rows) == 2
    client = client_for(charlie)
    content = b"".join(client.get(reverse("practice:export")))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        texts = json.loads(archive.read("practice.json"))
    assert [(one["in"], len(one["versions"])) for one in texts] == [("practice", 2), ("Sheet 1", 1)]
    assert texts[0]["questions"][0]["answer"] == "Yes."
    assert "Erin" not in json.dumps(texts)
    assert "Erase your whole practice?" in client.get(reverse("practice:data")).content.decode()
    client.post(reverse("practice:data"))
    assert list(Contest.objects.filter(kind=ContestKind.PRACTICE)) == [other.submission.paper.contest]
    assert SubmissionVersion.objects.count() == 3
