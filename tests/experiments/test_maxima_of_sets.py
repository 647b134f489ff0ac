"""Maximum points of an imported set: from each row, from the importing person, from the layout, or requested."""

import json
from collections.abc import Callable
from decimal import Decimal
from io import StringIO
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.files.tables import FileWrong
from apps.graded_sets.importing import Upload, set_import, set_read
from apps.graded_sets.models import GradedSet, HumanScore

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


def ours(number: int, points: object, **more: object) -> dict[str, Any]:
    return {
        "problem": "P",
        "statement": "Prove it.",
        "script": f"Proof {number}.",
        "points": points,
        "name": f"s{number}",
    } | more


def theirs(name: str, points: object) -> dict[str, Any]:
    return {"problem_idx": name, "question": f"{name}?", "model_prediction": {"proof": "So.", "human_rating": points}}


def lines(*rows: dict[str, Any]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def scales(*rows: dict[str, Any], out_of: Decimal | None = None) -> list[str]:
    upload = Upload("set", {PurePosixPath("set.jsonl"): lines(*rows)})
    made = set_import(upload=upload, draft=set_read(upload, out_of), title="A set", by=None)
    assert made.left_out == []
    return [f"{one.points:.0f} of {one.out_of:.0f}" for one in HumanScore.objects.order_by("script__position")]


def test_each_row_has_its_own_maximum_in_any_of_the_known_columns() -> None:
    rows = [ours(1, 8, max=10), ours(2, 15, **{"Max points": "21"}), ours(3, 3, out_of=4), ours(4, 6)]
    assert scales(*rows, out_of=Decimal(7)) == ["8 of 10", "15 of 21", "3 of 4", "6 of 7"]


def test_the_layout_gives_the_maximum_of_known_contests() -> None:
    rows = [theirs("IMO2025-1", "7"), theirs("PB-Advanced-001", "6"), theirs("Putnam2024-A1", "10")]
    assert scales(*rows) == ["7 of 7", "6 of 7", "10 of 10"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([theirs("CMO2024-1", "21"), theirs("CMO2024-2", "0")], r"maximum points are unknown.*2 rows.*0, 21.*--out-of"),
        ([ours(1, 3), ours(2, 0, max=7)], r"maximum points are unknown.*1 row.*: 3\."),
        ([theirs("IMO2025-1", "9")], r"1 row .*more points than the presumed maximum 7: 9\."),
    ],
)
def test_a_file_with_unknown_or_exceeded_maxima_is_refused_as_a_whole(rows: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(FileWrong, match=words):
        scales(*rows)
    assert not GradedSet.objects.exists()


def test_the_command_and_the_page_take_the_maximum(tmp_path: Path, alice: User, client_for: ClientFor) -> None:
    rows = [theirs("CMO2024-1", "21"), theirs("CMO2024-2", "0")]
    (tmp_path / "cmo.jsonl").write_bytes(lines(*rows))
    with pytest.raises(CommandError, match="--out-of"):
        call_command("import_graded", tmp_path / "cmo.jsonl")
    with pytest.raises(CommandError, match=r"1 row .*more points than the presumed maximum 10"):
        call_command("import_graded", tmp_path / "cmo.jsonl", "--out-of", "10")
    output = StringIO()
    call_command("import_graded", tmp_path / "cmo.jsonl", "--out-of", "21", stdout=output)
    assert "scripts: 2, scores by people: 2." in output.getvalue()
    assert "Points are out of 21 (2)." in output.getvalue()
    assert "skipped" not in output.getvalue()

    client, address = client_for(alice), reverse("graded_sets:import")
    other = lines(*rows, theirs("CMO2024-3", "9"))
    refused = client.post(address, {"file": SimpleUploadedFile("cmo.jsonl", other)})
    assert (refused.status_code, "0, 9, 21" in refused.content.decode()) == (422, True)
    answer = client.post(address, {"file": SimpleUploadedFile("cmo.jsonl", other), "out_of": "21"})
    assert answer.status_code == 302
    assert set(HumanScore.objects.values_list("out_of", flat=True)) == {21}
