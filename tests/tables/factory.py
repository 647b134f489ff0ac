"""Tables as files, and their import through the pages."""

import io
import re
from typing import Any

import xlsxwriter
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from apps.contests.models import Contest
from apps.tables.models import TableFile, TableImport

GUIDELINES = "- A1 (3) Finds the invariant\n- A2 (4) Concludes"


def xlsx(*rows: list[Any], sheets: dict[str, list[list[Any]]] | None = None) -> bytes:
    """A workbook with one sheet of these rows, or with the given sheets. A cell `("=A1", result)` is a formula."""
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        for name, lines in (sheets or {"Sheet1": list(rows)}).items():
            sheet = book.add_worksheet(name)
            for line, cells in enumerate(lines):
                for column, cell in enumerate(cells):
                    if isinstance(cell, tuple):
                        sheet.write_formula(line, column, cell[0], value=cell[1])
                    elif cell != "":
                        sheet.write(line, column, cell)
    return out.getvalue()


def upload(client: Client, contest: Contest | None, data: bytes, name: str = "camp.csv", **sent: str) -> TableFile:
    """Upload a table; return the kept file."""
    address = reverse("tables:upload", args=[contest.public_id]) if contest else reverse("tables:upload_new")
    answer = client.post(address, {"file": SimpleUploadedFile(name, data), **sent})
    assert answer.status_code == 302, words(answer.content.decode())
    return TableFile.objects.latest("pk")


def page_of(client: Client, file: TableFile) -> str:
    """The page of an upload as plain words."""
    return words(client.get(reverse("tables:review", args=[file.public_id])).content.decode())


def post(client: Client, file: TableFile, do: str = "import", **sent: str) -> str:
    """Send the form of an upload, with `looked` also the accounts that it shows; return the final page as plain words."""
    address = reverse("tables:review", args=[file.public_id])
    shown = accounts_shown(client.get(address).content.decode()) if "looked" in sent else {}
    answer = client.post(address, {"do": do, **shown, **sent}, follow=True)
    assert answer.status_code == 200
    return words(answer.content.decode())


def accounts_shown(page: str) -> dict[str, str]:
    """The accounts that a page shows for people to look at, by the name of the field."""
    fields = re.findall(r'<select name="(who_\w+)".*?</select>', page, re.DOTALL)
    values = re.findall(r'<select name="who_.*?value="([^"]*)" selected.*?</select>', page, re.DOTALL)
    return dict(zip(fields, values, strict=True))


def import_all(client: Client, contest: Contest | None, data: bytes, name: str = "camp.csv", **sent: str) -> TableImport:
    """Upload a table, make these choices, and import it after the look."""
    file = upload(client, contest, data, name, **({} if contest else {"title": sent.pop("title")}))
    if sent:
        post(client, file, "preview", **sent)
    post(client, file, looked="on")
    return TableImport.objects.latest("pk")


def words(page: str) -> str:
    """The words of a page."""
    return " ".join(re.sub(r"<[^>]+>", " ", page.partition("<body")[2]).split())
