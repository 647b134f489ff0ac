"""Imports: layouts of the shared data, invalid rows, hostile archives and hidden judgements."""

import csv
import io
import json
import os
import stat
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import AuthorKind, Contest, ContestState, Identity
from apps.contests.services import ContestRefused, Settings, contest_create, problem_add
from apps.files.archives import archive_read
from apps.files.tables import FileWrong
from apps.submissions.importing.plans import import_confirm, plan_make
from apps.submissions.models import ForeignJudgement, ImportFile, SubmissionVersion
from apps.submissions.services import import_file_keep
from tests.contests.factory import make_contest, moved
from tests.problems.factory import make_problem

ClientFor = Callable[[User | None], Client]
SHARED = Path(__file__).resolve().parents[2] / os.environ.get("SHARED_DATA", "../shared/data")
needs_shared_data = [
    pytest.mark.shared_data,
    pytest.mark.skipif(
        not (SHARED / "gradingbench").is_dir() and os.environ.get("CI") != "true", reason="SHARED_DATA has no gradingbench"
    ),
]


def csv_of(*rows: dict[str, str]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def zip_of(files: dict[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def imported(client: Client, contest: Contest, data: bytes, name: str = "all.csv", **options: str) -> str:
    """Upload a file and confirm it; return the preview."""
    where = {"contest_id": contest.public_id}
    client.post(reverse("submissions:import", kwargs=where), {"file": SimpleUploadedFile(name, data), **options})
    file = ImportFile.objects.get()
    page = client.get(reverse("submissions:import_preview", kwargs={**where, "file_id": file.public_id})).content.decode()
    client.post(reverse("submissions:import_confirm", kwargs={**where, "file_id": file.public_id}))
    return page


def test_valid_rows_become_papers_and_invalid_rows_are_listed(bob: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, make_problem("One"), make_problem("Two"))
    data = csv_of(
        {"author": "Ann", "problem": "1", "text": "By induction."},
        {"author": "Ann", "problem": "two", "text": "Clear."},
        {"author": "Ann", "problem": "1", "text": "Again."},
        {"author": "", "problem": "1", "text": "Anonymous."},
        {"author": "Ben", "problem": "9", "text": "Elsewhere."},
        {"author": "Ben", "problem": "2", "text": " "},
    )
    page = imported(client_for(bob), contest, data)
    for reason in ("Ann already has a text for problem 1.", "The author is missing.", "no problem 9", "The text is missing."):
        assert reason in page
    assert contest.papers.count() == 1
    assert list(SubmissionVersion.objects.values_list("raw", flat=True).order_by("pk")) == ["By induction.", "Clear."]
    assert all(version.steps.exists() for version in SubmissionVersion.objects.all())
    assert not ImportFile.objects.exists()


def test_importing_the_same_file_again_adds_nothing(bob: User, client_for: ClientFor) -> None:
    contest = make_contest(bob)
    data = csv_of({"author": "Ann", "problem": "1", "text": "By induction."})
    imported(client_for(bob), contest, data)
    assert "already has a text for problem 1" in imported(client_for(bob), contest, data)
    assert SubmissionVersion.objects.count() == 1


def test_confirming_a_file_twice_imports_it_once(bob: User) -> None:
    contest = make_contest(bob)
    data = csv_of({"author": "Ada", "problem": "1", "text": "It is so."})
    kept = import_file_keep(contest=contest, user=bob, filename="a.csv", data=data, adds_problems=False)
    import_confirm(file=ImportFile.objects.get(pk=kept.pk))
    with pytest.raises(ContestRefused, match="already"):
        import_confirm(file=kept)
    assert SubmissionVersion.objects.count() == 1


@pytest.mark.parametrize("state", [ContestState.MARKING, ContestState.CLOSED])
def test_imports_are_refused_once_coaches_read_papers(bob: User, client_for: ClientFor, state: ContestState) -> None:
    contest, client = make_contest(bob), client_for(bob)
    data = csv_of({"author": "Secret Person", "problem": "1", "text": "Let $x=1$."})
    kept = import_file_keep(contest=contest, user=bob, filename="a.csv", data=data, adds_problems=False)
    upload = reverse("submissions:import", args=[contest.public_id])
    assert upload in client.get(reverse("contests:detail", args=[contest.public_id])).content.decode()
    moved(contest, state)
    assert upload not in client.get(reverse("contests:detail", args=[contest.public_id])).content.decode()
    address = reverse("submissions:import_confirm", args=[contest.public_id, kept.public_id])
    assert "The contest is" in client.post(address, follow=True).content.decode()
    assert not SubmissionVersion.objects.exists()


def test_external_points_are_stored_but_never_shown(bob: User, client_for: ClientFor) -> None:
    contest = make_contest(bob)
    row = {"author": "m", "kind": "model", "problem": "1", "text": "Proof.", "points": "876.5", "out_of": "1000"}
    imported(client_for(bob), contest, (json.dumps({**row, "comment": "Weighty remark"})).encode(), "all.jsonl")
    judged = ForeignJudgement.objects.get()
    assert (judged.points, judged.out_of, judged.words) == (Decimal("876.5"), Decimal(1000), "Weighty remark")
    moved(contest, ContestState.MARKING)
    script = reverse("submissions:script", kwargs={"version_id": judged.version.public_id})
    page = client_for(bob).get(script).content.decode()
    assert "Weighty" not in page
    assert "876.5" not in page


@pytest.mark.parametrize(
    ("points", "out_of"), [("8", "7"), ("-1", "7"), ("many", "7"), ("nan", "7"), ("1", "0"), ("1e9", "1e9")]
)
def test_invalid_points_are_refused(bob: User, points: str, out_of: str) -> None:
    data = csv_of({"author": "a", "problem": "1", "text": "t", "points": points, "out_of": out_of})
    plan = plan_make(make_contest(bob), data)
    assert not plan.good
    assert len(plan.wrong) == 1


def test_folders_become_authors_and_comments_become_judgements(bob: User, client_for: ClientFor) -> None:
    contest = contest_create(settings=Settings(title="Folders"), by=bob)
    problem_add(contest=contest, problem=make_problem("One"), label="A1")
    problem_add(contest=contest, problem=make_problem("Two"), label="A2")
    data = zip_of(
        {
            "all/submissions/m1/p/a/A1.md": "# A1\n\n## Problem\n\nShow it.\n\n## Submission\n\nIt is shown.",
            "all/submissions/m1/p/a/putnam_2025_A2.tex": "\\emph{Done.}",
            "all/submissions/m1/p/grader-comments.md": "A1: 7/10\n- a gap\n\nA9: 12/10\n",
            "all/submissions/m2/p/a/A1.md": "Mine.",
            "all/submissions/m2/p/a/notes.pdf": b"%PDF",
            "__MACOSX/x.md": "clutter",
        }
    )
    page = imported(client_for(bob), contest, data, "all.zip")
    assert "Not a Markdown" in page
    raws = set(SubmissionVersion.objects.values_list("raw", "format"))
    assert raws == {("It is shown.", "markdown"), ("\\emph{Done.}", "latex"), ("Mine.", "markdown")}
    assert set(Identity.objects.values_list("name", "kind")) == {("m1", AuthorKind.MODEL), ("m2", AuthorKind.MODEL)}
    assert ForeignJudgement.objects.get().words == "- a gap"


def link_in_a_zip() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("a/1.md")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    return out.getvalue()


def damaged_zip(kind: int) -> bytes:
    """An archive with an intact directory and a damaged member."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive:
        archive.writestr("a/1.md", os.urandom(300).hex())
    data = bytearray(out.getvalue())
    data[60:160] = b"\xff" * 100
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (damaged_zip(zipfile.ZIP_DEFLATED), "damaged"),
        (damaged_zip(zipfile.ZIP_LZMA), "damaged"),
        (damaged_zip(zipfile.ZIP_BZIP2), "damaged"),
        (zip_of({"a/../../1.md": "x"}), "points outside of it"),
        (zip_of({"/etc/1.md": "x"}), "points outside of it"),
        (zip_of({"C:\\a\\1.md": "x"}), "points outside of it"),
        (link_in_a_zip(), "link"),
        (zip_of({"a/1.md": b"0" * 1_900_000}), "extreme compression"),
        (zip_of({"a/1.md": os.urandom(2_200_000)}), "too large"),
        (zip_of({f"a/{n}.md": "x" for n in range(1_001)}), "limit is 1,000"),
        (zip_of({"a/1.md": "text " * 50})[:-30], "damaged"),
        (zip_of({"a/inner.zip": zip_of({"1.md": "x"})}), "no Markdown"),
    ],
    ids=["deflate", "lzma", "bzip2", "traversal", "absolute", "drive", "link", "bomb", "large", "many", "truncated", "nested"],
)
def test_hostile_archives_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(FileWrong, match=reason):
        archive_read(data)


def test_a_file_without_a_table_is_refused_on_the_page(bob: User, client_for: ClientFor) -> None:
    contest = make_contest(bob)
    url = reverse("submissions:import", kwargs={"contest_id": contest.public_id})
    answer = client_for(bob).post(url, {"file": SimpleUploadedFile("x.csv", b"%PDF-1.7 nothing")})
    assert answer.status_code == 422
    assert "not a text file" in answer.content.decode()
    assert not ImportFile.objects.exists()


def test_nothing_is_imported_into_a_closed_contest(bob: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, state=ContestState.CLOSED)
    imported(client_for(bob), contest, csv_of({"author": "Ann", "problem": "1", "text": "Late."}))
    assert not SubmissionVersion.objects.exists()


def test_only_organisers_import(bob: User, dana: User, client_for: ClientFor) -> None:
    from apps.contests.services import coach_add

    contest = make_contest(bob)
    coach_add(contest=contest, person=dana)
    url = reverse("submissions:import", kwargs={"contest_id": contest.public_id})
    assert client_for(dana).post(url, {"file": SimpleUploadedFile("x.csv", b"a,b\n1,2")}).status_code == 404


def test_problems_of_the_library_are_added_on_request(bob: User, client_for: ClientFor) -> None:
    contest = contest_create(settings=Settings(title="Bench"), by=bob)
    make_problem("Bench problem", external_id="PB-1", origin="imo-proofbench")
    row = {"Grading ID": "GB-1", "Problem ID": "PB-1", "Problem": "…", "Response": "Proof.", "Points": "6"}
    assert not plan_make(contest, csv_of(row)).good
    imported(client_for(bob), contest, csv_of(row, {**row, "Grading ID": "GB-2", "Points": "0"}), adds_problems="on")
    assert contest.problems.get().problem.external_id == "PB-1"
    assert contest.papers.count() == 2


class TestSharedData:
    pytestmark = needs_shared_data

    def contest_of(self, bob: User, *ids: str) -> Contest:
        contest = contest_create(settings=Settings(title="Bench"), by=bob)
        for name in ids:
            problem_add(contest=contest, problem=make_problem(name, external_id=name, origin="bench"), label=name[-20:])
        return contest

    def test_gradingbench_is_imported_completely(self, bob: User) -> None:
        data = (SHARED / "gradingbench/gradingbench_filtered_100_test.csv").read_bytes()
        rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))
        plan = plan_make(self.contest_of(bob, *sorted({row["Problem ID"] for row in rows})), data)
        assert (plan.shape, len(plan.good), plan.wrong) == ("GradingBench", 100, [])
        given = [row.draft.judgement.points for row in plan.good if row.draft.judgement]
        assert sorted(set(given)) == [0, 1, 6, 7]

    def test_deepseek_is_imported_completely(self, bob: User) -> None:
        data = (SHARED / "deepseek-math-v2/IMO2025.jsonl").read_bytes()
        plan = plan_make(self.contest_of(bob, *(str(n) for n in range(1, 7))), data)
        assert (plan.shape, len(plan.good), plan.authors) == ("DeepSeekMath-V2", 6, 1)
        assert [row.draft.judgement.points for row in plan.good if row.draft.judgement] == [7, 7, 7, 7, 7, 0]

    def test_nomos_is_imported_with_a_missing_problem(self, bob: User) -> None:
        folder = SHARED / "nomos"
        files = sorted((folder / "submissions").glob("*/putnam_2025/**/*.md"))
        data = zip_of({str(path.relative_to(folder)): path.read_bytes() for path in files})
        plan = plan_make(self.contest_of(bob, *(f"{part}{n}" for part in "AB" for n in range(1, 7))), data)
        assert plan.wrong == []
        assert plan.authors == 2
        assert all(row.draft.judgement and row.draft.judgement.out_of == 10 for row in plan.good)
        assert not any(row.draft.text.startswith("# ") for row in plan.good)


def test_an_imported_author_keeps_school_and_external_id(bob: User) -> None:
    contest = contest_create(settings=Settings(title="Import"), by=bob)
    problem_add(contest=contest, problem=make_problem())
    data = b"author,problem,text,school,external_id\nAda,1,Text.,Lyceum,DE-17\nBo,1,Text.,," + b"x" * 101 + b"\n"
    file = ImportFile.objects.create(owner=bob, contest=contest, filename="texts.csv", data=data)
    plan = import_confirm(file=file)
    assert [(row.where, row.reason) for row in plan.wrong] == [("row 2", "The external_id is longer than 100 characters.")]
    identity = Identity.objects.get()
    assert (identity.name, identity.school, identity.external_id) == ("Ada", "Lyceum", "DE-17")
