"""A corrected meaning is remembered for the person and the header, and a change is shown before anything is imported."""

from collections.abc import Callable

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.services import coach_add
from apps.tables.columns import Role
from apps.tables.models import TableFile, TableImport, TablePoints
from tests.contests.factory import make_contest
from tests.tables.factory import page_of, post, upload, xlsx

ClientFor = Callable[[User | None], Client]
TABLE = b"Kid,Town,P1 (7)\nAnna,North,5\n"


def test_a_correction_is_filled_in_for_the_next_table_with_this_header(bob: User, dana: User, client_for: ClientFor) -> None:
    contest, client = make_contest(bob), client_for(bob)
    coach_add(contest=contest, person=dana, is_organiser=True)
    file = upload(client, contest, TABLE)
    assert "No column has names of people" in page_of(client, file)
    page = post(client, file, "preview", role_0="name", role_1="school")
    assert "Students to add 1" in page
    file = upload(client, contest, b"KID,town,p1 (7)\nBen,South,6\n")
    assert [role for role, *_ in file.columns] == [Role.NAME, Role.SCHOOL, Role.POINTS_OF]
    assert "as you chose it for the last table with this header" in page_of(client, file)
    other = upload(client_for(dana), contest, TABLE)
    assert [role for role, *_ in other.columns] == [Role.IGNORE, Role.IGNORE, Role.POINTS_OF]


def test_a_download_of_left_out_rows_keeps_the_meanings_and_can_be_imported(bob: User, client_for: ClientFor) -> None:
    contest, client = make_contest(bob), client_for(bob)
    file = upload(client, contest, b"Kid,Town,P1 (7)\nAnna,North,9\nBen,=South,5\n")
    post(client, file, "preview", role_0="name", role_1="school")
    post(client, file)
    rows = client.get(reverse("tables:imported_left_out", args=[TableImport.objects.get().public_id])).content
    assert rows.decode("utf-8-sig").splitlines()[0] == "Line,Reason,Kid,Town,P1 (7)"
    file = upload(client, contest, rows.replace(b",9", b",6"))
    assert [role for role, *_ in file.columns] == [Role.IGNORE, Role.IGNORE, Role.NAME, Role.SCHOOL, Role.POINTS_OF]
    post(client, file)
    assert sorted(int(row.points) for row in TablePoints.objects.all()) == [5, 6]


def test_a_changed_meaning_is_shown_before_the_import(bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    file = upload(client, make_contest(bob), b"Name,Town\nAnna,North\n")
    assert "You changed something, so nothing was imported yet." in post(client, file, role_1="school")
    assert not TableImport.objects.exists()
    post(client, file, role_1="school")
    assert TableImport.objects.exists()


def test_another_sheet_is_read_when_it_is_chosen(bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    data = xlsx(sheets={"A": [["Name", "School"], ["Anna", "North"]], "B": [["Name", "P1"], ["Ben", 3], ["Cleo", 4]]})
    file = upload(client, make_contest(bob), data, "camp.xlsx")
    assert "Students to add 1" in page_of(client, file)
    assert "Students to add 2" in post(client, file, "preview", sheet="B")


def test_a_hundred_columns_have_their_selects(bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    header = ",".join(f"Note {number}" for number in range(99))
    file = upload(client, make_contest(bob), f"Name,{header}\nAnna,{'x,' * 98}x\n".encode())
    page = client.get(reverse("tables:review", args=[file.public_id])).content.decode()
    assert page.count('<select name="role_') == 100


def test_a_file_that_cannot_be_read_is_refused_on_the_page(bob: User, client_for: ClientFor) -> None:
    contest, client = make_contest(bob), client_for(bob)
    address = reverse("tables:upload", args=[contest.public_id])
    answer = client.post(address, {"file": SimpleUploadedFile("a.csv", b"Name,School\n")})
    assert (answer.status_code, TableFile.objects.count()) == (422, 0)
    assert "a header but no rows" in answer.content.decode()


def test_an_upload_belongs_to_its_owner_and_a_new_one_replaces_it(bob: User, dana: User, client_for: ClientFor) -> None:
    contest = make_contest(bob)
    coach_add(contest=contest, person=dana, is_organiser=True)
    file = upload(client_for(bob), contest, TABLE)
    assert client_for(dana).get(reverse("tables:review", args=[file.public_id])).status_code == 404
    upload(client_for(bob), contest, TABLE)
    assert TableFile.objects.count() == 1


def test_a_coach_who_no_longer_organises_loses_the_upload(bob: User, dana: User, client_for: ClientFor) -> None:
    contest = make_contest(bob)
    coach = coach_add(contest=contest, person=dana, is_organiser=True)
    file = upload(client_for(dana), contest, TABLE)
    coach.is_organiser = False
    coach.save()
    for address in (reverse("tables:review", args=[file.public_id]), reverse("tables:upload", args=[contest.public_id])):
        assert client_for(dana).get(address).status_code == 404
        assert client_for(dana).post(address).status_code == 404


def test_guesses_are_shown_as_choices_after_the_preview_was_updated(bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    file = upload(client, make_contest(bob), TABLE)
    assert "Guessed from the header and the cells." in page_of(client, file)
    page = post(client, file, "preview")
    assert "As you chose it. This is remembered" in page
    assert "Guessed" not in page


def test_another_encoding_is_read_when_it_is_chosen(bob: User, client_for: ClientFor) -> None:
    client, contest = client_for(bob), make_contest(bob)
    file = upload(client, contest, "Name,School\nErdős Pál,Kőszeg\n".encode("cp1250"))
    assert "Erdõs Pál" in page_of(client, file)
    page = post(client, file, "import", encoding="cp1250", marker="Dr. B", role_1="")
    assert "Erdős Pál" in page
    assert "You changed something, so nothing was imported yet." in page
    file.refresh_from_db()
    assert (file.choices["marker"], file.columns[1][0]) == ("Dr. B", "")
    post(client, file, "preview", role_1="school")
    assert "The file cannot be read as UTF-8. Choose another encoding." in post(client, file, "preview", encoding="utf-8-sig")
    post(client, file, encoding="cp1250")
    assert contest.identities.get().school == "Kőszeg"


def test_an_unclear_number_is_listed_and_not_guessed(bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    file = upload(client, make_contest(bob), b'Name,P1\nAnna,"1,000"\nBen,5\n')
    unclear = "“1,000” is unclear: its comma may separate thousands or decimals. Write the number without it."
    assert f"2 Problem 1: {unclear}" in post(client, file, "preview", out_of="7")
    assert f"3 Problem 1: {unclear}" in post(client, file, "preview", out_of="1,000")
    assert "Points to add 1" in post(client, file, "preview", out_of="7,5")
    file = upload(client, make_contest(bob), b'Name,"P1 (1,000)"\nAnna,5\n')
    assert f"2 Problem 1: {unclear}" in post(client, file, "preview", most_1="1,000")
