"""The organiser's workbook: results with awards, statistics, and no cell that a spreadsheet computes."""

import csv
import io
import zipfile
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.office.office import result_list
from apps.marks.office.result_files import result_table, statistics_lines
from apps.marks.office.statistics import figures
from apps.marks.office.totals import total_figures
from tests.marks.office.listed import listed
from tests.marks.office.test_certificates_and_letters import made_ready

ClientFor = Callable[[User | None], Client]
SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


@pytest.fixture
def problem(bob: User, dana: User) -> ContestProblem:
    return listed(bob)


def file(client: Client, problem: ContestProblem, form: str) -> Any:
    return client.get(reverse("office:download", args=[problem.contest.public_id, form]) + "?names=yes")


def test_the_workbook_has_results_statistics_and_no_formula(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    made_ready(problem, bob)
    with zipfile.ZipFile(io.BytesIO(file(client_for(bob), problem, "xlsx").content)) as book:
        names = [one.get("name") for one in ElementTree.fromstring(book.read("xl/workbook.xml")).iter(f"{SHEET}sheet")]
        texts = "".join(ElementTree.fromstring(book.read("xl/sharedStrings.xml")).itertext())
        sheets = [ElementTree.fromstring(book.read(f"xl/worksheets/sheet{number}.xml")) for number in (1, 2, 3)]
    assert names == ["Results", "Statistics", "About"]
    assert not [cell for sheet in sheets for cell in sheet.iter(f"{SHEET}f")]
    for words in ("Ada Ampere", "Gold medal", "Gymnasium Hohenstein", "=SUM(1)", "papers with a total", "gold from"):
        assert words in texts, words


def test_all_formats_have_the_award_of_each_paper(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    made_ready(problem, bob)
    rows = list(csv.DictReader(io.StringIO(file(client_for(bob), problem, "csv").content.decode())))
    assert [(row["rank"], row["total"], row["award"]) for row in rows] == [
        ("1", "7", "Gold medal"), ("2", "2", "Silver medal"), ("2", "2", "Silver medal"), ("4", "0", ""),
    ]  # fmt: skip


def test_without_fixed_cut_offs_no_file_has_an_award_column(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    made_ready(problem, bob, fixes=False)
    assert "award" not in file(client_for(bob), problem, "csv").content.decode()


def test_a_text_that_is_not_marked_is_named_and_is_no_zero(bob: User, dana: User) -> None:
    problem = listed(bob, unmarked=1)
    table = result_table(problem.contest, result_list(problem.contest), None)
    last = dict(zip(table.columns, table.lines[-1], strict=True))
    assert (last["rank"], last["problem 1"], last["total"], last["remark"]) == (None, None, None, "not marked: 1")


def test_the_statistics_sheet_agrees_with_the_page(problem: ContestProblem) -> None:
    lines = statistics_lines(figures([problem]), total_figures(result_list(problem.contest)))
    head, first = lines[0], lines[1]
    assert dict(zip(map(str, head), first, strict=True))["scripts with 2"] == 2
    assert ["papers with a total", 4] in lines
    assert ["2", 2] in lines
