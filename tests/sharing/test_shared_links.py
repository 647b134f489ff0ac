"""Links to a run for people without an account: who makes them, what they show, and when they show nothing."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from apps.accounts import throttle
from apps.accounts.models import Role, User
from apps.contests.models import Contest, ContestProblem, ContestState
from apps.lemmas.models import Lemma
from apps.reasoning.graders.registry import GRADERS
from apps.runs.models import Run
from apps.sharing.models import SharedLink
from tests.lemmas.factory import make_story_run

GONE = "This link shows nothing."


@pytest.fixture(autouse=True)
def _no_counts() -> None:
    cache.clear()


@pytest.fixture
def run(alice: User) -> Run:
    run = make_story_run()
    run.owner = alice
    run.save(update_fields=["owner"])
    return run


def in_days(days: int) -> str:
    return (timezone.localdate() + timedelta(days=days)).isoformat()


@pytest.fixture
def make(run: Run, alice: User, client_for: Callable[[User | None], Client]) -> Callable[..., str]:
    """Makes a link on the page and returns its path."""

    def make(**more: str) -> str:
        response = client_for(alice).post(f"/runs/{run.public_id}/share/", {"ends_on": in_days(14), **more})
        assert response.status_code == 200
        found = re.search(r'value="https?://[^/]+(/shared/[^"]+)"', response.content.decode())
        assert found is not None
        return found[1]

    return make


def test_a_person_without_an_account_reads_statement_graph_proof_and_lemmas(make: Callable[..., str]) -> None:
    path, visitor = make(), Client()
    response = visitor.get(path)
    page = response.content.decode()
    assert "Prove that $240" not in page  # Formulas are typeset by the page's script.
    assert "240 \\mid p^4 - 1" in page
    assert "gcd(48, 5) = 1" in page
    assert 'id="lemma-s1.11"' in page
    assert 'id="lemma-s1.9"' not in page, "a rejected lemma is no part of the proof"
    data = visitor.get(f"{path}graph.json").json()
    assert {"problem", "s0.7", "proof/2"} <= {node["id"] for node in data["nodes"]}
    assert data["base"] == path
    lemma = visitor.get(f"{path}lemmas/s0.7/")
    assert "16 \\mid a^4 - 1" in lemma.content.decode()
    part = visitor.get(f"{path}proofs/2/", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert not response.cookies, "readers receive no cookies"


def test_the_pages_of_a_link_contain_no_models_calls_people_and_addresses_of_the_run(
    run: Run, alice: User, make: Callable[..., str]
) -> None:
    alice.last_name = "Liddell"
    alice.save()
    path, visitor = make(name="For Eve"), Client()
    answers = (visitor.get(path + part).content.decode() for part in ("", "graph.json", "lemmas/s0.7/", "proofs/2/"))
    everything = "".join(answers)
    words = re.sub(r"<[^>]+>", " ", everything)
    assert not [
        one for one in ("small", "Alice", "Liddell", "Ada", "Eve", "Checked by hand") if re.search(rf"\b{one}\b", words)
    ]
    assert not [one for one in (str(run.public_id), "s0/r1", "/runs/", "site-nav") if one in everything]


def test_readers_see_the_name_that_its_maker_chose(make: Callable[..., str]) -> None:
    assert "Shared by Team Blue." in Client().get(make(shown_by="Team  Blue")).content.decode()


def test_links_are_not_indexed_and_send_no_referrer(make: Callable[..., str]) -> None:
    path = make()
    for part in ("", "graph.json", "lemmas/s0.7/"):
        response = Client().get(path + part)
        assert response["X-Robots-Tag"] == "noindex, nofollow, noarchive"
        assert response["Referrer-Policy"] == "no-referrer"
        assert response["Cache-Control"] == "private, no-store"


def test_only_a_digest_of_the_token_is_stored(make: Callable[..., str]) -> None:
    token = make().split("/")[2]
    link = SharedLink.objects.get()
    assert len(token) >= 43
    assert token not in {str(getattr(link, field.attname)) for field in SharedLink._meta.concrete_fields}
    assert len(link.token_hash) == 64


def test_a_link_reaches_no_other_run(run: Run, make: Callable[..., str]) -> None:
    path, other = make(), make_story_run()
    Lemma.objects.filter(run=other, lemma="s0.7").update(lemma="s7.7", statement="Of another run.")
    assert Client().get(f"{path}lemmas/s7.7/").status_code == 404
    assert GONE in Client().get(f"{path}lemmas/s7.7/").content.decode()
    assert Client().get(f"{path}proofs/9/").status_code == 404
    assert Client().get(f"/runs/{run.public_id}/").status_code == 302


def shows_nothing(path: str) -> bool:
    answers = [Client().get(path + part) for part in ("", "graph.json", "lemmas/s0.7/", "proofs/2/")]
    pages = [answer.content.decode() for answer in answers]
    return all(answer.status_code == 404 for answer in answers) and all(GONE in one and "240" not in one for one in pages)


def test_a_link_that_has_ended_says_so_without_the_title(make: Callable[..., str]) -> None:
    path = make()
    SharedLink.objects.update(ends_at=timezone.now())
    assert shows_nothing(path)


def test_a_revoked_link_says_so_without_the_title(
    run: Run, alice: User, client_for: Callable[[User | None], Client], make: Callable[..., str]
) -> None:
    path, other = make(), make()
    link = SharedLink.objects.earliest("pk")
    client_for(alice).post(f"/runs/{run.public_id}/share/{link.public_id}/revoke/")
    assert shows_nothing(path)
    assert Client().get(other).status_code == 200


@pytest.mark.parametrize("token", ["x", "0" * 43, "é" * 20])
def test_an_unknown_token_has_the_same_response(run: Run, token: str) -> None:
    assert shows_nothing(f"/shared/{token}/")


def test_tokens_are_not_logged(make: Callable[..., str], caplog: pytest.LogCaptureFixture) -> None:
    path = make()
    SharedLink.objects.update(ends_at=timezone.now())
    assert shows_nothing(path)
    assert path.split("/")[2] not in caplog.text


def hold_back(run: Run) -> Contest:
    contest = Contest.objects.create(title="Open", state=ContestState.OPEN)
    version = run.problem_version
    ContestProblem.objects.create(contest=contest, problem=version.problem, version=version, position=1, label="1")
    return contest


def test_a_link_shows_nothing_while_its_problem_is_held_back(run: Run, make: Callable[..., str]) -> None:
    path = make()
    contest = hold_back(run)
    assert shows_nothing(path)
    contest.state = ContestState.PREPARING
    contest.save()
    assert Client().get(path).status_code == 200


def test_a_run_on_a_held_back_problem_gets_no_link(run: Run, alice: User, client_for: Callable[[User | None], Client]) -> None:
    hold_back(run)
    response = client_for(alice).post(f"/runs/{run.public_id}/share/", {"ends_on": in_days(3)})
    assert "is held back for a contest or for marking" in response.content.decode()
    assert not SharedLink.objects.exists()


def test_a_run_that_grades_a_script_gets_no_link(run: Run, alice: User, client_for: Callable[[User | None], Client]) -> None:
    Run.objects.filter(pk=run.pk).update(scaffold=sorted(GRADERS)[0])
    response = client_for(alice).post(f"/runs/{run.public_id}/share/", {"ends_on": in_days(3)})
    assert "Only explorations can be shared." in response.content.decode()
    assert not SharedLink.objects.exists()


def test_a_link_dies_with_its_run_and_when_its_maker_may_no_longer_see_the_run(
    run: Run, alice: User, make: Callable[..., str]
) -> None:
    path = make()
    User.objects.filter(pk=alice.pk).update(role=Role.STUDENT)
    assert shows_nothing(path)
    User.objects.filter(pk=alice.pk).update(role=Role.RESEARCHER)
    assert Client().get(path).status_code == 200
    run.delete()
    assert shows_nothing(path)


@pytest.mark.parametrize("ends_on", ["", "soon", 0, -1, 91])
def test_a_link_needs_a_last_day_within_ninety_days(
    run: Run, alice: User, client_for: Callable[[User | None], Client], ends_on: str | int
) -> None:
    day = in_days(ends_on) if isinstance(ends_on, int) else ends_on
    response = client_for(alice).post(f"/runs/{run.public_id}/share/", {"ends_on": day})
    assert response.status_code == 422
    assert "Choose " in response.content.decode()
    assert not SharedLink.objects.exists()


def test_a_form_proposes_fourteen_days_and_a_link_works_until_the_end_of_its_last_day(
    run: Run, alice: User, client_for: Callable[[User | None], Client], make: Callable[..., str]
) -> None:
    assert f'value="{in_days(14)}"' in client_for(alice).get(f"/runs/{run.public_id}/share/").content.decode()
    make(ends_on=in_days(90))
    ends = timezone.localtime(SharedLink.objects.get().ends_at)
    assert (ends.date().isoformat(), ends.hour) == (in_days(91), 0)


def test_owners_and_staff_share_a_run_and_other_readers_do_not(
    run: Run, alice: User, bob: User, charlie: User, dana: User, client_for: Callable[[User | None], Client],
    make: Callable[..., str],
) -> None:  # fmt: skip
    make()
    link, address = SharedLink.objects.get(), f"/runs/{run.public_id}/share/"
    eve = User.objects.create(username="eve", role=Role.RESEARCHER)
    for user in (bob, charlie, eve):
        assert client_for(user).get(address).status_code == 404
        assert client_for(user).post(address, {"ends_on": in_days(3)}).status_code == 404
        assert client_for(user).post(f"{address}{link.public_id}/revoke/").status_code == 404
    assert client_for(dana).get(address).status_code == 200
    assert "Share by a link" in client_for(alice).get(f"/runs/{run.public_id}/").content.decode()
    assert "Share by a link" not in client_for(bob).get(f"/runs/{run.public_id}/").content.decode()


def test_the_owner_sees_how_often_and_when_a_link_was_opened(
    run: Run, alice: User, client_for: Callable[[User | None], Client], make: Callable[..., str]
) -> None:
    path = make(name="Referee")
    assert "never" in client_for(alice).get(f"/runs/{run.public_id}/share/").content.decode()
    for part in ("", "", "graph.json", "lemmas/s0.7/"):
        Client().get(path + part)
    link = SharedLink.objects.get()
    assert link.uses == 2
    assert link.last_used_at is not None
    page = client_for(alice).get(f"/runs/{run.public_id}/share/").content.decode()
    assert "Referee" in page
    assert path not in page, "the address is shown once"


def test_too_many_requests_from_one_address_wait_and_other_addresses_do_not(
    make: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "OPENINGS", 3)
    path = make()
    assert [Client().get(one).status_code for one in (path, "/shared/wrong/", path, path)] == [200, 404, 200, 429]
    refused = Client().get(path)
    assert int(refused["Retry-After"]) > 0
    assert "240" not in refused.content.decode()
    assert Client(REMOTE_ADDR="192.0.2.7").get(path).status_code == 200


def test_html_in_a_shared_text_is_shown_as_text(run: Run, make: Callable[..., str]) -> None:
    Lemma.objects.filter(run=run, lemma="s0.7").update(statement="<script>alert(1)</script>", steps=["<img src=x>"])
    path = make(shown_by="<b>Eve</b>")
    for part in ("", "lemmas/s0.7/"):
        page = Client().get(path + part).content.decode()
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "<b>" not in page
