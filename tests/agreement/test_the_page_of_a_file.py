"""A file of points on the agreement page: upload, columns, comparison, visible to its owner only."""

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
from apps.agreement import pages as agreement_pages
from apps.agreement.comparisons import Gathered, Part, parts_of
from apps.agreement.models import AgreementFile
from apps.agreement.sources import files as agreement_files

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


def upload(client: Client, data: bytes, name: str = "marks.csv", **asked: Any) -> AgreementFile:
    """Upload a file and map its columns as proposed, with changes in `asked`."""
    answer = client.post(reverse("agreement:list"), {"file": SimpleUploadedFile(name, data)})
    assert answer.status_code == 302, answer.content.decode()
    file = AgreementFile.objects.latest("pk")
    assert answer.headers["Location"] == reverse("agreement:columns", args=[file.public_id])
    form = {"times": 1, "scale": "0:7", "points": "fitting"} | agreement_files.columns_of(file).proposed | asked
    answer = client.post(answer.headers["Location"], form)
    assert answer.status_code == 302, re.findall(r"error[^<]*<p>(.*?)</p>", answer.content.decode())
    return file


def address(file: AgreementFile, name: str = "detail", **query: str) -> str:
    from urllib.parse import urlencode

    return f"{reverse(f'agreement:{name}', args=['file', file.public_id])}?{urlencode(query)}"


def text_of(client: Client, file: AgreementFile, name: str = "detail", **query: str) -> str:
    return html.unescape(client.get(address(file, name, **query)).content.decode())


def line(text: str, title: str) -> str:
    """A row of a table, without its tags."""
    found = re.search(rf'<tr><th scope="row">{re.escape(title)}(?:<|$).*?</tr>', text, re.DOTALL)
    assert found, title
    return " ".join(re.sub(r"<[^>]+>", " ", found[0]).split())


def test_an_uploaded_file_is_compared_with_the_proposed_columns(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    file = upload(client, table())
    text = text_of(client, file)
    assert line(text, "with points on both sides").endswith("40")
    assert line(text, "Exact").startswith("Exact 0.625")
    assert line(text, "Bias").split("generous ")[1].startswith("+0.500")
    assert "there are only 4 problems to draw from" in text
    assert "Its markers" not in text


def test_other_users_do_not_see_a_file(alice: User, bob: User, charlie: User, client_for: ClientFor) -> None:
    file = upload(client_for(alice), table())
    for other in (bob, charlie):
        client = client_for(other)
        for name in ("detail", "data", "json", "pairs"):
            assert client.get(address(file, name)).status_code == 404
        assert client.get(reverse("agreement:columns", args=[file.public_id])).status_code == 404
        assert client.post(reverse("agreement:file_delete", args=[file.public_id])).status_code == 404
        assert client.post(address(file, "bucket")).status_code == 404
        assert file.filename not in client.get(reverse("agreement:list")).content.decode()
    assert client_for(charlie).get(reverse("agreement:list")).status_code == 404


def test_an_owner_deletes_a_file(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    file = upload(client, table())
    assert client.post(reverse("agreement:file_delete", args=[file.public_id])).status_code == 302
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
def test_an_unreadable_file_is_not_stored(data: bytes, words: str, alice: User, client_for: ClientFor) -> None:
    answer = client_for(alice).post(reverse("agreement:list"), {"file": SimpleUploadedFile("x.csv", data)})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not AgreementFile.objects.exists()


def test_unsuitable_columns_are_refused_with_the_reason_and_not_stored(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    file = upload(client, table(level=["a", "b"]))
    form = {"times": 1, "scale": "0:5", "points": "fitting", "rows": "", "human": "Points", "predicted": ["prediction"]}
    answer = client.post(reverse("agreement:columns", args=[file.public_id]), form)
    assert answer.status_code == 422
    assert "6 is not from 0 to 5" in answer.content.decode()
    form["human"] = "level"
    answer = client.post(reverse("agreement:columns", args=[file.public_id]), form | {"scale": "0:7"})
    assert "is not points" in answer.content.decode()
    assert AgreementFile.objects.get().asked["human"] == "Points"


def test_null_predictions_are_unscored_and_listed_with_their_reason(alice: User, client_for: ClientFor) -> None:
    rows = [
        {"Points": str(mark), "grader": None if not number else points}
        for number, (mark, points) in enumerate(zip(MARKS, GIVEN, strict=True))
    ]
    client = client_for(alice)
    file = upload(client, json.dumps(rows).encode(), "a.json")
    text = text_of(client, file)
    assert line(text, "unscored").endswith(" 1")
    listed = text_of(client, file, "pairs", kind="unscored")
    assert "1 pair<" in listed
    assert "there is no prediction" in listed


def test_every_number_links_to_exactly_its_pairs(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    file = upload(client, table(by=["student", "model"]), author="by")
    for number, where in re.findall(r'<a href="([^"]+)"[^>]*>([\d,]+)(?:<span>|</a>)', text_of(client, file, split="problem")):
        listed = client.get(number.replace("&amp;", "&")).content.decode()
        assert f"<h1>{where.replace(',', '')} pair" in listed, number


def test_fewer_than_thirty_pairs_have_counts_only(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    text = text_of(client, upload(client, table(29)))
    assert "Counts only: statistics need 30 pairs or more" in text
    assert "QWK</th>" not in text
    assert line(text, "the same points")


def test_a_split_shows_counts_for_few_papers_and_statistics_for_many(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    file = upload(client, table(), groups=["problem"])
    text = text_of(client, file, split="problem")
    assert "fewer than 30" in line(text, "P0")
    whole = text_of(client, upload(client, table(topic=["A"] * 35 + ["N"] * 5), groups=["topic"]), split="topic")
    assert re.search(r"A 35 0 0\.\d{3}", line(whole, "A"))


def test_a_column_with_as_many_values_as_papers_is_not_offered_for_splitting(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    file = upload(client, table(520), groups=["paper", "problem"])
    text = text_of(client, file, split="paper")
    assert "by problem" in text
    assert "by paper" not in text
    assert "s17" not in text


def test_a_constant_grader_is_undefined_with_the_reason(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    text = text_of(client, upload(client, table(flat=[7]), predicted=["flat"]))
    assert "undefined" in line(text, "Pearson")
    assert "one side gives the same points to all" in text
    assert "nan" not in re.sub(r"<[^>]+>", "", text).casefold().split()


def test_half_points_are_separate_named_categories(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    text = text_of(client, upload(client, table(half=["3.5", *map(str, MARKS[1:])]), human="half"))
    assert "half points from 0 to 7, 15 categories" in text
    assert "person 3.5" in text


def test_repeated_runs_show_consistency_and_not_accuracy(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    text = text_of(client, upload(client, table(again=[7]), predicted=["prediction", "again"], runs="on"))
    assert "This is consistency, not accuracy" in text


def test_the_same_content_is_computed_once(alice: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    asked: list[Gathered] = []

    def computed(gathered: Gathered, *, draws: int, seed: int) -> tuple[Part, ...]:
        asked.append(gathered)
        return parts_of(gathered, draws=draws, seed=seed)

    monkeypatch.setattr(agreement_pages, "parts_of", computed)
    client = client_for(alice)
    first, second = upload(client, table()), upload(client, table(), "another name.csv")
    for file in (first, first, second):
        assert "0.625" in text_of(client, file)
    assert len(asked) == 1
    text_of(client, upload(client, table(39)))
    assert len(asked) == 2


@pytest.mark.shared_data
@pytest.mark.skipif(not LOCKBOX.exists(), reason="SHARED_DATA holds no gradingbench")
def test_the_page_of_the_lockbox_shows_the_golden_values(alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    file = upload(client, LOCKBOX.read_bytes(), "lockbox_summary.json")
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
    unscored = text_of(client, file, "pairs", of="baseline", kind="unscored")
    assert "1 pair<" in unscored
    assert "64 of 100 = 0.640" in line(text, "exact, unscored counted as wrong")


def test_kept_points_are_proposed_as_the_persons_points_and_a_column_is_not_compared_with_itself(
    alice: User, client_for: ClientFor
) -> None:
    client = client_for(alice)
    file = upload(client, table().replace(b"Points,prediction", b"points,grader_points"))
    proposed = agreement_files.columns_of(file).proposed
    assert (proposed["human"], proposed["predicted"]) == ("points", ["grader_points"])
    asked = {"times": 1, "scale": "0:7", "points": "fitting"} | proposed | {"predicted": ["points"]}
    refused = client.post(reverse("agreement:columns", args=[file.public_id]), asked)
    assert refused.status_code == 422
    assert "a column always agrees with itself" in refused.content.decode()
