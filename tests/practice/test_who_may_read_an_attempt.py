"""Who may read and change an attempt: every address of practice and of its texts, for every kind of reader."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.test import Client
from django.urls import get_resolver, reverse
from django.urls.resolvers import URLPattern, URLResolver

from apps.accounts.models import Role, User
from apps.practice import questions, remarks
from apps.practice.models import Question, Remark
from apps.submissions.models import SubmissionVersion
from tests.practice.factory import attempted, grouped, handed_in, on_sheet, sheet_of, with_hints

ClientFor = Callable[[User | None], Client]

#: Readers of a shared text in practice whose student is in a group of Bob's. Erin is another student, Dana a coach and staff.
READERS = ("charlie", "erin", "bob", "dana", "alice")
STUDENT = (200, 404, 404, 404, 404)
COACH = (404, 404, 200, 404, 404)
SENT = tuple(302 if one == 200 else one for one in STUDENT)
DECIDED = tuple(302 if one == 200 else one for one in COACH)
#: Address → its arguments, the method, and the status for each reader. The withdrawal is last: it ends the reading.
TABLE: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "practice:attempt": ("version", "get", STUDENT),
    "practice:compare": ("version", "get", STUDENT),
    "practice:hints": ("problem", "get", STUDENT),
    "practice:check": ("problem", "post", STUDENT),
    "practice:check_version": ("version", "post", SENT),
    "practice:ask": ("version", "post", (422, 404, 404, 404, 404)),
    "practice:decide": ("problem verb=done", "post", SENT),
    "practice:remark_reply": ("remark verb=disagree", "post", SENT),
    "practice:model": ("version", "get", STUDENT),
    "practice:answer": ("version", "get", COACH),
    "practice:example": ("version", "post", DECIDED),
    "practice:remark": ("version", "post", DECIDED),
    "practice:remark_decide": ("remark verb=remove", "post", DECIDED),
    "practice:rules": ("contest", "get", (404,) * 5),
    "submissions:write": ("problem", "get", STUDENT),
    "submissions:draft": ("problem", "post", (422, 404, 404, 404, 404)),
    "submissions:preview": ("problem", "post", STUDENT),
    "submissions:version_own": ("version", "get", SENT),
    "submissions:script": ("version", "get", (404,) * 5),
    "submissions:paper_list": ("contest", "get", (404,) * 5),
    "results:result": ("version", "get", STUDENT),
    "results:feedback_own": ("version", "get", STUDENT),
    "results:feedback_queue": ("contest", "get", (404,) * 5),
    "practice:withdraw": ("question", "post", SENT),
}
#: Addresses that show everybody their own things.
OWN = {
    f"practice:{name}"
    for name in ("path", "try", "data", "export", "queue", "next", "errors", "phrases", "models")  # Staff alone read the last.
}


@dataclass(frozen=True)
class Shared:
    """A version that Charlie asked about, with a remark of Bob's."""

    version: SubmissionVersion
    question: Question
    remark: Remark

    def arguments(self, words: str) -> dict[str, object]:
        first, _, verb = words.partition(" verb=")
        problem = self.version.submission.problem
        found: dict[str, dict[str, object]] = {
            "version": {"version_id": self.version.public_id},
            "problem": {"problem_id": problem.public_id},
            "contest": {"contest_id": problem.contest.public_id},
            "question": {"question_id": self.question.public_id},
            "remark": {"remark_id": self.remark.public_id},
        }
        return found[first] | ({"verb": verb} if verb else {})


def erin() -> User:
    return User.objects.create_user("erin", role=Role.STUDENT)


def shared(student: User, coach: User) -> Shared:
    version = attempted(student, with_hints())
    question = questions.question_ask(version=version, words="Is step two enough?")
    return Shared(version, question, remarks.remark_add(version=version, step=2, words="Why?", kind="gap", by=coach))


def test_every_address_of_practice_is_in_the_table() -> None:
    found = next(one for one in get_resolver().url_patterns if isinstance(one, URLResolver) and one.namespace == "practice")
    names = {f"practice:{pattern.name}" for pattern in found.url_patterns if isinstance(pattern, URLPattern)}
    assert names - OWN == {name for name in TABLE if name.startswith("practice:")}


def test_each_reader_gets_what_the_table_says(
    request: pytest.FixtureRequest, charlie: User, bob: User, client_for: ClientFor
) -> None:
    people = {"erin": erin()} | {name: request.getfixturevalue(name) for name in READERS if name != "erin"}
    grouped(bob, charlie)
    text = shared(charlie, bob)
    wrong = []
    for name, (arguments, method, statuses) in TABLE.items():
        url = reverse(name, kwargs=text.arguments(arguments))
        # The author is asked last: an own change must not make the others' 404 look right.
        for reader, status in reversed(list(zip(READERS, statuses, strict=True))):
            got = getattr(client_for(people[reader]), method)(url).status_code
            if got != status:
                wrong.append(f"{name} for {reader}: {got} instead of {status}")
    assert wrong == []


def test_a_coach_of_the_group_reads_the_name_and_only_after_a_question(charlie: User, bob: User, client_for: ClientFor) -> None:
    charlie.first_name, charlie.last_name = "Charlie", "Chebyshev"
    charlie.save()
    grouped(bob, charlie)
    version = attempted(charlie)
    page = reverse("practice:answer", args=[version.public_id])
    assert client_for(bob).get(page).status_code == 404
    questions.question_ask(version=version, words="Is step two enough?")
    assert "Chebyshev" in client_for(bob).get(page).content.decode()


def test_a_coach_who_adds_the_student_later_reads_no_name(charlie: User, bob: User, dana: User, client_for: ClientFor) -> None:
    charlie.last_name = "Chebyshev"
    charlie.save()
    version = attempted(charlie)
    questions.question_ask(version=version, words="Is step two enough?")
    grouped(bob, charlie)
    page = reverse("practice:answer", args=[version.public_id])
    for coach in (bob, dana):
        shown = client_for(coach).get(page)
        assert shown.status_code == 200
        assert "Chebyshev" not in shown.content.decode()
    own = client_for(charlie).get(reverse("practice:attempt", args=[handed_in(version.submission.problem, "Newer.").public_id]))
    assert "Bob can then read all versions of this text, with your name." in own.content.decode()


def test_without_a_group_any_coach_reads_and_no_coach_learns_the_name(
    charlie: User, bob: User, dana: User, alice: User, client_for: ClientFor
) -> None:
    charlie.last_name = "Chebyshev"
    charlie.save()
    version = attempted(charlie)
    questions.question_ask(version=version, words="Is step two enough?")
    for coach in (bob, dana):
        for url in (reverse("practice:answer", args=[version.public_id]), reverse("practice:queue")):
            page = client_for(coach).get(url).content.decode()
            assert "Sums of two squares" in page
            assert "Chebyshev" not in page
            assert "charlie" not in page.lower()
    assert client_for(alice).get(reverse("practice:answer", args=[version.public_id])).status_code == 404


def test_a_withdrawn_question_ends_the_reading(charlie: User, bob: User, client_for: ClientFor) -> None:
    version = attempted(charlie)
    question = questions.question_ask(version=version, words="Is step two enough?")
    client_for(charlie).post(reverse("practice:withdraw", args=[question.public_id]))
    assert client_for(bob).get(reverse("practice:answer", args=[version.public_id])).status_code == 404


def test_a_student_ends_the_sharing_of_a_disagreement_too(charlie: User, bob: User, dana: User, client_for: ClientFor) -> None:
    grouped(bob, charlie)
    text = shared(charlie, bob)
    questions.question_answer(question=text.question, words="Say why.", outcome="nearly", by=bob)
    remarks.disagree(remark=text.remark, words="It is said in step one.")
    student, page = client_for(charlie), reverse("practice:answer", args=[text.version.public_id])
    assert client_for(bob).get(page).status_code == 200
    own = reverse("practice:attempt", args=[text.version.public_id])
    assert "End the sharing with coaches" in student.get(own).content.decode()
    end = reverse("practice:decide", args=[text.version.submission.problem.public_id, "unshare"])
    assert client_for(dana).post(end).status_code == 404
    student.post(end)
    assert client_for(bob).get(page).status_code == 404
    shown = student.get(own).content.decode()
    assert "Say why." in shown
    assert "End the sharing with coaches" not in shown


def test_a_coach_who_practises_does_not_answer_the_own_text(bob: User, client_for: ClientFor) -> None:
    version = attempted(bob)
    questions.question_ask(version=version, words="Is step two enough?")
    client = client_for(bob)
    assert client.get(reverse("practice:attempt", args=[version.public_id])).status_code == 200
    assert client.get(reverse("practice:answer", args=[version.public_id])).status_code == 404


def test_coaches_of_a_sheet_read_versions_and_never_drafts(charlie: User, bob: User, dana: User, client_for: ClientFor) -> None:
    row = sheet_of(bob, charlie)
    version = on_sheet(row.contest, charlie)
    client = client_for(bob)
    answer = reverse("practice:answer", args=[version.public_id])
    assert client.get(answer).status_code == 200
    assert client.get(reverse("submissions:script", args=[version.public_id])).status_code == 200
    assert client.get(reverse("submissions:write", args=[row.public_id])).status_code == 404
    assert client_for(dana).get(answer).status_code == 404


def test_a_withdrawn_version_is_read_by_no_coach(charlie: User, bob: User, client_for: ClientFor) -> None:
    row = sheet_of(bob, charlie)
    version = on_sheet(row.contest, charlie)
    client_for(charlie).post(reverse("submissions:version_withdraw", args=[version.public_id]))
    assert client_for(bob).get(reverse("practice:answer", args=[version.public_id])).status_code == 404


def test_older_versions_of_a_shared_text_are_readable_too(charlie: User, bob: User, client_for: ClientFor) -> None:
    first = attempted(charlie)
    second = handed_in(first.submission.problem, "A newer text of this proof.")
    questions.question_ask(version=second, words="Is it better now?")
    for version in (first, second):
        assert client_for(bob).get(reverse("practice:answer", args=[version.public_id])).status_code == 200
