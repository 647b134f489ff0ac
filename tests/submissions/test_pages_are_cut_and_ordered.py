"""Pages of a draft: turned, cut and put in order. A version keeps the page that was handed in."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from PIL import Image

from apps.accounts.models import User
from apps.contests.models import Contest, ContestProblem, ContestState
from apps.contests.services import ContestRefused
from apps.submissions import scans
from apps.submissions.intake import Cut, UploadWrong, pages_read
from apps.submissions.models import Scan, Transcription
from apps.submissions.transcriptions import transcription_ask
from tests.contests.factory import enter, hand_in, make_contest, moved
from tests.node import facts
from tests.problems.factory import make_problem
from tests.submissions.pages import models_file, pages_given

ClientFor = Callable[[User | None], Client]


def sheet() -> bytes:
    """A JPEG of 80 × 40 pixels: its left half is black, its right half white."""
    picture = Image.new("L", (80, 40), "white")
    picture.paste(0, (0, 0, 40, 40))
    out = io.BytesIO()
    picture.save(out, "JPEG")
    return out.getvalue()


@pytest.fixture
def drawn(bob: User, charlie: User) -> tuple[Contest, ContestProblem, list[Scan]]:
    """An open contest whose student has three pages in the draft."""
    contest = make_contest(bob, make_problem("One"), state=ContestState.OPEN)
    paper, problem = enter(contest, charlie)
    return contest, problem, pages_given(paper, problem, sheet(), sheet(), sheet())


def changed(client: Client, problem: ContestProblem, scan: Scan, action: str, **more: object) -> str:
    """The page after a change."""
    url = reverse("submissions:page_change", kwargs={"problem_id": problem.public_id})
    return client.post(url, {"scan": scan.public_id, "action": action, **more}, follow=True).content.decode()


def order() -> list[Scan]:
    return list(Scan.objects.exclude(position=None).order_by("position"))


def test_a_page_is_turned_clockwise_before_it_is_cut() -> None:
    (page,) = pages_read(sheet(), cut=Cut(turn=90, top=0.5))
    assert (page.width, page.height) == (40, 40), "the page is 40 × 80 after the turn; its lower half is kept"
    levels = Image.open(io.BytesIO(page.jpeg)).convert("L").tobytes()
    assert min(levels) > 200, "what was on the left is at the top now, and black"


@pytest.mark.parametrize("cut", [{"turn": 45}, {"left": 0.97}, {"right": 1.2}, {"top": float("nan")}, {"bottom": 0.01}])
def test_a_cut_outside_of_the_page_or_too_small_is_refused(cut: dict[str, float]) -> None:
    with pytest.raises(UploadWrong, match="keep at least a twentieth"):
        Cut(**cut)  # type: ignore[arg-type]


def test_pages_are_moved_to_a_place_and_by_one(
    drawn: tuple[Contest, ContestProblem, list[Scan]], charlie: User, client_for: ClientFor
) -> None:
    _, problem, (a, b, c) = drawn
    client = client_for(charlie)
    changed(client, problem, a, "later")
    assert order() == [b, a, c]
    changed(client, problem, c, "place", number="1")
    assert order() == [c, b, a]
    changed(client, problem, c, "earlier")
    changed(client, problem, a, "place", number="99")
    assert order() == [c, b, a], "a page at an end stays there"
    assert "the place is not a number" in changed(client, problem, a, "place", number="²")
    assert order() == [c, b, a]


def test_a_cut_page_takes_the_place_of_the_old_one_and_a_version_keeps_the_old_one(
    drawn: tuple[Contest, ContestProblem, list[Scan]], charlie: User, client_for: ClientFor, settings: object, tmp_path: object
) -> None:
    settings.MODELS_FILE = models_file(tmp_path)  # type: ignore[attr-defined, arg-type]
    _, problem, (a, b, c) = drawn
    client = client_for(charlie)
    transcription_ask(scan=b)
    changed(client, problem, b, "cut", right="0.5")
    first, new, last = order()
    assert (first, last) == (a, c)
    assert (new.width, new.height) == (40, 40)
    assert not Scan.objects.filter(pk=b.pk).exists(), "it was never handed in"
    assert Transcription.objects.get().scan == new
    version = hand_in(new.submission.paper, problem)
    changed(client, problem, new, "cut", turn="90")
    assert [page.scan for page in version.pages.all()] == [a, new, c]
    assert new not in order()
    assert len(order()) == 3
    changed(client, problem, order()[1], "cut")
    assert Scan.objects.count() == 4, "a whole page needs no new row"


def test_a_page_is_not_cut_after_the_end_in_another_window_or_above_the_limit(
    drawn: tuple[Contest, ContestProblem, list[Scan]], charlie: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest, problem, (a, b, c) = drawn
    client = client_for(charlie)
    assert "are not numbers" in changed(client, problem, a, "cut", left="half")
    scans.scan_remove(scan=b)
    with pytest.raises(ContestRefused, match="in another window"):
        scans.scan_replace(scan=b, page=pages_read(sheet())[0])
    hand_in(a.submission.paper, problem)
    monkeypatch.setattr(scans, "SCANS_OF_A_PAPER", 2)
    assert "a paper has at most 2 pages" in changed(client, problem, a, "cut", turn="90")
    moved(contest, ContestState.MARKING)
    changed(client, problem, a, "cut", turn="90")
    assert order() == [a, c]


def test_symbols_fit_their_place_and_a_cut_turns_with_its_page() -> None:
    found = facts(str(Path(__file__).with_name("check_writing.mjs")))
    assert found["inside"] == [True] * 5
    assert found["outside"] == [False] * 6
    assert (found["sign"], found["sign_inside"]) == ("$\\le$^", "\\le ^")
    assert (found["fraction"], found["fraction_inside"]) == ("$\\frac{a}{^}$", "\\frac{^}{}")
    assert (found["power"], found["formula"], found["formula_inside"]) == ("^{^}", "$a=b$^", "a^")
    assert (found["first_step"], found["next_step"]) == ("**Step 1.** ^", "\n\n**Step 8.** ^")
    assert (found["latex_step"], found["numbers"]) == ("\\textbf{Step 2.} ^", 1)
    assert found["quarters"][0] == {"turn": 90, "left": 0.75, "top": 0.5, "right": 1, "bottom": 1}
    assert found["quarters"][3] == {"turn": 0, "left": 0.5, "top": 0, "right": 1, "bottom": 0.25}
    assert (found["at_an_end"], found["not_past"]) == (0, 0.46)
