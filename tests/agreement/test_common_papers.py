"""Several graders are compared on their common papers, with paired differences, unless requested on their own papers."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.agreement.common_papers import OTHER_MARKS, on_common
from apps.agreement.comparisons import Gathered, parts_of
from apps.agreement.sources.files import agreement_file_ask, agreement_file_keep
from apps.reasoning.agreement.paired import differences
from apps.reasoning.agreement.pairs import Pair, Scored
from apps.reasoning.agreement.scales import Scale
from apps.reasoning.domain.values import Unscored
from apps.reasoning.statistics.intervals import Interval

ClientFor = Callable[[User | None], Client]
NONE = Unscored(reason="no JSON")
COLUMNS = ("--human", "human", "--predicted", "a", "--predicted", "b", "--paper", "paper", "--problem", "problem")


def rows() -> list[dict[str, Any]]:
    """60 papers of 10 problems; `a` has no points on 9 of them, `b` on one."""
    found = []
    for number in range(60):
        human = number * 5 % 8
        a, b = (human if number % 3 else 7 - human), human
        given = {"a": None if number < 9 else a, "b": None if number == 20 else b}
        found.append({"paper": f"p{number}", "problem": f"P{number % 10}", "human": human, **given})
    return found


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "two.json").write_text(json.dumps(rows()))
    return str(tmp_path / "two.json")


def printed(*arguments: str) -> str:
    out = StringIO()
    call_command("agreement", *arguments, stdout=out)
    return out.getvalue()


def test_columns_use_the_papers_that_all_graders_scored_unless_requested_otherwise(path: str) -> None:
    text = " ".join(printed(path, *COLUMNS).split())
    assert "Compared on the 50 papers that all 2 graders scored; dropped: a 1, b 9." in text
    (part,) = json.loads(printed(path, *COLUMNS, "--json"))["parts"]
    assert [one["over_all"]["counts"]["pairs"] for one in part["graders"]] == [50, 50]
    assert [one["over_all"]["exact_of"][1] for one in part["graders"]] == [60, 60], (
        "unscored counts as wrong, on the same papers"
    )
    assert part["common"]["dropped"]["a"] == ["p20"]
    mae = next(one for one in part["differences"]["b"] if one["slug"] == "mae")
    assert mae["interval"]["low"] < mae["value"] < mae["interval"]["high"] < 0
    (alone,) = json.loads(printed(path, *COLUMNS, "--json", "--each-on-its-own"))["parts"]
    assert [one["over_all"]["counts"]["pairs"] for one in alone["graders"]] == [51, 59]
    assert (alone["common"], alone["differences"]) == (None, {})
    (other,) = json.loads(printed(path, *COLUMNS, "--json", "--baseline", "b"))["parts"]
    assert list(other["differences"]) == ["a"]
    with pytest.raises(CommandError, match="one of the graders: a, b"):
        printed(path, *COLUMNS, "--baseline", "c")


def test_graders_without_common_papers_are_not_compared_and_the_reason_is_given() -> None:
    first = [Pair(paper="x", human=1, predicted=1), Pair(paper="y", human=1, predicted=NONE)]
    kept, (common,) = on_common({"a": first, "b": [Pair(paper="y", human=1, predicted=1)]})
    assert "no paper was scored by all 2 graders" in common.words({})
    assert len(kept["a"]) == 2
    _, (common,) = on_common({"a": first, "b": [Pair(paper="x", human=2, predicted=1)]})
    assert common.apart == OTHER_MARKS
    kept, (common,) = on_common({"a": first, "b": first, "c": [Pair(paper="x", human=1, predicted=NONE)]})
    assert (common.papers, common.scored_none, len(kept["c"])) == (1, ("c",), 1)
    assert on_common({"a": first})[1] == ()


def test_a_paired_difference_is_the_studentised_mean_over_problems() -> None:
    numbers = np.random.default_rng(1)
    hard = np.repeat(numbers.integers(0, 5, 12), 4)
    human = np.full(48, 7)
    first = [Scored(paper=f"{n}", human=7, predicted=float(7 - hard[n]), problem=f"P{n // 4:02}") for n in range(48)]
    drop = np.repeat(numbers.integers(0, 3, 12), 4)
    other = [one.model_copy(update={"predicted": max(0.0, one.predicted - drop[n])}) for n, one in enumerate(first)]
    found = {one.slug: one for one in differences(first, other[::-1], Scale(), draws=100, seed=0)}
    means = np.array([one.predicted for one in other]).reshape(12, 4).mean(1) - (human - hard).reshape(12, 4).mean(1)
    interval = found["bias"].interval
    assert isinstance(interval, Interval)
    assert found["bias"].value == pytest.approx(means.mean())
    reach = 2.201 * means.std(ddof=1) / np.sqrt(12)
    assert (interval.high - interval.low) / 2 == pytest.approx(reach, rel=2e-3)
    with pytest.raises(ValueError, match="same papers"):
        differences(first, other[1:], Scale(), draws=0, seed=0)


def test_from_fifty_problems_on_both_graders_use_the_same_draws() -> None:
    first = [Pair(paper=f"{n}", human=n % 8, predicted=n * 3 % 8) for n in range(60)]
    same = Gathered(graders={"a": tuple(first), "b": tuple(first)}).on_common()
    (part,) = parts_of(same, draws=50, seed=0)
    for one in part.differences["b"]:
        assert (one.value, one.interval) == (0, Interval(low=0, high=0)), (
            "with separate draws, the same grader would differ from itself"
        )


def test_a_file_with_two_maxima_needs_a_scale_and_a_factor(tmp_path: Path) -> None:
    table = [{"human": n % 8, "human_of": 10, "points": n % 7, "scale": 7} for n in range(30)]
    (tmp_path / "x.json").write_text(json.dumps(table))
    asked = (str(tmp_path / "x.json"), "--human", "human", "--predicted", "points", "--json")
    with pytest.raises(CommandError, match=r"out of 10 .* goes up to 7\. Set the scale to 0:10\."):
        printed(*asked)
    with pytest.raises(CommandError, match=r"grader's out of 7 .*by 1\.42857142857 "):
        printed(*asked, "--scale", "0:10")
    (part,) = json.loads(printed(*asked, "--scale", "0:10", "--times", "1.42857142857"))["parts"]
    assert part["graders"][0]["over_all"]["counts"]["pairs"] == 30
    (tmp_path / "x.json").write_text(json.dumps([*table, {**table[0], "human_of": 7}]))
    with pytest.raises(CommandError, match=r"out of 7 and 10 .* not pooled"):
        printed(*asked)


def test_maxima_in_nested_objects_are_found(tmp_path: Path) -> None:
    table = [{"mark": {"by": {"human": 1, "human_of": most}}, "points": 1} for most in (10, 7)]
    (tmp_path / "x.json").write_text(json.dumps(table))
    with pytest.raises(CommandError, match=r"out of 7 and 10 .* not pooled"):
        printed(str(tmp_path / "x.json"), "--human", "mark.by.human", "--predicted", "points", "--json")


@pytest.mark.django_db
def test_the_page_shows_which_papers_are_compared_and_links_to_the_other_choice(alice: User, client_for: ClientFor) -> None:
    file = agreement_file_keep(user=alice, filename="two.json", data=json.dumps(rows()).encode())
    asked = {"rows": "", "human": "human", "predicted": ["a", "b"], "runs": False, "second": "", "problem": "problem"}
    more = {"paper": "paper", "author": "", "contaminated": "", "groups": [], "labels": "", "times": 1.0, "scale": "0:7"}
    agreement_file_ask(file=file, asked={**asked, **more, "points": "fitting"})
    client, address = client_for(alice), reverse("agreement:detail", args=["file", file.public_id])
    text = client.get(address).content.decode()
    assert "Compared on the 50 papers that all 2 graders scored; dropped: a 1, b 9." in text
    assert "Difference of each grader from a on the same papers" in text
    assert "Difference of each grader from b" in client.get(f"{address}?baseline=b").content.decode()
    alone = client.get(f"{address}?each=1").content.decode()
    assert "Compared on the" not in alone
    assert "the columns may cover different papers" in alone
    content = client.get(reverse("agreement:json", args=["file", file.public_id])).json()
    assert content["parts"][0]["common"]["papers"] == 50
    pairs = client.get(f"{reverse('agreement:pairs', args=['file', file.public_id])}?of=b").content.decode()
    assert "<h1>50 pairs</h1>" in pairs
