"""Authors write private drafts and hand in immutable versions within the time window."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import IntegrityError, connections, transaction
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Role, User
from apps.contests.models import Contest, ContestState
from apps.contests.services import ContestRefused
from apps.reasoning.texts.segmentation import digest_of
from apps.submissions.models import Submission, SubmissionVersion, TextFormat
from apps.submissions.selectors import paper_rows
from apps.submissions.services import draft_save, version_withdraw
from tests.cast import person
from tests.contests.factory import TEXT, enter, hand_in, make_contest, moved
from tests.node import facts

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def contest(bob: User, charlie: User) -> Contest:
    """An open contest with Charlie as a student."""
    contest = make_contest(bob, state=ContestState.OPEN)
    enter(contest, charlie)
    return contest


def address(contest: Contest, name: str) -> str:
    return reverse(f"submissions:{name}", kwargs={"problem_id": contest.problems.get().public_id})


def posted(text: str, based_on: int = 0, text_format: str = "markdown") -> dict[str, object]:
    return {"text": text, "text_format": text_format, "based_on": based_on}


def test_a_draft_is_saved_and_restored(contest: Contest, charlie: User, client_for: ClientFor) -> None:
    client = client_for(charlie)
    answer = client.post(address(contest, "draft"), posted("Let $n$ be"))
    assert answer.status_code == 200
    assert answer.json()["row_version"] == 1
    assert "Let $n$ be" in client.get(address(contest, "write")).content.decode()
    assert not SubmissionVersion.objects.exists()


def test_an_older_window_does_not_overwrite_a_newer_draft(contest: Contest, charlie: User, client_for: ClientFor) -> None:
    client = client_for(charlie)
    client.post(address(contest, "draft"), posted("first"))
    client.post(address(contest, "draft"), posted("second", based_on=1))
    answer = client.post(address(contest, "draft"), posted("old window", based_on=1))
    assert answer.status_code == 409
    assert answer.json() == {"row_version": 2, "text": "second", "format": "markdown"}
    assert Submission.objects.get().draft == "second"
    refused = client.post(address(contest, "write"), posted("old window", based_on=1))
    assert refused.status_code == 409
    assert "old window" in refused.content.decode()
    assert "second" in refused.content.decode()
    assert not SubmissionVersion.objects.exists()


def test_a_version_has_steps_with_positions_in_code_points(contest: Contest, charlie: User, client_for: ClientFor) -> None:
    raw = "Let 𝔽 be a field.\r\n\r\nThen e\u0301 is a letter, and $a\r\n= b$."
    client_for(charlie).post(address(contest, "write"), posted(raw))
    version = SubmissionVersion.objects.get()
    assert version.source == "Let 𝔽 be a field.\n\nThen \u00e9 is a letter, and $a\n= b$."
    assert version.digest == digest_of(version.source)
    steps = list(version.steps.all())
    assert [step.text for step in steps] == ["Let 𝔽 be a field.", "Then \u00e9 is a letter, and $a\n= b$."]
    assert [step.digest for step in steps] == [digest_of(step.text) for step in steps]


def test_versions_are_numbered_and_the_newest_is_marked(contest: Contest, charlie: User) -> None:
    paper, problem = enter(contest, charlie)
    first, second = hand_in(paper, problem, "One."), hand_in(paper, problem, "Two.")
    assert (first.number, second.number) == (1, 2)
    assert paper_rows(contest, list(contest.papers.all()))[0].versions == [second]


def test_handing_in_the_same_text_twice_creates_one_version(contest: Contest, charlie: User) -> None:
    paper, problem = enter(contest, charlie)
    assert hand_in(paper, problem) == hand_in(paper, problem)


def test_the_database_rejects_changes_of_a_version(contest: Contest, charlie: User) -> None:
    version = hand_in(*enter(contest, charlie))
    with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
        SubmissionVersion.objects.filter(pk=version.pk).update(source="Better.")
    with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
        SubmissionVersion.objects.filter(pk=version.pk).update(raw="Better.")
    version.refresh_from_db()
    assert version.raw == TEXT


def test_only_the_newest_version_can_be_withdrawn_and_only_in_time(
    contest: Contest, charlie: User, client_for: ClientFor
) -> None:
    paper, problem = enter(contest, charlie)
    first, second = hand_in(paper, problem, "One."), hand_in(paper, problem, "Two.")
    with pytest.raises(ContestRefused, match="newer version"):
        version_withdraw(version=first)
    client_for(charlie).post(reverse("submissions:version_withdraw", kwargs={"version_id": second.public_id}))
    assert paper_rows(contest, list(contest.papers.all()))[0].versions == [None]
    third = hand_in(paper, problem, "Three.")
    moved(contest, ContestState.MARKING)
    third = SubmissionVersion.objects.get(pk=third.pk)
    with pytest.raises(ContestRefused, match="Nothing more"):
        version_withdraw(version=third)


def test_marking_ends_handing_in(contest: Contest, charlie: User, client_for: ClientFor) -> None:
    moved(contest, ContestState.MARKING)
    client = client_for(charlie)
    assert client.post(address(contest, "draft"), posted("late")).status_code == 422
    answer = client.post(address(contest, "write"), posted("late"))
    assert answer.status_code == 422
    assert "Nothing more can be handed in." in answer.content.decode()
    assert not Submission.objects.exists()


def test_an_empty_text_and_an_unknown_format_are_refused(contest: Contest, charlie: User, client_for: ClientFor) -> None:
    client = client_for(charlie)
    assert "nothing to hand in" in client.post(address(contest, "write"), posted(" \n ")).content.decode()
    assert client.post(address(contest, "draft"), posted("text", text_format="word")).status_code == 422
    assert client.post(address(contest, "draft"), posted("x" * 200_001)).status_code == 422
    assert not SubmissionVersion.objects.exists()


def test_other_students_cannot_read_a_text(contest: Contest, charlie: User, client_for: ClientFor) -> None:
    other = User.objects.create_user("erin", role=Role.STUDENT)
    version = hand_in(*enter(contest, charlie))
    enter(contest, other)
    url = reverse("submissions:version_own", kwargs={"version_id": version.public_id})
    assert client_for(charlie).get(url).status_code == 200
    assert client_for(other).get(url).status_code == 404
    assert client_for(other).post(f"{url}withdraw/").status_code == 404
    moved(contest, ContestState.MARKING)
    script = reverse("submissions:script", kwargs={"version_id": version.public_id})
    assert client_for(charlie).get(script).status_code == 404


def test_a_coach_cannot_read_a_draft(contest: Contest, bob: User, charlie: User, client_for: ClientFor) -> None:
    client_for(charlie).post(address(contest, "draft"), posted("An unripe thought."))
    moved(contest, ContestState.MARKING)
    assert client_for(bob).get(address(contest, "write")).status_code == 404
    page = client_for(bob).get(reverse("submissions:paper_list", kwargs={"contest_id": contest.public_id}))
    assert "unripe" not in page.content.decode()
    assert "read</a>" not in page.content.decode()


def test_the_preview_formats_formulas_and_stores_nothing(contest: Contest, charlie: User, client_for: ClientFor) -> None:
    answer = client_for(charlie).post(address(contest, "preview"), {"text": "So $a^2$ <script>x</script>"})
    assert "math" in answer.content.decode()
    assert "<script>" not in answer.content.decode()
    assert not Submission.objects.exists()


def test_a_script_shows_its_steps_and_its_source(contest: Contest, bob: User, charlie: User, client_for: ClientFor) -> None:
    version = hand_in(*enter(contest, charlie), "First.\n\nSecond $x<y$.")
    moved(contest, ContestState.MARKING)
    url = reverse("submissions:script", kwargs={"version_id": version.public_id})
    page = client_for(bob).get(url).content.decode()
    assert 'id="step-1"' in page
    assert 'id="step-2"' in page
    assert "Second $x&lt;y$." in client_for(bob).get(url, {"as": "source"}).content.decode()


def test_the_editor_preserves_drafts_during_lost_connections_and_conflicts() -> None:
    observed = facts(str(Path(__file__).with_name("check_draft.mjs")))
    assert observed["early"] == {"sent": ["typed before the script"]}
    assert observed["saved"] == {"sent": ["ab"], "based_on": "1", "copy": None}
    assert observed["from_memory"] == {"text": "ab", "based_on": "1"}, "an older page shows what was saved since"
    assert observed["shortened"] == {"text": "a", "shown": False}, "shorter than what is saved, and newer"
    assert observed["newer"] == {"text": "", "saved": None}, "the server's page is newer"
    assert observed["offline"]["status"].startswith("No connection.")
    assert observed["offline"]["copy"] == {"text": "abc", "format": "markdown", "words": {}, "basedOn": "1"}
    assert observed["back"] == {"sent": ["abc"], "based_on": "2", "copy": None}
    assert observed["conflict"] == {"shown": True, "sent_while_open": 0}
    assert observed["taken"] == {"text": "theirs", "shown": False, "based_on": "8"}
    assert observed["restored"] == "left behind"
    assert observed["stranger"] == ""
    assert observed["kept_when_sent"] == "left behind", "the request may fail"
    assert observed["behind"] == {"text": "left behind", "shown": True}, "the author chooses"
    assert observed["behind_taken"] == "from the other computer"
    assert observed["done"] == {"text": "all of it\n\nand a page", "shown": False, "copy": None}
    assert observed["correction_here"] == {"words-1": "corrected by hand"}, "the field is outside the form"
    assert observed["correction_sent"] > 0
    assert observed["correction_back"] == "corrected by hand", "the tab was closed before it was saved"
    assert observed["correction_saved"] is None
    assert observed["correction_asked"] == {"words": "mine", "shown": True}, "the author chooses"
    assert observed["correction_theirs"] == "corrected elsewhere"
    assert observed["cut_kept"] == "0", "no answer came"
    assert observed["cut"] == {"sent": ["a\nbc"], "based_on": "2", "shown": False}, "the stored text was sent from here"
    assert observed["cut_reopened"] == {"text": "a\nbc", "shown": False}
    assert observed["cut_and_changed"] is True, "the author chooses"
    assert observed["waits"] == [800, 10_000, 20_000, 60_000, 5_000], "ms to the next save, by the time of the last answer"
    assert observed["left"] == 800
    assert observed["waiting"] == "Not saved yet. Your text is kept on this device.", "not Saved"
    assert observed["hidden"] == 800


@pytest.mark.django_db(transaction=True)
def test_handing_in_concurrently_creates_one_version() -> None:
    contest = make_contest(person("bob"), state=ContestState.OPEN)
    paper, problem = enter(contest, person("charlie"))
    draft_save(paper=paper, problem=problem, text=TEXT, text_format=TextFormat.MARKDOWN, based_on=0)

    def once(_: int) -> int:
        try:
            return hand_in(paper, problem).pk
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(once, range(8)))) == 1
