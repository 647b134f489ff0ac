"""A file of points on the agreement page: put up, its columns named, compared, its owner's alone."""

import csv
import html
import io
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.grading import agreement_files, agreement_pages
from apps.grading.comparisons import Gathered, Part, parts_of
from apps.grading.models import AgreementFile

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
MARKS = [0, 0, 1, 2, 5, 6, 7, 7] * 5
GIVEN = [0, 1, 1, 4, 5, 7, 7, 7] * 5
SHARED = Path(__file__).resolve().parents[2] / os.environ.get("SHARED_DATA", "../shared/data")
LOCKBOX = SHARED / "gradingbench/lockbox_summary.json"


def table(rows: int = 40, **more: list[Any]) -> bytes:
    out = io.StringIO()
    written = csv.writer(out)
    written.writerow(["paper", "problem", "Points", "prediction", *more])
    for number in range(rows):
        cells = [values[number % len(values)] for values in more.values()]
        written.writerow([f"s{number}", f"P{number % 4}", MARKS[number % 40], GIVEN[number % 40], *cells])
    return out.getvalue().encode()


def put_up(client: Client, data: bytes, name: str = "marks.csv", **asked: Any) -> AgreementFile:
    """The file with its columns named as they are proposed, but for `asked`."""
    upload = {"file": SimpleUploadedFile(name, data)}
    answer = client.post(reverse("grading:agreement_list"), upload)
    assert answer.status_code == 302, answer.content.decode()
    file = AgreementFile.objects.latest("pk")
    assert answer.headers["Location"] == reverse("grading:agreement_columns", args=[file.public_id])
    form = {"times": 1, "scale": "0:7", "points": "fitting"} | agreement_files.columns_of(file).proposed | asked
    answer = client.post(answer.headers["Location"], form)
    assert answer.status_code == 302, re.findall(r"error[^<]*<p>(.*?)</p>", answer.content.decode())
    return file


def address(file: AgreementFile, name: str = "agreement", **query: str) -> str:
    from urllib.parse import urlencode

    return f"{reverse(f'grading:{name}', args=['file', file.public_id])}?{urlencode(query)}"


def text_of(client: Client, file: AgreementFile, name: str = "agreement", **query: str) -> str:
    return html.unescape(client.get(address(file, name, **query)).content.decode())


def line(text: str, title: str) -> str:
    """A row of a table, without its tags."""
    found = re.search(rf'<tr><th scope="row">{re.escape(title)}(?:<|$).*?</tr>', text, re.DOTALL)
    assert found, title
    return " ".join(re.sub(r"<[^>]+>", " ", found[0]).split())


def test_a_file_is_put_up_its_columns_are_proposed_and_it_is_compared(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    file = put_up(client, table())
    text = text_of(client, file)
    assert line(text, "with points on both sides").endswith("40")
    assert line(text, "Exact").startswith("Exact 0.625")
    assert line(text, "Bias").split("generous ")[1].startswith("+0.500")
    assert "there are only 4 problems to draw from" in text
    assert "Its markers" not in text


def test_nobody_else_sees_a_file(alice: User, bob: User, charlie: User, client_for: ClientFor) -> None:
    file = put_up(client_for(alice), table())
    for other in (bob, charlie):
        client = client_for(other)
        for name in ("agreement", "agreement_data", "agreement_json", "agreement_pairs"):
            assert client.get(address(file, name)).status_code == 404
        assert client.get(reverse("grading:agreement_columns", args=[file.public_id])).status_code == 404
        assert client.post(reverse("grading:agreement_file_delete", args=[file.public_id])).status_code == 404
        assert client.post(address(file, "agreement_bucket")).status_code == 404
        assert file.filename not in client.get(reverse("grading:agreement_list")).content.decode()
    assert client_for(charlie).get(reverse("grading:agreement_list")).status_code == 404


def test_a_file_is_thrown_away(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    file = put_up(client, table())
    assert client.post(reverse("grading:agreement_file_delete", args=[file.public_id])).status_code == 302
    assert not AgreementFile.objects.exists()
    assert client.get(address(file)).status_code == 404


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"[1, 2]", "not a list of objects"),
        (b"{}", "holds no list of objects"),
        (b"PK\x03\x04", "not a text file"),
    ],
)
def test_what_cannot_be_read_is_not_kept(data: bytes, words: str, alice: User, client_for: ClientFor) -> None:
    upload = {"file": SimpleUploadedFile("x.csv", data)}
    answer = client_for(alice).post(reverse("grading:agreement_list"), upload)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not AgreementFile.objects.exists()


def test_columns_that_do_not_fit_are_refused_with_what_to_do_and_nothing_is_kept(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    file = put_up(client, table(level=["a", "b"]))
    form = {"times": 1, "scale": "0:5", "points": "fitting", "rows": "", "human": "Points", "predicted": ["prediction"]}
    answer = client.post(reverse("grading:agreement_columns", args=[file.public_id]), form)
    assert answer.status_code == 422
    assert "6 is not from 0 to 5" in answer.content.decode()
    form["human"] = "level"
    answer = client.post(reverse("grading:agreement_columns", args=[file.public_id]), form | {"scale": "0:7"})
    assert "is not points" in answer.content.decode()
    assert AgreementFile.objects.get().asked["human"] == "Points"


def test_null_predictions_are_unscored_and_listed_with_their_reason(alice: User, client_for: ClientFor) -> None:
    rows = [
        {"Points": str(mark), "grader": None if not number else points}
        for number, (mark, points) in enumerate(zip(MARKS, GIVEN, strict=True))
    ]
    client = client_for(alice)
    file = put_up(client, json.dumps(rows).encode(), "a.json")
    text = text_of(client, file)
    assert line(text, "unscored").endswith(" 1")
    listed = text_of(client, file, "agreement_pairs", kind="unscored")
    assert "1 pair<" in listed
    assert "there is no prediction" in listed


def test_every_number_leads_to_exactly_its_pairs(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    file = put_up(client, table(by=["student", "model"]), author="by")
    for number, where in re.findall(r'<a href="([^"]+)"[^>]*>([\d,]+)(?:<span>|</a>)', text_of(client, file, split="problem")):
        listed = client.get(number.replace("&amp;", "&")).content.decode()
        assert f"<h1>{where.replace(',', '')} pair" in listed, number


def test_fewer_than_thirty_pairs_have_counts_only(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    text = text_of(client, put_up(client, table(29)))
    assert "Fewer than 30 pairs: there are only counts" in text
    assert "QWK</th>" not in text
    assert line(text, "the same points")


def test_a_split_by_problem_draws_papers_and_tells_few_papers_by_counts(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    file = put_up(client, table(), groups=["problem"])
    text = text_of(client, file, split="problem")
    assert "fewer than 30" in line(text, "P0")
    whole = text_of(client, put_up(client, table(topic=["A"] * 35 + ["N"] * 5), groups=["topic"]), split="topic")
    assert re.search(r"A 35 0 0\.\d{3}", line(whole, "A"))


def test_a_column_of_as_many_values_as_papers_splits_nothing(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    file = put_up(client, table(520), groups=["paper", "problem"])
    text = text_of(client, file, split="paper")
    assert "by problem" in text
    assert "by paper" not in text
    assert "s17" not in text


def test_a_constant_grader_is_undefined_with_the_reason(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    text = text_of(client, put_up(client, table(flat=[7]), predicted=["flat"]))
    assert "undefined" in line(text, "Pearson")
    assert "one side gives the same points to all" in text
    assert "nan" not in re.sub(r"<[^>]+>", "", text).casefold().split()


def test_half_points_are_categories_of_their_own_and_named(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    text = text_of(client, put_up(client, table(half=["3.5", *map(str, MARKS[1:])]), human="half"))
    assert "half points from 0 to 7, 15 categories" in text
    assert "person 3.5" in text


def test_runs_are_told_as_consistency_and_not_as_accuracy(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    text = text_of(client, put_up(client, table(again=[7]), predicted=["prediction", "again"], runs="on"))
    assert "This is consistency, not accuracy" in text


def test_the_same_content_is_computed_once(alice: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    asked: list[Gathered] = []

    def computed(gathered: Gathered, *, draws: int, seed: int) -> tuple[Part, ...]:
        asked.append(gathered)
        return parts_of(gathered, draws=draws, seed=seed)

    monkeypatch.setattr(agreement_pages, "parts_of", computed)
    client = client_for(alice)
    first, second = put_up(client, table()), put_up(client, table(), "another name.csv")
    for file in (first, first, second):
        assert "0.625" in text_of(client, file)
    assert len(asked) == 1
    text_of(client, put_up(client, table(39)))
    assert len(asked) == 2


@pytest.mark.shared_data
@pytest.mark.skipif(not LOCKBOX.exists(), reason="SHARED_DATA holds no gradingbench")
def test_the_lockbox_shows_the_figures_that_anyone_can_recompute(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    file = put_up(client, LOCKBOX.read_bytes(), "lockbox_summary.json")
    assert AgreementFile.objects.get().asked["rows"] == "variants.*.predictions"
    text = text_of(client, file, each="1")
    found = {title: re.findall(r"[+−]?\d+\.\d{3}(?= )", line(text, title) + " ") for title in (
        "Pearson", "Spearman", "MAE", "RMSE", "QWK", "Within 1", "Within 2", "Gwet's AC2", "Scott's π, weighted", "Bias")}  # fmt: skip  # noqa: E501
    heads = re.findall(r'<th scope="col" class="num">([^<]+)</th>', text)
    baseline, final = heads.index("baseline"), heads.index("guideline_gate_almost_boundary_v1")
    values = {title: (cells[3 * baseline], cells[3 * final]) for title, cells in found.items()}
    assert values == {
        "Pearson": ("0.653", "0.770"), "Spearman": ("0.664", "0.765"), "MAE": ("1.475", "0.930"), "RMSE": ("2.937", "2.335"),
        "QWK": ("0.613", "0.748"), "Within 1": ("0.788", "0.870"), "Within 2": ("0.788", "0.870"),
        "Gwet's AC2": ("0.574", "0.721"), "Scott's π, weighted": ("0.601", "0.745"), "Bias": ("+1.172", "+0.770"),
    }  # fmt: skip
    unscored = text_of(client, file, "agreement_pairs", of="baseline", kind="unscored")
    assert "1 pair<" in unscored
    assert "64 of 100 = 0.640" in line(text, "exact, unscored counted as wrong")


def test_kept_points_are_proposed_as_the_persons_and_a_column_is_not_compared_with_itself(
    alice: User, client_for: ClientFor
) -> None:
    client = client_for(alice)
    file = put_up(client, table().replace(b"Points,prediction", b"points,grader_points"))
    proposed = agreement_files.columns_of(file).proposed
    assert (proposed["human"], proposed["predicted"]) == ("points", ["grader_points"])
    asked = {"times": 1, "scale": "0:7", "points": "fitting"} | proposed | {"predicted": ["points"]}
    refused = client.post(reverse("grading:agreement_columns", args=[file.public_id]), asked)
    assert refused.status_code == 422
    assert "a column agrees with itself in every row" in refused.content.decode()
