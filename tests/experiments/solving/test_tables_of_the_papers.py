"""Each table of the papers fills a form that can be started, and says what it needs."""

import re
from html import unescape

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.experiments.presets.tables import PAPERS, Preset, presets
from apps.experiments.solving.forms import builder_new
from apps.graded_sets.models import GradedScript, GradedSet
from apps.graders.starting import models_for_grading
from apps.reasoning.graders.registry import GRADERS
from tests.cast import person
from tests.experiments.solving.playing import as_sent, make_problem_set

pytestmark = pytest.mark.django_db
URL = "/experiments/new/solving/"
SOLVING = [one for one in presets().values() if one.solving]
GRADING = [one for one in presets().values() if one.grading]


def names(found: list[Preset]) -> list[str]:
    return [one.name for one in found]


def filled(preset: Preset) -> dict[str, str]:
    return as_sent(builder_new(models_for_grading(), None, {}, preset))


@pytest.fixture
def alice(client: Client) -> User:
    client.force_login(person("alice"))
    return person("alice")


def test_every_paper_has_its_tables_and_the_page_lists_them(alice: User, client: Client) -> None:
    html = client.get("/experiments/tables/").content.decode()
    assert len({one.paper for one in presets().values()}) == len(PAPERS)
    for one in presets().values():
        assert f"?preset={one.name}" in html


@pytest.mark.parametrize("preset", SOLVING, ids=names(SOLVING))
def test_a_table_of_solving_fills_a_form_that_starts(preset: Preset, alice: User, client: Client) -> None:
    make_problem_set(2)
    assert preset.differs.split(".")[0] in unescape(client.get(f"{URL}?preset={preset.name}").content.decode())
    answer = client.post(URL, {**filled(preset), "set": "sums", "action": "start"})
    assert answer.status_code == 302, re.findall(r'field__error">([^<]+)|role="alert"><p>([^<]+)', answer.content.decode())


@pytest.mark.parametrize("preset", GRADING, ids=names(GRADING))
def test_a_table_of_grading_ticks_graders_that_exist(preset: Preset, alice: User, client: Client) -> None:
    assert preset.grading is not None
    assert set(preset.grading.workflows) <= set(GRADERS)
    html = client.get(f"/experiments/new/?preset={preset.name}").content.decode()
    assert preset.differs.split(".")[0] in unescape(html)


def test_the_form_chooses_the_set_that_the_table_needs(alice: User, client: Client) -> None:
    for title in ("Algebra", "Imo-proofbench, advanced part", "IMO ProofBench"):
        make_problem_set(1, title)
    html = client.get(f"{URL}?preset=qed-nano-2").content.decode()
    assert '<option value="imo-proofbench" selected>' in html
    assert "No set here has this name or size" not in html
    assert '<option value="algebra" selected>' in client.get(f"{URL}?preset=qed-nano-2&set=algebra").content.decode()
    sent = filled(presets()["qed-nano-2"])
    assert sent["set"] == "imo-proofbench"
    wrong = "needs IMO-ProofBench. The name of the chosen set, Algebra, is another one."
    assert wrong in client.post(f"{URL}?preset=qed-nano-2", {**sent, "set": "algebra", "action": "estimate"}).content.decode()
    for fits in ("imo-proofbench", "imo-proofbench-advanced-part"):
        html = client.post(f"{URL}?preset=qed-nano-2", {**sent, "set": fits, "action": "estimate"}).content.decode()
        assert "is another one" not in html


def test_a_table_whose_set_does_not_exist_says_so(alice: User, client: Client) -> None:
    make_problem_set(1, "Algebra")
    html = client.get(f"{URL}?preset=qed-nano-2").content.decode()
    assert "No set here has this name or size. Import it first" in html
    assert f'hx-post="{URL}?preset=qed-nano-2"' in html, "the estimate knows the table"
    assert "No set here has this name or size" not in client.get(URL).content.decode()


def test_the_form_of_gradings_chooses_the_set_with_as_many_scripts(alice: User, client: Client) -> None:
    sets = {count: GradedSet.objects.create(title=f"Part {count}", digest=str(count)) for count in (1, 390, 90)}
    for count, made in sets.items():
        rows = [GradedScript(graded_set=made, position=n, name=f"s{n}", problem_name=f"p{n % 5}") for n in range(count)]
        GradedScript.objects.bulk_create(rows)
    url = "/experiments/new/?preset="
    html = client.get(f"{url}refgrader-1").content.decode()
    assert f'<option value="set:{sets[90].public_id}" selected>' in html
    assert "No set here has this name or size" not in html
    assert "No set here has this name or size" in client.get(f"{url}qed-nano-4").content.decode()
    chosen = client.get(f"{url}refgrader-1&source=set:{sets[1].public_id}").content.decode()
    assert f'<option value="set:{sets[1].public_id}" selected>' in chosen


def test_an_unknown_table_shows_the_usual_form(alice: User, client: Client) -> None:
    make_problem_set(1)
    assert 'value="single"' in client.get(f"{URL}?preset=none").content.decode()
