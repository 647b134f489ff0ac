"""Over all runs: how far judges of pairs follow the order, and that there is something to count or not."""

from io import StringIO

import pytest
from django.core.management import call_command

from apps.explorations.management.commands.pair_judges import comparisons_of
from apps.runs.models import Run
from tests.explorations.test_solutions_of_a_run import nomos, played

pytestmark = pytest.mark.django_db(transaction=True)


def said(*arguments: str) -> str:
    written = StringIO()
    call_command("pair_judges", *arguments, stdout=written)
    return written.getvalue()


def test_each_judge_is_listed_with_its_order_effect() -> None:
    run = played("nomos", "quick", nomos)
    rows = comparisons_of(run)
    assert {one.judge for one in rows} == {"scripted"}
    assert {one.authors for one in rows} == {("scripted", "scripted")}
    text = said()
    assert f"scripted: {len(rows)} comparisons, 0 not read" in text
    assert f"the solution shown first won: {len(rows)} of {len(rows)}" in text
    assert "its own model's text won: nothing to count" in text
    assert said("--run", str(run.public_id)) == text


def test_without_a_judged_pair_there_is_nothing_and_authored_runs_do_not_count() -> None:
    assert "No judged pairs." in said()
    run = played("nomos", "quick", nomos)
    Run.objects.filter(pk=run.pk).update(is_authored=True)
    assert "No judged pairs." in said()
